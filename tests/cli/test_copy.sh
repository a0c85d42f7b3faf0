# list --json | import: a copy of a store, apart from its dead letters.
# shellcheck shell=bash disable=SC2154,SC2034

# kinds: what a timer may have; % is a number of three digits. None is due within an hour.
kinds() {
	cat <<-'END'
		"at":"2100-01-01T00:00:00.000%Z","data":"\u0000 \" \\ \n 🔔"
		"in":"1%s","data_base64":"/wAAgP8=","late_after":"1h30m1us"
		"in":"9%h","keep":"36h"
		"rule":"every 1%m"
		"rule":"every 1%m; count 7","keep":"1d","data":"x"
		"rule":"every 90m; jitter 2%ms; missed skip"
		"rule":"every 1h; start 2099-06-01T09:30:00.000%Z; end 2100-01-01T00:00:00Z"
		"rule":"cron 0 8 * * mon-fri; zone Europe/Rome; end 2100-01-01T00:00:00Z; count 1%"
		"rule":"cron @yearly; jitter 1%us; except 2030-01-01","data_base64":"/w=="
		"rule":"cron 30 1 31 12 *; zone Asia/Tokyo; missed all; missed-age 1%s"
	END
}

# all_kinds N: lines of timers of all kinds, with ids of UTF-8.
all_kinds() {
	kinds | awk -v n="$1" '{ kind[NR - 1] = $0 } END {
		for (i = 0; i < n; i++) {
			rest = kind[i % NR]
			gsub(/%/, sprintf("%03d", i % 1000), rest)
			printf "{\"id\":\"ü:日%d\",\"topic\":\"té%d\",%s}\n", i, i % 3, rest
		}
	}'
}

# copies_to URL [NAMESPACE]: list --json of the copy is that of the store, byte for byte. On Redis,
# timers with the same deadline may have changed places between shards.
copies_to() {
	local order
	order=$([ -z "${2-}" ] && echo cat || echo sort)
	durawheel list --json >before
	is_counted before 1000
	for key in data data_base64 late_after keep rule occurrence rule_end; do
		grep -qF "\"$key\":" before
	done
	expect 0 durawheel import --store "$1" ${2:+--name "$2"} before
	prints 'imported 1000, refused 0'
	is_counted err 0
	expect 0 durawheel list --json --store "$1" ${2:+--name "$2"}
	cmp <($order before) <($order out)
}

test_copy_of_a_store_is_the_same() {
	all_kinds 1000 >lines
	expect 0 durawheel import lines
	copies_to "sqlite:$PWD/copy.db"
	start
	copies_to "sqlite:$PWD/other.db"
	expect 0 durawheel check --store "sqlite:$PWD/copy.db"
	stop_owner
}

test_copy_to_redis_and_back_is_the_same() {
	local server file=$DURAWHEEL_STORE
	all_kinds 1000 >lines
	expect 0 durawheel import lines
	on_redis
	start --name owned
	server=$DURAWHEEL_STORE
	export DURAWHEEL_STORE=$file
	copies_to "$server" free
	copies_to "$server" owned
	export DURAWHEEL_STORE=$server DURAWHEEL_NAME=owned
	copies_to "sqlite:$PWD/copy.db"
	stop_owner
}

# What begins again is said in a word.
test_copy_counts_attempts_from_zero() {
	expect 0 durawheel add --topic t --id a --in 0 --data x
	expect 0 durawheel add --topic t --id b --in 1h
	start --exec 'exit 1'
	await retried
	stop_owner
	expect 0 durawheel list --json
	cp out lines
	expect 0 durawheel import --store "sqlite:$PWD/copy.db" lines
	prints 'imported 2, refused 0'
	says '^durawheel: 1 of them had been delivered or claimed before: attempts and retries are '
	expect 0 durawheel show --json a --store "sqlite:$PWD/copy.db"
	grep -q '"attempt":0,"retries":0,' out
}

retried() {
	durawheel show --json a | grep -q '"retries":[1-9]'
}
