# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where:
#   bin/ferry                     the program
#   lib/libferry.so               the C API, with lib/pkgconfig/ferry.pc and lib/cmake/ferry/
#   lib/ferry/sim/libcuda.so.1    the driver stand-in, found from both of the above by relative path
#   include/ferry/                the headers
# Programs and libraries are installed where they are built; here is what describes them to others. It
# holds no absolute path, so an installation can be moved as a whole.

include(CMakePackageConfigHelpers)
set(FERRY_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ferry)
set(FERRY_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY include/ferry DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT ferryTargets NAMESPACE ferry:: DESTINATION ${FERRY_CONFIG_DIR})
configure_package_config_file(cmake/ferryConfig.cmake.in ${CMAKE_BINARY_DIR}/ferryConfig.cmake
  INSTALL_DESTINATION ${FERRY_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ferryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ferryConfig.cmake ${CMAKE_BINARY_DIR}/ferryConfigVersion.cmake
  DESTINATION ${FERRY_CONFIG_DIR})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${FERRY_PKGCONFIG_DIR} OUTPUT_VARIABLE FERRY_PC_PREFIX)
configure_file(cmake/ferry.pc.in ${CMAKE_BINARY_DIR}/ferry.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ferry.pc DESTINATION ${FERRY_PKGCONFIG_DIR})
