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
