#include "support/redis_cluster.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/free_port.h"

#define TRIES 6000 /* the number of tries, every 10 ms: much more than a loaded machine needs */

static void give_up(const char *what)
{
	(void)fprintf(stderr, "redis_cluster: %s\n", what);
	abort();
}

static redisReply *ask(const struct redis_server *server, const char *format, ...)
{
	redisContext *context = redisConnectUnix(server->path);
	redisReply *reply = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (context && !context->err)
		reply = redisvCommand(context, format, arguments);
	va_end(arguments);
	redisFree(context);
	if (!reply || reply->type == REDIS_REPLY_ERROR)
		give_up(reply ? reply->str : format);
	return reply;
}

static void start_node(struct redis_cluster *cluster, unsigned number)
{
	const char *const options[] = {"--cluster-enabled",
				       "yes",
				       "--cluster-port",
				       cluster->ports[number],
				       "--cluster-node-timeout",
				       "1000",
				       "--cluster-require-full-coverage",
				       "no",
				       "--repl-diskless-sync-delay",
				       "0",
				       NULL};
	redisReply *reply;

	(void)snprintf(cluster->ports[number], sizeof cluster->ports[number], "%u", free_port());
	memcpy(cluster->options[number], options, sizeof options);
	redis_server_start(&cluster->servers[number], true, cluster->options[number]);
	reply = ask(&cluster->servers[number], "CLUSTER MYID");
	(void)snprintf(cluster->ids[number], sizeof cluster->ids[number], "%s", reply->str);
	freeReplyObject(reply);
}

static unsigned first_slot(unsigned master)
{
	return master * CLUSTER_SLOTS / CLUSTER_MASTERS;
}

unsigned redis_cluster_owner(unsigned slot)
{
	unsigned master = 0;

	while (first_slot(master + 1) <= slot)
		master++;
	return master;
}

/* await waits until the node's answer contains the words at least `count` times. */
static void await(const struct redis_server *server, const char *command, const char *words,
		  unsigned count)
{
	for (int i = 0; i < TRIES; i++) {
		redisReply *reply = ask(server, command);
		unsigned found = 0;

		for (const char *at = reply->str; at && (at = strstr(at, words)); at++)
			found++;
		freeReplyObject(reply);
		if (found >= count)
			return;
		(void)poll(NULL, 0, 10); /* the loop waits as long as it takes */
	}
	give_up(words);
}

void redis_cluster_start(struct redis_cluster *cluster)
{
	struct redis_server *servers = cluster->servers;

	memset(cluster, 0, sizeof *cluster);
	for (unsigned i = 0; i < CLUSTER_NODES; i++)
		start_node(cluster, i);
	for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
		freeReplyObject(ask(&servers[i], "CLUSTER ADDSLOTSRANGE %u %u", first_slot(i),
				    first_slot(i + 1) - 1));
		freeReplyObject(ask(&servers[i], "CLUSTER SET-CONFIG-EPOCH %u", i + 1));
	}
	for (unsigned i = 1; i < CLUSTER_NODES; i++)
		freeReplyObject(ask(&servers[0], "CLUSTER MEET 127.0.0.1 %u %s", servers[i].port,
				    cluster->ports[i]));
	for (unsigned i = 0; i < CLUSTER_NODES; i++)
		await(&servers[i], "CLUSTER NODES", " connected", CLUSTER_NODES);
	for (unsigned i = CLUSTER_MASTERS; i < CLUSTER_NODES; i++)
		freeReplyObject(
		    ask(&servers[i], "CLUSTER REPLICATE %s", cluster->ids[i - CLUSTER_MASTERS]));
	for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
		await(&servers[i], "INFO replication", "state=online", 1);
		await(&servers[i], "CLUSTER INFO", "cluster_state:ok", 1);
		await(&servers[i], "CLUSTER NODES", "slave", CLUSTER_MASTERS);
	}
	(void)snprintf(cluster->url, sizeof cluster->url,
		       "redis+cluster://127.0.0.1:%u,127.0.0.1:%u", servers[0].port,
		       servers[1].port);
}

