# purge and check: the store as a whole.
# shellcheck shell=bash disable=SC2154,SC2034

test_purge_empties_the_store() {
	many 1200 | durawheel import
	expect 0 durawheel add --topic t --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --topic none --until-idle
	expect 0 durawheel add --topic u --in 1h --id a
	expect 2 durawheel purge
	says 'purge: 1202 timers and 0 dead letters of the store sqlite:.*timers.db would be lost; '
	has_count pending 1202
	expect 0 durawheel purge --yes
	prints 'purged 1202 timers and 0 dead letters'
	has_count pending 0
	expect 0 durawheel run --until-idle
	is_counted out 0
	expect 0 durawheel purge --yes
	prints 'purged 0 timers and 0 dead letters'
	expect 0 durawheel add --topic t --in 0 --id a --new
}

test_purge_takes_dead_letters_too() {
	expect 0 durawheel add --topic t --at 2020-01-01T00:00:00Z --late-after 1s
	expect 0 durawheel run --until-idle
	has_count dead 1
	expect 0 durawheel purge --yes
	prints 'purged 0 timers and 1 dead letters'
	has_count dead 0
}

test_purge_leaves_the_store_of_an_owner_alone() {
	expect 0 durawheel add --topic t --in 1h
	start
	expect 6 durawheel purge --yes
	says '^durawheel: .*own'
	has_count pending 1
	stop_owner
}

test_check_finds_nothing_in_a_sound_store() {
	many 100 | durawheel import
	expect 0 durawheel check
	grep -q '^pending  *100$' out
	grep -q '^flaws  *0$' out
	is_counted err 0
	expect 0 durawheel check --json
	grep -q '^{"pending":100,"claimed":0,"dead":0,"inbox":100,"flaw_count":0,"flaws":\[\],' out
	start --topic none
	expect 0 durawheel check
	stop_owner
	expect 2 durawheel check a
}

test_check_names_what_is_damaged() {
	expect 0 durawheel add --topic t --in 1h --id broken --data 'the data that is flipped'
	expect 0 durawheel add --topic t --in 1h --id whole
	LC_ALL=C sed -i 's/the data that is flipped/the data that is FLIPPED/' timers.db
	expect 1 durawheel check
	says '^durawheel: the store has 1 flaws'
	grep -q '^flaws  *1$' out
	grep -q '^flaw  *broken, generation [0-9]*: .*checksum' out
	expect 1 durawheel check --json
	pattern='{"id":"broken","generation":[0-9]*,"what":"[^"]*"}'
	grep -q '"flaw_count":1,"flaws":\['"$pattern"'\],' out
}

# Of two functions with one name, the later one would silently replace the other.
test_no_function_is_defined_twice() {
	local twice
	twice=$(cat "$here/run.sh" "$here"/test_*.sh | grep -oE '^[a-z_0-9]+\(\)' | sort | uniq -d)
	[ -z "$twice" ] || fail "defined twice: $twice"
}
