# cpack runs this before it packs. It writes the files that Debian requires below /usr/share/doc for
# each package, and compresses the manual pages.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(doc ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${name})
  file(MAKE_DIRECTORY ${doc})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../../LICENSE ${doc}/copyright COPYONLY)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md ${doc}/changelog COPYONLY)
  if(component STREQUAL dev) # the package with the command may be missing
    configure_file(${CMAKE_CURRENT_LIST_DIR}/../../README.md ${doc}/README.md COPYONLY)
  endif()
  file(
    WRITE ${doc}/changelog.Debian
    "${name} (${version}) unstable; urgency=medium\n\n"
    "  * ${CPACK_PACKAGE_VERSION}, see changelog.\n\n"
    " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  file(GLOB pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/man/*/*.[1-9])
  execute_process(COMMAND gzip -9nf ${doc}/changelog ${doc}/changelog.Debian ${pages}
                          COMMAND_ERROR_IS_FATAL ANY)
endforeach()
