# Builds Debian packages with `cpack`, in a build that was configured with --preset package.
# This option makes CMake check the programs that cpack needs. cpack itself would fail only after
# the whole build, or would make packages without dependencies.
option(DW_PACKAGES "look whether cpack has what it needs" OFF)
if(DW_PACKAGES)
  foreach(pair file=file dpkg-shlibdeps=dpkg-dev)
    string(REGEX REPLACE "=.*" "" program ${pair})
    string(REGEX REPLACE ".*=" "" package ${pair})
    find_program(DW_PROGRAM_${package} ${program})
    if(NOT DW_PROGRAM_${package})
      message(FATAL_ERROR "cpack needs `${program}`: apt-get install ${package}")
    endif()
  endforeach()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "the durawheel authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL libs dev)
if(DW_BUILD_CLI)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianDocs.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianRepack.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
# The maintainer of a package is the person who builds it. Like Debian's own tools, we read
# DEBFULLNAME and DEBEMAIL first.
set(DW_MAINTAINER "" CACHE STRING "maintainer of the Debian packages: NAME <ADDRESS>")
if(DW_MAINTAINER)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${DW_MAINTAINER})
else()
  set(DW_MAINTAINER_NAME "$ENV{DEBFULLNAME}")
  set(DW_MAINTAINER_MAIL "$ENV{DEBEMAIL}")
  if(NOT DW_MAINTAINER_NAME)
    set(DW_MAINTAINER_NAME ${CPACK_PACKAGE_VENDOR})
  endif()
  if(NOT DW_MAINTAINER_MAIL)
    cmake_host_system_information(RESULT DW_HOST QUERY FQDN)
    set(DW_MAINTAINER_MAIL "root@${DW_HOST}")
  endif()
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${DW_MAINTAINER_NAME} <${DW_MAINTAINER_MAIL}>")
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(DW_SUMMARY "durable timers for C programs")
set(DW_DETAILS
    "A timer fires in the program that set it, microseconds after its deadline,\n\
even if the program was killed and started again in between: a timing wheel\n\
in memory fires, a SQLite file or a Redis server keeps every timer.")

# dw_package(COMPONENT NAME SECTION WHAT) describes the package of a component.
macro(dw_package component name section what)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${DW_SUMMARY} - ${what}\n${DW_DETAILS}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${CPACK_COMPONENT_${upper}_DESCRIPTION}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
endmacro()

set(DW_LIBS_PACKAGE libdurawheel${PROJECT_VERSION_MAJOR})
dw_package(libs ${DW_LIBS_PACKAGE} libs "library")
set(CPACK_DEBIAN_LIBS_PACKAGE_RECOMMENDS tzdata) # rules with a time zone need it
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBS_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
dw_package(dev libdurawheel-dev libdevel "for building programs")
# A program that links the static library also needs these packages.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "${DW_LIBS_PACKAGE} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libev-dev")
if(DW_WITH_SQLITE)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libsqlite3-dev (>= ${DW_SQLITE_MIN})")
  set(CPACK_DW_SQLITE_MIN ${DW_SQLITE_MIN}) # DebianRepack.cmake reads it
endif()
if(DW_WITH_REDIS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libhiredis-dev")
endif()
if(DW_TLS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libssl-dev (>= ${DW_OPENSSL_MIN})")
endif()
dw_package(tool durawheel utils "command")
file(WRITE ${PROJECT_BINARY_DIR}/conffiles
     "/etc/durawheel/sample.conf\n/etc/durawheel/sample.env\n")
set(CPACK_DEBIAN_TOOL_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/conffiles)

include(CPack)
