# SPDX-License-Identifier: Apache-2.0
# The CUDA Toolkit: cuda.h and cudaTypedefs.h for the driver floor and the stand-in, nvcc for device code.
#
# Looked for where FERRY_CUDA_ROOT and CUDA_HOME point, beside the nvcc on PATH, and in /usr/local/cuda.
# Where none is new enough, the parts needed come as Python wheels into build/cuda-toolkit: headers only
# (2 MB), or headers and nvcc (100 MB) where FERRY_DEVICE_CODE is on. All presets share that folder.
#
# Sets up the target ferry_cuda_headers, and FERRY_NVCC where FERRY_DEVICE_CODE is on.

set(FERRY_CUDA_ROOT "" CACHE PATH "CUDA Toolkit to use; empty: look in the usual places")
option(FERRY_HIDE_TOOLKIT "Ignore installed CUDA Toolkits and fetch the wheels" OFF)
set(FERRY_CUDA_WHEELS ${PROJECT_SOURCE_DIR}/build/cuda-toolkit CACHE PATH "Where fetched toolkit parts are kept")
set(FERRY_CUDA_OLDEST 13000)   # CUDA_VERSION of the oldest headers that declare all we call
set(FERRY_CUDA_SERIES "13.0.*")  # of the wheels

# The CUDA_VERSION of the headers under `root`, or 0 where there are none.
function(ferry_cuda_version root result)
  set(${result} 0 PARENT_SCOPE)
  if(root AND EXISTS ${root}/include/cuda.h AND EXISTS ${root}/include/cudaTypedefs.h AND EXISTS ${root}/include/crt/host_defines.h)
    file(STRINGS ${root}/include/cuda.h line REGEX "^#define CUDA_VERSION +[0-9]+" LIMIT_COUNT 1)
    if(line MATCHES "([0-9]+)$")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Whether `root` holds everything that this build needs.
function(ferry_cuda_usable root result)
  ferry_cuda_version("${root}" version)
  set(${result} OFF PARENT_SCOPE)
  if(version GREATER_EQUAL FERRY_CUDA_OLDEST AND (NOT FERRY_DEVICE_CODE OR EXISTS ${root}/bin/nvcc))
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# The first installed toolkit that will do, or nothing.
function(ferry_find_installed_cuda result)
  set(${result} "" PARENT_SCOPE)
  find_program(nvcc_on_path nvcc NO_CACHE)
  set(root_of_nvcc "")
  if(nvcc_on_path)
    file(REAL_PATH ${nvcc_on_path} nvcc_on_path)
    cmake_path(GET nvcc_on_path PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root_of_nvcc)
  endif()
  foreach(root IN ITEMS "$ENV{CUDA_HOME}" "${root_of_nvcc}" /usr/local/cuda)
    ferry_cuda_usable("${root}" usable)
    if(usable)
      set(${result} ${root} PARENT_SCOPE)
      return()
    endif()
    ferry_cuda_version("${root}" version)
    if(version GREATER 0 AND version LESS FERRY_CUDA_OLDEST)
      message(STATUS "ferry: the CUDA Toolkit in ${root} is too old (CUDA_VERSION ${version}, needed ${FERRY_CUDA_OLDEST})")
    endif()
  endforeach()
endfunction()

# Runs one step of the fetch, quietly; a failure ends the configuration with its output.
function(ferry_fetch_step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR
      "ferry: the CUDA wheels could not be fetched.\n"
      "Install the CUDA Toolkit 13.0 or newer and set CUDA_HOME, or make a Python package index reachable "
      "(python3 with venv is needed), then run again.\n"
      "The step that failed: ${command}\n${output}")
  endif()
endfunction()

