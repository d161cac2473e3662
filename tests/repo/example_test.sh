#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the example of the driver API as the README says, outside the build tree, and runs it on the
# stand-in: the correct program passes under every schedule, the one that forgets a wait never does.
#
# usage: example_test.sh FERRY SOURCE_FOLDER CXX_COMPILER BUILD_FOLDER
set -euo pipefail
ferry=$1 source=$2 compiler=$3 build=$4

folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
unset FERRY_SIM_DIR FERRY_DRIVER FERRY_SIM

mkdir -p "$folder/examples"
cp -r "$source/examples/driver_api" "$folder/examples"
mkdir "$folder/bin"
ln -s "$ferry" "$folder/bin/ferry"
ln -s "$(command -v "$compiler")" "$folder/bin/c++"
PATH=$folder/bin:$PATH
cd "$folder"

recipe=$(sed -n 's/^    \(c++ .*upload\.cpp .*\)$/\1/p' "$source/README.md")
[[ -n $recipe ]] || { echo "the README has no recipe for the example" >&2; exit 1; }
# The folder of cuda.h, as the README says where it is, with this build in the place of the release.
place=$(sed -n 's|^    CUDA=$PWD/build/release/\([^ ]*\) .*$|\1|p' "$source/README.md")
[[ -n $place ]] || { echo "the README does not say where cuda.h is" >&2; exit 1; }
cuda=$build/$place
CUDA=$cuda eval "$recipe"

# And as a project of its own, as its CMakeLists.txt says.
{
  cmake -G Ninja -S examples/driver_api -B build -D CMAKE_LIBRARY_PATH="$(ferry sim path)" -D CMAKE_INCLUDE_PATH="$cuda" \
    -D CMAKE_CXX_COMPILER="$compiler" && cmake --build build && ctest --test-dir build
} >out 2>&1 || { cat out >&2; exit 1; }
grep -q '100% tests passed, 0 tests failed out of 4' out || { cat out >&2; exit 1; }

# run SETTINGS [OPTION]: its exit status and what it wrote to standard error.
run() {
  local status=0
  ferry sim run --settings "$1" -- ./upload "${@:2}" >out 2>err || status=$?
  echo "$status"
}

failures=0
fail() { echo "$1" >&2; cat out err >&2; failures=$((failures + 1)); }

for settings in schedule=eager schedule=lazy profile=gh200-c2c "schedule=random;seed="{1..5}; do
  [[ $(run "$settings") == 0 ]] || fail "the example failed under $settings"
  [[ ! -s err ]] || fail "the example made the stand-in complain under $settings"
done
[[ $(run schedule=lazy --forget-wait) == @(1|66) ]] || fail "the forgotten wait was not noticed under lazy"
grep -q 'ferry-sim: hazard: ' err || fail "the forgotten wait was not named under lazy"
exit $((failures > 0))
