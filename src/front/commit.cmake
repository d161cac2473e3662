# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a header that defines FERRY_COMMIT for the checkout in SOURCE. Run by every build, so
# that the answer stays right after a new commit; the header is only touched when the answer changes.
cmake_minimum_required(VERSION 3.25)
set(FERRY_COMMIT unknown)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)  # not the repository that an unpacked archive happens to lie in
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
      ${GIT} describe --always --dirty=+dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE}
    RESULT_VARIABLE failed OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(FERRY_COMMIT ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define FERRY_COMMIT \"@FERRY_COMMIT@\"\n" @ONLY)
