#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs every test.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--without-torch] [PRESET...]

Installs the system packages that are missing, and PyTorch in an environment of its own (scripts/torch-env.sh),
configures, builds and runs every test.
PRESET is one of dev (default), release, asan-ubsan, tsan, cuda; each is built in build/PRESET.
  --without-torch   installs no PyTorch; where it is not there already, the tests that need it are skipped
A second run takes seconds where nothing has changed. Logs go to build/logs.
TEXT
}

presets=()
with_torch=1
for argument in "$@"; do
  case $argument in
    dev | release | asan-ubsan | tsan | cuda) presets+=("$argument") ;;
    --without-torch) with_torch=0 ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; fail "Unknown argument: $argument" ;;
  esac
done
[[ ${#presets[@]} -eq 0 ]] && presets=(dev)

scripts/setup.sh
((with_torch == 0)) || scripts/torch-env.sh
skipped=()
for preset in "${presets[@]}"; do
  configure "$preset"
  build "$preset"
  step "Testing ($preset)" "The tests that failed are listed above; run one alone with: ctest --preset $preset -R NAME."
  current_log=$logs/test-$preset.log
  say "$current_step ..."
  ctest --preset "$preset" </dev/null 2>&1 | tee "$current_log"
  while read -r name; do
    skipped+=("$name ($preset)")
  done < <(sed -n 's/^.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*$/\1/p' "$current_log")
done
say "" "All tests passed (${presets[*]}) in $SECONDS s. Logs: build/logs"
if [[ ${#skipped[@]} -gt 0 ]]; then
  say "Skipped, as what they need is not here: ${skipped[*]}. CONTRIBUTING.md says what that is."
fi
