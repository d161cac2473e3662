# SPDX-License-Identifier: Apache-2.0
# Writes MANIFEST, a line for each of the runtime's functions in NAMES: its name, and "implemented" or "stub". Asks
# LIBRARY by NM: a stub is a weak function that nothing has replaced (stubs.hpp).
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${NAMES} names REGEX "^(cuda|__cuda)")
set(capabilities "# What this libcudart.so.13 can do, by exported name.\n")
foreach(name IN LISTS names)
  if(NOT symbols MATCHES " ([TW]) ${name}@@?libcudart\\.so\\.13\n")
    message(FATAL_ERROR "${LIBRARY} does not export ${name}")
  endif()
  if(CMAKE_MATCH_1 STREQUAL "W")
    string(APPEND capabilities "${name} stub\n")
  else()
    string(APPEND capabilities "${name} implemented\n")
  endif()
endforeach()
file(WRITE ${MANIFEST} "${capabilities}")
