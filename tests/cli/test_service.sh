# What a service manager hears: READY, STATUS, WATCHDOG, STOPPING; and the units of systemd.
# shellcheck shell=bash disable=SC2154,SC2034

# manager NAME: listens on the socket NAME ("@": an abstract one), and writes what it hears to the
# file heard, a line for each datagram.
manager() {
	python3 -c '
import socket, sys
name = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + name[1:] if name.startswith("@") else name)
print("listens", flush=True)
while True:
    print(listener.recv(4096).decode().replace("\n", " "), flush=True)
' "$1" >heard &
	manager=$!
	await grep -q listens heard
}

# sends WORD: to the manager.
sends() {
	python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[2].encode(), sys.argv[1])
' "$NOTIFY_SOCKET" "$1"
}

# hears PATTERN: the manager hears it, at some time.
hears() {
	await grep -q -e "$1" heard
}

# watched ARGUMENT...: starts durawheel under the manager, as the owner.
watched() {
	WATCHDOG_USEC=200000 durawheel "$@" >fired 2>log &
	owner=$!
}

test_service_hears_of_each_step_of_run() {
	expect 0 durawheel add --topic t --id later --at 2100-01-01T00:00:00Z
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run
	hears '^READY=1 STATUS=1 timer; 0 fired, 0 dead'
	hears '^WATCHDOG=1'
	kill -TERM "$owner"
	hears '^STOPPING=1 EXTEND_TIMEOUT_USEC=[0-9]'
	ended 0
	kill "$manager"
	[ "$(grep -c READY heard)" = 1 ]
}

test_service_has_an_abstract_socket() {
	export NOTIFY_SOCKET=@durawheel-test-$$
	manager "$NOTIFY_SOCKET"
	watched run
	hears '^READY=1 STATUS=0 timers'
	kill -TERM "$owner"
	ended 0
	kill "$manager"
}

# A standby is ready once the store has said that another process has it.
test_service_hears_that_a_standby_stands() {
	start
	first=$owner
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run --standby
	hears '^READY=1 STATUS=standby: another process has the store'
	sed -n 2p heard | grep -qx 'STATUS=waiting for the store EXTEND_TIMEOUT_USEC=[0-9]*'
	second=$owner
	owner=$first
	stop_owner
	owner=$second
	await grep -q 'this standby owns the store now' log
	began=$SECONDS
	hears '^STATUS=0 timers; 0 fired'
	# At once, and not with the next status after 10 s.
	[ $((SECONDS - began)) -lt "$(of_idle 8)" ]
	kill -TERM "$owner"
	ended 0
	kill "$manager"
	[ "$(grep -c READY heard)" = 1 ]
}

# A standby that becomes the owner at once never was one that waits for another process.
test_service_hears_how_many_timers_are_loaded() {
	for i in {1..20000}; do
		printf '{"id":"%d","topic":"t","due":4102444800000000}\n' "$i"
	done | expect 0 durawheel import
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run --standby
	hears '^READY=1 '
	kill -TERM "$owner"
	ended 0
	kill "$manager"
	grep -q '^STATUS=loading .*[0-9].* EXTEND_TIMEOUT_USEC=[0-9]*$' heard
	grep -q '^READY=1 STATUS=20000 timers; 0 fired, 0 dead$' heard
	lacks 'another process' heard
}

# Nobody knows who has a store that is away. The program is ready, so that no start hangs.
test_service_hears_that_the_store_is_away() {
	on_redis --appendonly yes
	export DURAWHEEL_STORE=unix://$PWD/socket
	redis_kill
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run --standby --journal j
	hears '^READY=1 STATUS=the store is away; the journal takes what is asked$'
	on_redis --appendonly yes
	hears '^STATUS=0 timers; 0 fired'
	redis_kill
	hears '^STATUS=the store is away; the journal takes what is asked, and due timers wait$'
	kill -TERM "$owner"
	ended 0
	kill "$manager"
	lacks 'another process' heard
}

# Only the loop says that it is alive: a process that stands still says nothing.
test_service_hears_nothing_of_a_loop_that_hangs() {
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run
	hears '^WATCHDOG=1'
	kill -STOP "$owner"
	sends MARK
	hears '^MARK' # what was sent before is read, too
	before=$(grep -c WATCHDOG heard)
	sleep 1
	[ "$(grep -c WATCHDOG heard)" = "$before" ]
	kill -CONT "$owner"
	await has_more_lines "$before"
	kill -TERM "$owner"
	ended 0
	kill "$manager"
}

has_more_lines() {
	[ "$(grep -c WATCHDOG heard)" -gt "$1" ]
}

# The socket is for run, and not for its commands.
test_service_is_not_inherited_by_commands() {
	expect 0 durawheel add --topic t --id a --in 0s
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched run --exec 'env >seen'
	await test -s seen
	! grep -E 'NOTIFY_SOCKET|WATCHDOG' seen
	kill -TERM "$owner"
	ended 0
	kill "$manager"
}

test_service_without_a_manager_is_told_once() {
	export NOTIFY_SOCKET=$PWD/nobody
	start
	grep -q ' warn durawheel: NOTIFY_SOCKET ".*/nobody": No such file or directory' log
	stop_owner
	NOTIFY_SOCKET=relative
	start
	grep -q ' warn durawheel: NOTIFY_SOCKET "relative": Invalid argument' log
	stop_owner
}

# watched_serve starts serve. 1: this command was built without.
watched_serve() {
	if ! durawheel serve --help | grep -q -- --http; then
		kill "$manager"
		return 1
	fi
	watched serve --http "unix:$PWD/http"
}

test_service_hears_of_serve() {
	expect 0 durawheel add --topic t --id a --in 1h
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched_serve || return 0
	hears '^READY=1 STATUS=serving'
	hears '^WATCHDOG=1'
	kill -TERM "$owner"
	hears '^STOPPING=1'
	ended 0
	kill "$manager"
}

# last_status_is WORDS: that is what the manager heard last.
last_status_is() {
	[ "$(sed -n 's/.*STATUS=//p' heard | tail -n 1)" = "$1" ]
}

test_service_hears_from_serve_that_redis_is_away() {
	lasting_redis
	expect 0 durawheel add --topic t --id a --in 1h
	export NOTIFY_SOCKET=$PWD/notify
	manager "$NOTIFY_SOCKET"
	watched_serve || return 0
	await last_status_is serving
	redis_kill
	await last_status_is 'the store is away, or refuses'
	lasting_redis
	await last_status_is serving
	kill -TERM "$owner"
	ended 0
	kill "$manager"
}

# The units are well formed, and little of the system is left to the process.
test_units_of_systemd_are_sound() {
	command -v systemd-analyze >/dev/null || not_tested 'systemd-analyze is not installed'
	for unit in durawheel@ durawheel-peer@ durawheel-serve@; do
		sed "/^Documentation=/d
			s|^\(Exec[A-Za-z]*=\)/[^ ]*/durawheel |\1$(command -v durawheel) |" \
			"$build/systemd/$unit.service" >"$unit.service"
		systemd-analyze verify "$PWD/${unit}x.service" >said 2>&1 || fail "$(cat said)"
		! [ -s said ] || fail "$(cat said)"
		systemd-analyze security --offline=true --threshold=30 --no-pager \
			"$PWD/$unit.service" >said 2>&1 || fail "$(tail -n 1 said)"
	done
}
