# Unit tests that cannot run under qemu-user, each with its reason; read by arm64.sh.
unable=
