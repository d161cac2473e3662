#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command, and what it starts, without address randomisation where the system allows that.
# For the thread sanitizer; containers that forbid the call run the command as it is.
if setarch "$(uname -m)" -R true 2>/dev/null; then
  exec setarch "$(uname -m)" -R "$@"
fi
exec "$@"
