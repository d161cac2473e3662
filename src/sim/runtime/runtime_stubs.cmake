# SPDX-License-Identifier: Apache-2.0
# Writes a row for the preprocessor, STUBS, of each name in NAMES (runtime_names.txt).
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${NAMES} names REGEX "^(cuda|__cuda)")
set(rows "// Written by runtime_stubs.cmake.\n")
foreach(name IN LISTS names)
  string(APPEND rows "FERRY_RUNTIME_STUB(${name})\n")
endforeach()
file(WRITE ${STUBS} "${rows}")
