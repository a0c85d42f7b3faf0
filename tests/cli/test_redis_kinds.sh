# Servers of another kind than the URL says.
# shellcheck shell=bash disable=SC2154

# refused_as URL PATTERN: the command ends by itself, with one line.
refused_as() {
	expect 6 durawheel list --store "$1"
	says "$2"
	is_counted err 1 || fail "$1: $(cat err)"
	[ "$(wc -L <err)" -lt 270 ] || fail "$1: the message is cut: $(cat err)"
}

test_redis_url_of_another_kind_than_the_server() {
	local at
	on_redis
	at=127.0.0.1:$redis_port
	refused_as "redis+cluster://$at" '^durawheel: no node of the cluster can be used; redis://1'
	says "; redis://$at/0 (cluster): it is no node of a Redis Cluster: use redis://\$"
	refused_as "redis+sentinel://$at/orders" '^durawheel: the URL names no Sentinel; Sentinel 1'
	says "; Sentinel $at: it is no Sentinel, but a server: name Sentinels (port 26379), or "
	redis_stop
	on_redis --cluster-enabled yes
	at=127.0.0.1:$redis_port
	refused_as "redis://$at" 'does not serve all slots.*: use redis+cluster://HOST,HOST,HOST$'
	refused_as "redis+sentinel://$at/orders" 'it is no Sentinel, but a server'
	refused_as "redis+cluster://$at" 'no master of the cluster has slots: redis-cli --cluster '
}

# sentinels_start and sentinels_end are in test_doctor.sh.
test_redis_url_of_another_kind_than_a_sentinel() {
	local port
	on_redis
	# shellcheck disable=SC2034
	sentinels=("$redis_pid")
	trap 'sentinels_end; tidy' EXIT
	sentinels_start "$redis_port"
	port=$(<sentinel0/port)
	await redis-cli -p "$port" ping
	refused_as "redis://127.0.0.1:$port" 'is a Sentinel, .*: use redis+sentinel://HOST,HOST'
	refused_as "redis+cluster://127.0.0.1:$port" "$port/0 (cluster): it does not know CLUSTER N"
	says ': for Sentinels use redis+sentinel://HOST,HOST/MASTER$'
	refused_as "redis+sentinel://127.0.0.1:$port/bills" '^durawheel: the Sentinels watch no mas'
	says ' bills, but orders: name one of theirs at the end of the URL$'
	redis-cli -p "$port" acl setuser default -info >reply
	refused_as "redis+sentinel://127.0.0.1:$port/bills" 'the Sentinels watch no master bills: r'
	says ": redis-cli -h 127.0.0.1 -p $port SENTINEL MASTERS lists those that they watch\$"
}

test_redis_nodes_that_are_many_are_told_whole() {
	local kind master='' at=127.0.0.1
	for kind in cluster sentinel; do
		refused_as "redis+$kind://$at:1,$at:2,$at:3,$at:4,$at:5,$at:6/$master" \
			"$at:2[^;]*: no connection: Connection refused; .*and [1-5] more\$"
		master=orders
	done
}
