#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the system packages that Ferry is built from. Does nothing where they are all there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/setup.sh [--checks]

Installs the Debian packages that Ferry needs to be built and tested, as root or through sudo.
  --checks   also those of scripts/check.sh (clang-format, clang-tidy)
The other scripts call this one; where nothing is missing it takes a moment and changes nothing.
TEXT
}

packages=(
  g++ cmake ninja-build pkg-config                # the compiler and the build
  git ca-certificates                             # the commit in `ferry --version`; https
  python3 python3-venv                            # tests of the repository; fetching CUDA headers
  libfmt-dev nlohmann-json3-dev libcli11-dev robin-map-dev zlib1g-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev      # tests and benchmarks
)

while [[ $# -gt 0 ]]; do
  case $1 in
    --checks) packages+=(clang-format clang-tidy) ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; fail "Unknown argument: $1" ;;
  esac
  shift
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "This system has no apt-get, so nothing is installed. Ferry needs the equivalents of these Debian packages:" \
    "  ${packages[*]}"
  exit 0
fi

# One question for all packages; those that dpkg does not know are missing as well.
declare -A installed=()
while read -r state name; do
  [[ $state == installed ]] && installed[$name]=1
done < <(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for name in "${packages[@]}"; do
  [[ -v installed[$name] ]] || missing+=("$name")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    as_root=(sudo)
  else
    fail "These packages are missing and installing them needs root: ${missing[*]}. Run 'apt-get install ${missing[*]}' as root, then this script again."
  fi
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)

say "Installing system packages: ${missing[*]}"
step "Reading the package lists" "The package servers must be reachable from this machine."
run_logged apt-update.log "${apt[@]}" update
step "Installing system packages" "Missing packages: ${missing[*]}."
run_logged apt-install.log "${apt[@]}" -o APT::Status-Fd=1 install --yes --no-install-recommends "${missing[@]}"
