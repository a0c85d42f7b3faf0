# A Redis Cluster of three masters and three replicas for a script, on 127.0.0.1. Source this file,
# behind redis_server.sh. The script must end it by cluster_kill in a trap.
# shellcheck shell=bash

cluster_ports=() # of the six servers
cluster_pids=()  # '': it was killed
# More options of the servers, and of redis-cli: for TLS.
cluster_options=()
cluster_cli=()

# cluster_node FOLDER NUMBER: starts one server; one that is started again keeps its port.
cluster_node()
{
	mkdir -p "$1/$2"
	redis_start "$1/$2" --cluster-enabled yes --cluster-node-timeout 1000 \
		--cluster-require-full-coverage no --repl-diskless-sync-delay 0 \
		"${cluster_options[@]}" || return 1
	cluster_ports[$2]=${redis_port?} # redis_start has set it
	cluster_pids[$2]=$redis_pid
	redis_pid=
}

# cluster_start FOLDER: servers 0 to 2 are masters, the others are their replicas.
cluster_start()
{
	local number nodes=()
	for number in {0..5}; do
		cluster_node "$1" "$number" || return 1
		nodes+=("127.0.0.1:${cluster_ports[number]}")
	done
	redis-cli "${cluster_cli[@]}" --cluster create "${nodes[@]}" --cluster-replicas 1 \
		--cluster-yes >"$1/create" 2>&1 || {
		tail -n 20 "$1/create" >&2
		return 1
	}
	until [[ $(redis-cli -s "$1/0/socket" cluster nodes | grep -c ' slave ') == 3 ]]; do
		sleep 0.05
	done
	for number in {0..2}; do
		until redis-cli -s "$1/$number/socket" info replication |
			grep -q 'state=online'; do
			sleep 0.05
		done
	done
}

# cluster_masters NUMBER: the ports of the masters that have slots, as that server says.
cluster_masters()
{
	redis-cli -p "${cluster_ports[$1]}" cluster nodes |
		awk '$3 ~ /master/ && $3 !~ /fail/ && NF > 8 { split($2, at, /[:@]/); print at[2] }'
}

# cluster_end NUMBER: kill -9 of one server. cluster_kill: of all.
cluster_end()
{
	{ kill -KILL "${cluster_pids[$1]}" && wait "${cluster_pids[$1]}"; } 2>/dev/null || true
	cluster_pids[$1]=
}

cluster_kill()
{
	local number
	for number in "${!cluster_pids[@]}"; do
		[[ -z ${cluster_pids[number]} ]] || cluster_end "$number"
	done
}
