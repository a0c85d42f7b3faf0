# Unit tests that cannot run under qemu-user; read by arm64.sh.
#
# test_contract_sqlite, test_standby_sqlite  qemu's /proc/self/stat does not say since when a process
#                                            runs, by which a file knows whether its owner lives
# test_contract_redis                        this machine's redis-server cannot load our clock of arm64
# test_redis_keyspace                        arm64 and the server's x86-64 cut numbers beyond 64 bits
#                                            differently
# test_workers                               qemu shows signal masks of its own in /proc
# shellcheck disable=SC2034
unable='test_(contract_sqlite|standby_sqlite|contract_redis|redis_keyspace|workers)'
