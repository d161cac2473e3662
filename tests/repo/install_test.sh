#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Ferry, moves the installation elsewhere, then builds and runs a C program against it: by
# pkg-config and by find_package. The stand-in must be found in the installation, not in the build tree.
#
# usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER C_COMPILER
set -euo pipefail
build=$1 source=$2 compiler=$3

folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
unset FERRY_SIM_DIR FERRY_DRIVER

# Runs a command and shows its output only when it fails.
quietly() {
  "$@" >"$folder/output" 2>&1 || { cat "$folder/output" >&2; echo "failed: $*" >&2; exit 1; }
}

quietly cmake --install "$build" --prefix "$folder/first"
mv "$folder/first" "$folder/moved"
prefix=$folder/moved

for path in bin/ferry include/ferry/ferry.h include/ferry/sim.h; do
  [[ -e $prefix/$path ]] || { echo "not installed: $path" >&2; exit 1; }
done
"$prefix/bin/ferry" --version

pc=$(find "$prefix" -name ferry.pc)
export PKG_CONFIG_PATH=${pc%/*}
libdir=$(realpath "$(pkg-config --variable=libdir ferry)")
[[ $(pkg-config --modversion ferry) == 0.1.* ]]
[[ -f $libdir/ferry/sim/capabilities.txt ]] || { echo "not installed: what the stand-in can do" >&2; exit 1; }
[[ -f $libdir/ferry/sim/runtime_capabilities.txt ]] || { echo "not installed: what the runtime can do" >&2; exit 1; }
[[ -f $libdir/ferry/sim/libcuda.so.1 ]] || { echo "not installed: the stand-in" >&2; exit 1; }
# shellcheck disable=SC2046  # the flags are words
quietly "$compiler" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/tests/repo/consumer/main.c" \
  $(pkg-config --cflags --libs ferry) "-Wl,-rpath,$libdir" -o "$folder/by-pkg-config"
"$folder/by-pkg-config"

# As the README says it, for a prefix of one's own.
recipe=$(sed -n 's/^    \(cc prog.c .*-rpath.*\)$/\1/p' "$source/README.md")
[[ -n $recipe ]] || { echo "the README has no recipe with an rpath" >&2; exit 1; }
cp "$source/tests/repo/consumer/main.c" "$folder/prog.c"
(cd "$folder" && eval "${recipe/#cc/"$compiler"}" && env -u LD_LIBRARY_PATH ./prog)

quietly cmake -G Ninja -S "$source/tests/repo/consumer" -B "$folder/by-cmake" "-DCMAKE_PREFIX_PATH=$prefix" \
  "-DCMAKE_C_COMPILER=$compiler"
quietly cmake --build "$folder/by-cmake"
"$folder/by-cmake/consumer"

# Whatever they loaded, it was the installed stand-in.
if [[ $("$prefix/bin/ferry" doctor --device sim) != *"$libdir/ferry/sim"* ]]; then
  echo "ferry doctor does not name the installed stand-in:" >&2
  "$prefix/bin/ferry" doctor --device sim >&2
  exit 1
fi
