# Run by cpack after it packed: takes the maintainer scripts out again, which CPack writes for every
# package with a shared library, to call ldconfig. The trigger does that, once for all packages.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/repack)
  file(REMOVE_RECURSE ${tree})
  execute_process(COMMAND dpkg-deb -R ${package} ${tree} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${tree}/DEBIAN/postinst ${tree}/DEBIAN/postrm)
  execute_process(COMMAND dpkg-deb --root-owner-group -b ${tree} ${package}
                          COMMAND_ERROR_IS_FATAL ANY)
endforeach()
