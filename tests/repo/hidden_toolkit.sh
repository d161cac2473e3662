#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Ferry as on a machine without the CUDA Toolkit: the installed one is hidden, its compile parts
# come as Python wheels, nvcc among them must build a fatbin, and the floors that include CUDA headers
# must compile with them. Needs a Python package index; part of CI, not of ctest.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
folder=build/hidden-toolkit

step "Configuring without an installed CUDA Toolkit" "A Python package index must be reachable."
run_logged hidden-toolkit-configure.log cmake -S . -B "$folder" -G Ninja -DFERRY_HIDE_TOOLKIT=ON \
  -DFERRY_DEVICE_CODE=ON -DFERRY_WERROR=ON -DFERRY_TESTS=OFF -DFERRY_BENCH=OFF

nvcc=$(sed -n 's/^FERRY_NVCC:INTERNAL=//p' "$folder/CMakeCache.txt")
[[ $nvcc == "$root"/build/cuda-toolkit/* ]] || fail "The nvcc in use is '$nvcc', not the one of the wheels."
printf '__global__ void add(float* a, const float* b) { a[threadIdx.x] += b[threadIdx.x]; }\n' >"$folder/add.cu"
step "Building a fatbin with $nvcc" "The wheels in build/cuda-toolkit may be incomplete; remove that folder and try again."
run_logged hidden-toolkit-nvcc.log "$nvcc" -std=c++20 -arch=sm_90 -fatbin -o "$folder/add.fatbin" "$folder/add.cu"
# A fatbin begins with the number 0xba55ed50.
[[ $(od -An -tx4 -N4 "$folder/add.fatbin" | tr -d ' ') == ba55ed50 ]] || fail "$folder/add.fatbin is not a fatbin."

step "Building the driver floor and the stand-in with the headers of the wheels" "Correct the error above."
run_logged hidden-toolkit-build.log cmake --build "$folder" --target ferry_driver ferry_sim
say "Ferry builds without an installed CUDA Toolkit."
