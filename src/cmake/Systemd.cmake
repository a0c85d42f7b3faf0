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
# dw_unit(UNIT TEMPLATE) installs a unit.
function(dw_unit unit template)
  configure_file(${PROJECT_SOURCE_DIR}/src/cli/run/systemd/${template}.service.in
                 ${PROJECT_BINARY_DIR}/systemd/${unit}.service @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/systemd/${unit}.service DESTINATION lib/systemd/system
          COMPONENT tool)
endfunction()

dw_unit(durawheel-serve@ durawheel-serve@)
set(DW_UNIT_PURPOSE
    "# durawheel@NAME: owns a store, and runs a command for each timer that is due.")
set(DW_UNIT_WHAT "durawheel timers")
set(DW_UNIT_STORE sqlite:/var/lib/durawheel/orders/orders.db)
set(DW_UNIT_ROLE standby)
dw_unit(durawheel@ durawheel@)
set(DW_UNIT_PURPOSE
    "# durawheel-peer@NAME: shares a namespace in Redis with other peers, and runs a command for
# each of its timers that is due. On each machine start durawheel-peer@orders. Three instances on
# one machine can use one file if each has an address of its own, as in
# /etc/durawheel/orders-1.env:
#
#	DURAWHEEL_RUN=--config /etc/durawheel/orders.conf --http 127.0.0.1:8991
#
# systemctl enable --now durawheel-peer@orders-1 durawheel-peer@orders-2 durawheel-peer@orders-3
#")
set(DW_UNIT_WHAT "durawheel peer")
set(DW_UNIT_STORE redis://10.0.0.5)
set(DW_UNIT_ROLE peer)
dw_unit(durawheel-peer@ durawheel@)
# The units look for their files in this folder, where samples show what to write. With another
# prefix we do not touch the /etc of the machine.
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(DW_SAMPLES ${PROJECT_SOURCE_DIR}/src/cli/run/systemd)
  install(FILES ${DW_SAMPLES}/sample.conf ${DW_SAMPLES}/sample.env DESTINATION /etc/durawheel
          COMPONENT tool)
endif()
