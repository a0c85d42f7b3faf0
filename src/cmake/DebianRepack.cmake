# cpack runs this after it has packed, for two things that CPack cannot do.
# CPack writes maintainer scripts that call ldconfig for every package with a shared library. They
# are removed, because a trigger does that.
# dpkg-shlibdeps derives the version of SQLite from the functions that the library calls. It does
# not know the SQL features that we use, so the minimum version is raised to DW_SQLITE_MIN.
function(raise_sqlite control)
  file(READ ${control} text)
  string(REGEX MATCH "libsqlite3-0 \\(>= ([0-9.]+)[^)]*\\)" found "${text}")
  if(found AND CMAKE_MATCH_1 VERSION_LESS CPACK_DW_SQLITE_MIN)
    string(REPLACE "${found}" "libsqlite3-0 (>= ${CPACK_DW_SQLITE_MIN})" text "${text}")
    file(WRITE ${control} "${text}")
  endif()
endfunction()

foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/repack)
  file(REMOVE_RECURSE ${tree})
  execute_process(COMMAND dpkg-deb -R ${package} ${tree} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${tree}/DEBIAN/postinst ${tree}/DEBIAN/postrm)
  raise_sqlite(${tree}/DEBIAN/control)
  execute_process(COMMAND dpkg-deb --root-owner-group -b ${tree} ${package}
                          COMMAND_ERROR_IS_FATAL ANY)
endforeach()
