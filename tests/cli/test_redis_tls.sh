# The command on a Redis server with TLS.
# shellcheck shell=bash disable=SC2154

# certificate NAME AUTHORITY [WORD...]: NAME.pem and NAME.key.
certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 \
		-keyout "$1.key" -out "$1.pem" -subj "/CN=$1" "${@:3}" \
		${2:+-CA "$2.pem" -CAkey "$2.key"} 2>log || fail "$(cat log)"
}

test_redis_tls() {
	local url
	certificate ca ''
	certificate server ca -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE
	certificate me ca -addext basicConstraints=CA:FALSE
	on_redis --requirepass pw --tls-cert-file "$PWD/server.pem" \
		--tls-key-file "$PWD/server.key" --tls-ca-cert-file "$PWD/ca.pem"
	url="rediss://:pw@127.0.0.1:$redis_port?ca=$PWD/ca.pem"
	expect 6 durawheel list --store "$url"
	says '^durawheel: rediss://127.0.0.1:[0-9]*/0: .* wants a client certificate'
	expect 6 durawheel list --store "rediss://:pw@127.0.0.1:$redis_port"
	says 'an authority that this system does not trust: give ca=FILE$'
	expect 6 durawheel list --store "redis://:pw@127.0.0.1:$redis_port"
	says 'use rediss://$'
	url+="&cert=$PWD/me.pem&key=$PWD/me.key"
	expect 0 durawheel add --topic t --in 0 --id a --store "$url"
	export DURAWHEEL_STORE=$url
	expect 0 durawheel check
	expect 0 durawheel stats
	! grep -q 'pw@' out || fail "the password is printed: $(cat out)"
	expect 0 durawheel run --until-idle
	grep -q '"id":"a"' out
	printf '%s\n' '[run]' "store = $url" '[topic t]' 'exec = true' >run.conf
	expect 0 durawheel run --config run.conf --check
	chmod 640 me.key
	expect 2 durawheel list
	says 'the key file ".*/me.key" may be read or changed by others than its owner: chmod 600$'
	rm ca.pem
	expect 2 durawheel list
	says 'the ca file ".*/ca.pem" cannot be opened: No such file or directory$'
	expect 2 durawheel run --config run.conf --check
	says 'ca.pem" cannot be opened'
}

# certificates: ca.pem, and server.pem and me.pem with their keys.
certificates() {
	certificate ca ''
	certificate server ca -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE
	certificate me ca -addext basicConstraints=CA:FALSE
	tls=(--tls-cert-file "$PWD/server.pem" --tls-key-file "$PWD/server.key"
		--tls-ca-cert-file "$PWD/ca.pem" --tls-replication yes)
	files="ca=$PWD/ca.pem&cert=$PWD/me.pem&key=$PWD/me.key"
}

# A cluster tells TLS ports, so the other nodes are found by TLS, too.
test_redis_tls_of_a_cluster() {
	local tls files
	certificates
	# shellcheck source=tests/support/redis_cluster.sh
	. "$here/../support/redis_cluster.sh"
	trap 'cluster_kill; tidy' EXIT
	cluster_options=("${tls[@]}" --tls-cluster yes)
	cluster_cli=(--tls --cacert ca.pem --cert me.pem --key me.key)
	mkdir cluster
	cluster_start "$PWD/cluster" || fail "the cluster does not start"
	DURAWHEEL_STORE="rediss+cluster://127.0.0.1:${cluster_ports[0]}?$files"
	start
	expect 0 durawheel add --topic t --in 0 --id a
	await grep -q '"id":"a"' fired
	expect 0 durawheel stats
	[ "$(grep -c '^node  *rediss://127.0.0.1:[0-9]*/0 (cluster), shards ' out)" = 3 ] ||
		fail "three nodes have TLS: $(cat out)"
	expect 6 durawheel list --store "redis+cluster://127.0.0.1:${cluster_ports[0]}"
	says "127.0.0.1:${cluster_ports[0]}.*use rediss"
	stop_owner
}

# Sentinels and servers have TLS, by the same files.
test_redis_tls_of_sentinels() {
	local tls files port
	certificates
	on_redis "${tls[@]}"
	port=$((redis_port + 1))
	mkdir sentinel
	printf '%s\n' "sentinel monitor orders 127.0.0.1 $redis_port 1" >sentinel/conf
	redis_exec "$PWD/sentinel/conf" --sentinel --bind 127.0.0.1 --port 0 --tls-port $port \
		"${tls[@]}" >sentinel/log 2>&1 </dev/null &
	export standby=$! # is ended as one
	DURAWHEEL_STORE="rediss+sentinel://127.0.0.1:$port/orders?$files"
	start
	expect 0 durawheel add --topic t --in 0 --id a
	await grep -q '"id":"a"' fired
	expect 0 durawheel stats --json
	grep -q "\"node\":\"rediss://127.0.0.1:$redis_port/0 (orders)\"" out
	expect 6 durawheel list --store "redis+sentinel://127.0.0.1:$port/orders"
	says "127.0.0.1:$port"
	stop_owner
}
