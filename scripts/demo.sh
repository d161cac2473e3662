#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Replays a recorded training run through Ferry and draws what happened.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/demo.sh

Installs the system packages that are missing, builds Ferry (build/release), replays the training
runs of examples/traces, which were recorded on a CPU, through its device pool, prints a table and
writes a page with a picture to build/demo.html. Needs no GPU: the driver stand-in serves as the device.
TEXT
}

for argument in "$@"; do
  case $argument in
    --help | -h) usage; exit 0 ;;
    *) usage >&2; fail "Unknown argument: $argument" ;;
  esac
done

scripts/setup.sh
configure release
build release product
step "Replaying the recorded runs" "The message above says why."
say "$current_step ..."
build/release/bin/ferry replay examples/traces/*.json.gz --device sim --repeat 3 --html build/demo.html
say "" "The picture: $root/build/demo.html (open it in a browser). Done in $SECONDS s."
