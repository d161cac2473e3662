#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks how the sources are written: clang-format and clang-tidy.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/check.sh [--fix] [--layout]

Checks the layout of all C and C++ files with clang-format, then looks for mistakes in the product with
clang-tidy (the rules are in .clang-format and .clang-tidy). Installs both where they are missing.
  --fix      lays the files out anew instead of complaining
  --layout   stops after the layout (seconds; the rest takes minutes)
TEXT
}

fix=""
layout_only=""
for argument in "$@"; do
  case $argument in
    --fix) fix=yes ;;
    --layout) layout_only=yes ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; fail "Unknown argument: $argument" ;;
  esac
done

scripts/setup.sh --checks
mapfile -t files < <(find src include tests bench examples -name '*.[ch]pp' -o -name '*.[ch]' | sort)

if [[ -n $fix ]]; then
  clang-format -i "${files[@]}"
else
  step "Checking the layout of ${#files[@]} files" "scripts/check.sh --fix corrects it."
  run_logged format.log clang-format --dry-run -Werror "${files[@]}"
fi

[[ -n $layout_only ]] && exit 0

# A configuration of its own: clang cannot read the headers that g++ has precompiled.
step "Preparing" "See the message above."
run_logged tidy-configure.log cmake --preset dev -B build/tidy -DFERRY_PCH=OFF
run_logged tidy-headers.log cmake --build build/tidy --target ferry_commit lib/sim/capabilities.txt \
  src/sim/runtime/generated/sim/runtime/stub_rows.inc
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '^src/.*\.cpp$')
tidy_all() {
  local line found=() done=0 status=0
  while IFS= read -r line; do
    if [[ $line == clean:* ]]; then
      done=$((done + 1))
      printf '[%d/%d] %s\n' "$done" "${#sources[@]}" "${line#clean:}"
    else
      found+=("$line")
    fi
  done < <(printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" sh -c \
    'found=$(clang-tidy -p build/tidy --quiet "$0" 2>&1) && echo "clean:$0" || printf "%s\n" "$found"')
  [[ $done -eq ${#sources[@]} ]] || status=1
  printf '%s\n' "${found[@]}" | grep -v ' warnings generated' || true
  return $status
}
step "Looking for mistakes in ${#sources[@]} files" "Correct what clang-tidy reports above."
run_logged tidy.log tidy_all
