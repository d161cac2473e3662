#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Ferry as on a machine without the CUDA Toolkit: the installed one is hidden, its compile parts
# come as Python wheels, nvcc among them must build the device code, the floors that include CUDA headers
# must compile with them, and the device code must hold what the stand-in has host functions for. Needs a Python package index; part of CI, not of ctest.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
folder=build/hidden-toolkit

step "Configuring without an installed CUDA Toolkit" "A Python package index must be reachable."
run_logged hidden-toolkit-configure.log cmake -S . -B "$folder" -G Ninja -DFERRY_HIDE_TOOLKIT=ON \
  -DCMAKE_BUILD_TYPE=Debug -DFERRY_DEVICE_CODE=ON -DFERRY_WERROR=ON -DFERRY_TESTS=ON -DFERRY_BENCH=OFF

nvcc=$(sed -n 's/^FERRY_NVCC:INTERNAL=//p' "$folder/CMakeCache.txt")
[[ $nvcc == "$root"/build/cuda-toolkit/* ]] || fail "The nvcc in use is '$nvcc', not the one of the wheels."
step "Building the device code with $nvcc" "The wheels in build/cuda-toolkit may be incomplete; remove that folder and try again."
run_logged hidden-toolkit-nvcc.log cmake --build "$folder" --target ferry_device_code
# A fatbin begins with the number 0xba55ed50.
[[ $(od -An -tx4 -N4 "$folder/lib/ferry_kernels.fatbin" | tr -d ' ') == ba55ed50 ]] || fail "$folder/lib/ferry_kernels.fatbin is not a fatbin."

step "Building the driver floor and the stand-in with the headers of the wheels" "Correct the error above."
run_logged hidden-toolkit-build.log cmake --build "$folder" --target ferry_driver ferry_sim ferry_sim_runtime

step "Comparing the device code with the functions of the host" "A kernel is on one side only: cuda/kernels/kernels.inc names them all."
run_logged hidden-toolkit-device-code.log cmake --build "$folder" --target sim_device_code_test
run_logged hidden-toolkit-test.log ctest --test-dir "$folder" -R sim_device_code_test --output-on-failure --no-tests=error
say "Ferry builds without an installed CUDA Toolkit."
