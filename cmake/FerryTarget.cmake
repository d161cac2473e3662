# SPDX-License-Identifier: Apache-2.0
# How every target of Ferry is compiled: C++20, warnings, sanitizers, hidden visibility.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(ferry_compile_options INTERFACE)
target_compile_features(ferry_compile_options INTERFACE cxx_std_20)
target_compile_options(ferry_compile_options INTERFACE
  -Wall -Wextra -Wconversion -Wundef -Wshadow -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<BOOL:${FERRY_WERROR}>:-Werror>)
# gcc 12 sees overlaps and overruns in std::string where there are none, at -O3 and with precompiled headers, whose
# lines it does not take for those of the system (GCC bug 105651): warn, no more.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  foreach(warning restrict array-bounds stringop-overflow)
    target_compile_options(ferry_compile_options INTERFACE
      $<$<OR:$<CONFIG:Release>,$<BOOL:${FERRY_PCH}>>:-Wno-error=${warning}>)
  endforeach()
endif()
target_compile_definitions(ferry_compile_options INTERFACE $<$<BOOL:${FERRY_AUDITS}>:FERRY_AUDITS=1>)
if(FERRY_SANITIZE)
  target_compile_options(ferry_compile_options INTERFACE
    -fsanitize=${FERRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ferry_compile_options INTERFACE -fsanitize=${FERRY_SANITIZE})
endif()

# Headers that nearly every file parses, compiled once for the product and once for the tests: half of the
# time of a full build. FERRY_PCH=OFF shows includes that a file forgot.
if(FERRY_PCH)
  set(FERRY_COMMON_HEADERS <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <string> <string_view>
    <utility> <variant> <vector> <fmt/format.h>)
  add_library(ferry_precompiled STATIC ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(ferry_precompiled PRIVATE fmt::fmt ferry_compile_options)
  target_precompile_headers(ferry_precompiled PRIVATE ${FERRY_COMMON_HEADERS})
  if(FERRY_TESTS)
    add_executable(ferry_precompiled_tests ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_link_libraries(ferry_precompiled_tests PRIVATE fmt::fmt GTest::gtest_main GTest::gmock ferry_compile_options)
    target_precompile_headers(ferry_precompiled_tests PRIVATE ${FERRY_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

# ferry_precompile(TARGET product|tests)
function(ferry_precompile target kind)
  if(FERRY_PCH)
    set(owner ferry_precompiled)
    if(kind STREQUAL "tests")
      set(owner ferry_precompiled_tests)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# What stands before each test's command line. The thread sanitizer of g++ 12 cannot place its shadow
# memory on kernels that spread addresses widely, so its tests run without address randomisation.
set(FERRY_TEST_LAUNCHER "")
if(FERRY_SANITIZE MATCHES "thread")
  set(FERRY_TEST_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/without_aslr.sh)
endif()

# ferry_floor(NAME SOURCES... LINK targets...): the static library ferry_NAME of one floor.
function(ferry_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;LINK" ${ARGN})
  if(FLOOR_SOURCES)
    add_library(ferry_${name} STATIC ${FLOOR_SOURCES})
    target_include_directories(ferry_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(ferry_${name} PUBLIC ${FLOOR_LINK} PRIVATE ferry_compile_options)
    ferry_precompile(ferry_${name} product)
  else()
    add_library(ferry_${name} INTERFACE)
    target_link_libraries(ferry_${name} INTERFACE ${FLOOR_LINK})
  endif()
endfunction()

# ferry_label_tests(TEST... ): labels each test with its folder under tests/ ("driver", "front/traces").
function(ferry_label_tests)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE label)
  set_tests_properties(${ARGN} PROPERTIES LABELS ${label})
endfunction()

# ferry_test(NAME SOURCES... LINK targets... [ENVIRONMENT NAME=value...] [TIMEOUT seconds]): one GoogleTest
# program, one ctest entry, labelled by its folder. Finds the stand-in of this build.
function(ferry_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LINK;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${TEST_LINK} fmt::fmt GTest::gtest_main GTest::gmock ferry_compile_options)
  ferry_precompile(${name} tests)
  add_test(NAME ${name} COMMAND ${FERRY_TEST_LAUNCHER} $<TARGET_FILE:${name}>)
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  if(FERRY_SANITIZE)
    math(EXPR TEST_TIMEOUT "5 * ${TEST_TIMEOUT}")  # sanitized code is many times slower
  endif()
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${TEST_TIMEOUT}
    ENVIRONMENT "FERRY_SIM_DIR=${CMAKE_BINARY_DIR}/lib/sim;${TEST_ENVIRONMENT}")
  ferry_label_tests(${name})
endfunction()