# Puts the wheels into a private Python environment, once, and names the toolkit folder in it.
function(ferry_fetch_cuda result)
  set(packages nvidia-cuda-runtime nvidia-cuda-crt)
  if(FERRY_DEVICE_CODE)
    list(APPEND packages nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-cccl)
  endif()
  file(MAKE_DIRECTORY ${FERRY_CUDA_WHEELS})
  file(LOCK ${FERRY_CUDA_WHEELS}/lock GUARD FUNCTION TIMEOUT 900)
  file(GLOB root ${FERRY_CUDA_WHEELS}/python/lib/python3*/site-packages/nvidia/cu13)
  ferry_cuda_usable("${root}" usable)
  if(NOT usable)
    list(JOIN packages " " names)
    message(STATUS "ferry: no CUDA Toolkit of version 13.0 or newer here; fetching the wheels ${names} ${FERRY_CUDA_SERIES} into ${FERRY_CUDA_WHEELS}")
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    list(TRANSFORM packages APPEND "==${FERRY_CUDA_SERIES}")
    ferry_fetch_step(${Python3_EXECUTABLE} -m venv --clear ${FERRY_CUDA_WHEELS}/python)
    ferry_fetch_step(${FERRY_CUDA_WHEELS}/python/bin/python -m pip install
      --disable-pip-version-check --no-input --no-deps ${packages})
    file(GLOB root ${FERRY_CUDA_WHEELS}/python/lib/python3*/site-packages/nvidia/cu13)
    ferry_cuda_usable("${root}" usable)
    if(NOT usable)
      message(FATAL_ERROR "ferry: the wheels ${names} were fetched, but ${FERRY_CUDA_WHEELS}/python holds no CUDA Toolkit 13.0; remove ${FERRY_CUDA_WHEELS} and run again")
    endif()
  endif()
  set(${result} ${root} PARENT_SCOPE)
endfunction()

if(FERRY_CUDA_ROOT)
  ferry_cuda_usable("${FERRY_CUDA_ROOT}" FERRY_CUDA_ROOT_USABLE)
  if(NOT FERRY_CUDA_ROOT_USABLE)
    message(FATAL_ERROR "ferry: FERRY_CUDA_ROOT=${FERRY_CUDA_ROOT} holds no CUDA Toolkit 13.0 or newer with what this build needs; correct it or leave it empty")
  endif()
  set(FERRY_CUDA_FOUND ${FERRY_CUDA_ROOT})
else()
  set(FERRY_CUDA_FOUND "")
  if(NOT FERRY_HIDE_TOOLKIT)
    ferry_find_installed_cuda(FERRY_CUDA_FOUND)
  endif()
  if(NOT FERRY_CUDA_FOUND)
    ferry_fetch_cuda(FERRY_CUDA_FOUND)
  endif()
endif()
message(STATUS "ferry: CUDA headers from ${FERRY_CUDA_FOUND}/include")
# A name for them that is the same on every machine, for the README and its readers.
file(CREATE_LINK ${FERRY_CUDA_FOUND}/include ${CMAKE_BINARY_DIR}/cuda-include SYMBOLIC)

add_library(ferry_cuda_headers INTERFACE)
target_include_directories(ferry_cuda_headers SYSTEM INTERFACE ${FERRY_CUDA_FOUND}/include)

# An nvcc that is found is not yet an nvcc that works: it needs cicc, ptxas, its headers and a host
# compiler it accepts. A kernel compiled now fails here with a sentence, not later in the build.
if(FERRY_DEVICE_CODE)
  set(FERRY_NVCC ${FERRY_CUDA_FOUND}/bin/nvcc CACHE INTERNAL "The nvcc that builds device code")
  set(FERRY_NVCC_PROBE ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc-probe)
  file(WRITE ${FERRY_NVCC_PROBE}/probe.cu "__global__ void probe(int* out) { out[threadIdx.x] = 1; }\n")
  execute_process(
    COMMAND ${FERRY_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -std=c++20 -arch=sm_80 -fatbin
            -o ${FERRY_NVCC_PROBE}/probe.fatbin ${FERRY_NVCC_PROBE}/probe.cu
    RESULT_VARIABLE FERRY_NVCC_FAILED OUTPUT_VARIABLE FERRY_NVCC_OUTPUT ERROR_VARIABLE FERRY_NVCC_OUTPUT)
  if(FERRY_NVCC_FAILED)
    message(FATAL_ERROR "ferry: ${FERRY_NVCC} cannot build device code; set FERRY_CUDA_ROOT to a complete CUDA Toolkit, or FERRY_DEVICE_CODE=OFF\n${FERRY_NVCC_OUTPUT}")
  endif()
  message(STATUS "ferry: device code by ${FERRY_NVCC}, which built a fatbin just now")
endif()
