# Run by cpack after it packed, for two things that CPack cannot be told. It writes maintainer
# scripts for every package with a shared library, to call ldconfig: they go, the trigger does
# that. And dpkg-shlibdeps sees which functions of SQLite are called, but not which SQL is spoken:
# the package must be at least of the version that the configuration asked for.
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
