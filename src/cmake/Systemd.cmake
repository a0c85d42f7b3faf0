# Installs the systemd units into lib/systemd/system, where package managers put units.
set(DW_UNIT_HARDENING
    "NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
")
foreach(unit IN ITEMS durawheel@ durawheel-serve@)
  configure_file(${PROJECT_SOURCE_DIR}/src/cli/run/systemd/${unit}.service.in
                 ${PROJECT_BINARY_DIR}/systemd/${unit}.service @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/systemd/${unit}.service DESTINATION lib/systemd/system
          COMPONENT tool)
endforeach()
# The units look for their files in this folder. With another prefix we do not touch the /etc of the
# machine.
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  install(DIRECTORY DESTINATION /etc/durawheel COMPONENT tool)
endif()
