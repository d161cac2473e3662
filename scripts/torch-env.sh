#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Python environment with PyTorch for machines without a GPU. Does nothing where it is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

torch=torch==2.15.0  # figures compare only between equal versions; another one needs this line and a rerun
dependencies=(
  filelock==4.3.2 fsspec==2026.9.0 jinja2==3.1.6 markupsafe==3.0.4 mpmath==1.3.0 networkx==3.6.1 numpy==2.4.6
  sympy==1.14.0 typing_extensions==4.16.0
)
environment=$root/build/torch-env
needed_megabytes=3000  # while it is installed; half of it stays

usage() {
  cat <<'TEXT'
usage: scripts/torch-env.sh [PYTHON]

Makes build/torch-env, a virtual environment with PyTorch and Ferry's package, without NVIDIA's libraries (half a
minute, 1.4 GB), and build/torch-env/sim-family, stand-ins of the libraries that it imports. PYTHON is the interpreter (python3).
A second run takes some seconds where nothing has changed.
TEXT
}

python=python3
for argument in "$@"; do
  case $argument in
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; fail "Unknown argument: $argument" ;;
    *) python=$argument ;;
  esac
done

command -v "$python" >/dev/null || fail "There is no Python named $python; scripts/setup.sh installs python3."
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  fail "$python cannot make virtual environments; install its package for them (python3-venv: scripts/setup.sh does)."

# An environment knows where it lies, so one that was moved is made again.
wanted="$environment $("$python" --version) $torch ${dependencies[*]}"
if [[ ! -f $environment/made-by-script || $(<"$environment/made-by-script") != "$wanted" ]]; then
  rm -rf "$environment"
  mkdir -p "$root/build"
  free=$(df --output=avail --block-size=1M "$root/build" | tail -n 1)
  ((free >= needed_megabytes)) ||
    fail "PyTorch needs $needed_megabytes MB while it is installed, and $root/build has $((free)) MB left."
  step "Making a virtual environment" "See the message above."
  run_logged torch-venv.log "$python" -m venv "$environment"
  step "Installing PyTorch ($torch)" "The package index must be reachable from this machine, and have this version for $("$python" --version); scripts/test.sh --without-torch does without."
  run_logged torch-install.log "$environment/bin/python" -m pip install --no-deps --only-binary :all: --no-input \
    --disable-pip-version-check --progress-bar off "$torch" "${dependencies[@]}"
  printf '%s\n' "$wanted" >"$environment/made-by-script"
fi

# Says for itself whether there is anything to do.
packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
step "Making the stand-ins of the libraries that PyTorch imports" "A C compiler is needed; scripts/setup.sh installs one."
run_logged torch-family.log "$environment/bin/python" src/sim/family/generate.py --torch "$packages/torch" \
  --output "$environment/sim-family"
step "Installing Ferry's package" "See the message above."
run_logged torch-ferry.log "$environment/bin/python" -m pip install --no-deps --no-index --no-input --disable-pip-version-check \
  --force-reinstall --progress-bar off ./python