static void move_key(const struct redis_cluster *cluster, const redisReply *key, unsigned from,
		     unsigned to)
{
	freeReplyObject(ask(&cluster->servers[from], "MIGRATE 127.0.0.1 %u %b 0 5000",
			    cluster->servers[to].port, key->str, key->len));
}

void redis_cluster_move_begin(const struct redis_cluster *cluster,
			      const struct redis_cluster_move *move)
{
	freeReplyObject(ask(&cluster->servers[move->to], "CLUSTER SETSLOT %u IMPORTING %s",
			    move->slot, cluster->ids[move->from]));
	freeReplyObject(ask(&cluster->servers[move->from], "CLUSTER SETSLOT %u MIGRATING %s",
			    move->slot, cluster->ids[move->to]));
}

size_t redis_cluster_move_some(const struct redis_cluster *cluster,
			       const struct redis_cluster_move *move)
{
	redisReply *keys =
	    ask(&cluster->servers[move->from], "CLUSTER GETKEYSINSLOT %u 2", move->slot);
	size_t count = keys->elements;

	for (size_t i = 0; i < count; i++)
		move_key(cluster, keys->element[i], move->from, move->to);
	freeReplyObject(keys);
	return count;
}

void redis_cluster_move_end(const struct redis_cluster *cluster,
			    const struct redis_cluster_move *move)
{
	const struct redis_server *servers = cluster->servers;
	const char *id = cluster->ids[move->to];

	freeReplyObject(ask(&servers[move->to], "CLUSTER SETSLOT %u NODE %s", move->slot, id));
	freeReplyObject(ask(&servers[move->from], "CLUSTER SETSLOT %u NODE %s", move->slot, id));
}

void redis_cluster_move(const struct redis_cluster *cluster, unsigned slot, unsigned from,
			unsigned to)
{
	const struct redis_cluster_move move = {slot, from, to};

	redis_cluster_move_begin(cluster, &move);
	while (redis_cluster_move_some(cluster, &move) > 0)
		;
	redis_cluster_move_end(cluster, &move);
}

void redis_cluster_fail_over(const struct redis_cluster *cluster, unsigned replica)
{
	freeReplyObject(ask(&cluster->servers[replica], "CLUSTER FAILOVER"));
}

void redis_cluster_take(const struct redis_cluster *cluster, unsigned replica)
{
	freeReplyObject(ask(&cluster->servers[replica], "CLUSTER FAILOVER TAKEOVER"));
}

/* node_at returns which node has the port. */
static unsigned node_at(const struct redis_cluster *cluster, long long port)
{
	unsigned node = 0;

	while (node < CLUSTER_NODES && cluster->servers[node].port != port)
		node++;
	return node;
}

static unsigned master_by(const struct redis_cluster *cluster, unsigned node, unsigned slot)
{
	redisReply *ranges = ask(&cluster->servers[node], "CLUSTER SLOTS");
	unsigned found = CLUSTER_NODES;

	for (size_t i = 0; i < ranges->elements; i++) {
		redisReply **range = ranges->element[i]->element;

		if (slot >= range[0]->integer && slot <= range[1]->integer)
			found = node_at(cluster, range[2]->element[1]->integer);
	}
	freeReplyObject(ranges);
	return found;
}

unsigned redis_cluster_master(const struct redis_cluster *cluster, unsigned slot, unsigned except)
{
	for (unsigned i = 0; i < CLUSTER_NODES; i++)
		if (i != except && cluster->servers[i].pid != 0)
			return master_by(cluster, i, slot);
	return CLUSTER_NODES;
}

void redis_cluster_tell(const struct redis_cluster *cluster, const char *command)
{
	for (unsigned i = 0; i < CLUSTER_NODES; i++)
		freeReplyObject(ask(&cluster->servers[i], command));
}

size_t redis_cluster_refusals(const struct redis_cluster *cluster)
{
	size_t count = 0;

	for (unsigned i = 0; i < CLUSTER_NODES; i++) {
		redisReply *reply = ask(&cluster->servers[i], "ACL LOG");

		count += reply->elements;
		freeReplyObject(reply);
	}
	return count;
}

void redis_cluster_end(struct redis_cluster *cluster)
{
	for (unsigned i = 0; i < CLUSTER_NODES; i++)
		redis_server_end(&cluster->servers[i]);
}
