# Installs the files in components, each of which becomes a package: libs for running programs, dev
# for building them, and tool for the command.
include(CMakePackageConfigHelpers)

set(DW_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/durawheel)

install(
  TARGETS durawheel durawheel_static
  EXPORT durawheelTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libs NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/durawheel
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev)
if(DW_BUILD_CLI)
  install(TARGETS durawheel_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
endif()

# Documents for people, and the Lua scripts for programs in other languages.
if(DW_BUILD_CLI)
  set(DW_README_COMPONENT tool)
else()
  set(DW_README_COMPONENT dev)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT ${DW_README_COMPONENT})
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT dev
  PATTERN CMakeLists.txt EXCLUDE
  PATTERN *.sh EXCLUDE # they build the checkout
  PATTERN grafana EXCLUDE
  PATTERN prometheus EXCLUDE)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/examples/grafana ${PROJECT_SOURCE_DIR}/examples/prometheus
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  COMPONENT ${DW_README_COMPONENT})
if(DW_WITH_REDIS)
  install(
    DIRECTORY ${PROJECT_BINARY_DIR}/lua
    DESTINATION ${CMAKE_INSTALL_DATADIR}/durawheel
    COMPONENT dev)
  install(
    FILES ${PROJECT_SOURCE_DIR}/lua/README.md
    DESTINATION ${CMAKE_INSTALL_DATADIR}/durawheel/lua
    COMPONENT dev)
endif()

# These files serve find_package(durawheel).
install(
  EXPORT durawheelTargets
  NAMESPACE durawheel::
  DESTINATION ${DW_CMAKE_DIR}
  COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/durawheelConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/durawheelConfig.cmake INSTALL_DESTINATION
                                                                        ${DW_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/durawheelConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/durawheelConfig.cmake
        ${PROJECT_BINARY_DIR}/durawheelConfigVersion.cmake
  DESTINATION ${DW_CMAKE_DIR}
  COMPONENT dev)

# This writes the file for pkg-config. The prefix is known only at installation, because `cmake
# --install --prefix` may change it.
list(TRANSFORM DW_PLAIN_LIBS PREPEND -l OUTPUT_VARIABLE DW_PRIVATE_LIBS)
list(JOIN DW_PRIVATE_LIBS " " DW_PRIVATE_LIBS)
install(
  CODE "
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(DW_PRIVATE_LIBS \"${DW_PRIVATE_LIBS}\")
  set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
  set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
  cmake_path(ABSOLUTE_PATH libdir BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
  cmake_path(ABSOLUTE_PATH includedir BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
  set(pc \"\${libdir}/pkgconfig/durawheel.pc\")
  message(STATUS \"Installing: \$ENV{DESTDIR}\${pc}\")
  configure_file(\"${CMAKE_CURRENT_LIST_DIR}/durawheel.pc.in\" \"\$ENV{DESTDIR}\${pc}\" @ONLY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${pc}\")
  "
  COMPONENT dev)
