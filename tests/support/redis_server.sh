# A redis-server for a script, on a unix socket and a port of 127.0.0.1. Source this file. The
# script must end the server: by redis_stop, or in a trap by redis_kill.
# shellcheck shell=bash

# redis_exec ARGUMENT...: becomes the server: $DW_REDIS_SERVER (valkey-server, for example), or
# redis-server. Debian's redis-tools has that under another name, without a service of the system.
redis_exec()
{
	local program=${DW_REDIS_SERVER:-redis-server}
	if [[ $program != redis-server ]] || command -v "$program" >/dev/null; then
		exec "$program" "$@"
	fi
	exec -a redis-server redis-check-rdb "$@"
}

# redis_answers FOLDER: it takes commands, or wants a password.
redis_answers()
{
	redis-cli -s "$1/socket" ping 2>&1 | grep -q -e '^PONG' -e '^NOAUTH' -e '^NOPERM'
}

# some_port: a port on which nobody listens. Linux gives ports from 32768 on to outgoing
# connections. This port is below those, and so is the one 10000 above it, which a cluster uses.
some_port()
{
	local port=$((10000 + RANDOM % 12768))
	while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((10000 + RANDOM % 12768))
	done
	echo "$port"
}

# redis_start FOLDER [OPTION...]: it works there, and answers on FOLDER/socket and on $redis_port
# when this returns; $redis_pid is its pid. Started again in the same folder it keeps its port. With
# --tls-cert-file the port has TLS.
redis_start()
{
	local folder=$1 tries ports=(--port)
	shift
	[[ " $* " != *' --tls-cert-file '* ]] || ports=(--port 0 --tls-port)
	for ((tries = 0; tries < 5; tries++)); do
		[[ -f $folder/port ]] || some_port >"$folder/port"
		redis_port=$(<"$folder/port")
		(redis_exec --dir "$folder" --unixsocket "$folder/socket" --bind 127.0.0.1 \
			"${ports[@]}" "$redis_port" --save '' --daemonize no "$@") \
			>>"$folder/redis.log" 2>&1 </dev/null &
		redis_pid=$!
		until redis_answers "$folder"; do
			kill -0 "$redis_pid" 2>/dev/null || break
			sleep 0.02
		done
		! kill -0 "$redis_pid" 2>/dev/null || return 0
		rm "$folder/port" # somebody else has it
	done
	tail -n 20 "$folder/redis.log" >&2
	redis_pid=
	return 1
}

# redis_kill: kill -9. redis_stop: cleanly.
redis_kill()
{
	[[ -n ${redis_pid-} ]] || return 0
	{ kill -KILL "$redis_pid" && wait "$redis_pid"; } 2>/dev/null || true
	redis_pid=
}

redis_stop()
{
	{ kill -TERM "$redis_pid" && wait "$redis_pid"; } 2>/dev/null || true
	redis_pid=
}
