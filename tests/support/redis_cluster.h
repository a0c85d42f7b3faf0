/* A Redis Cluster of three masters and three replicas, each a redis-server for one test on
 * 127.0.0.1. */
#ifndef DW_TESTS_REDIS_CLUSTER_H
#define DW_TESTS_REDIS_CLUSTER_H

#include "support/redis_server.h"

enum { CLUSTER_MASTERS = 3, CLUSTER_NODES = 6, CLUSTER_SLOTS = 16384 };

struct redis_cluster {
	struct redis_server servers[CLUSTER_NODES]; /* server i + 3 is the replica of server i */
	char ids[CLUSTER_NODES][48];
	char ports[CLUSTER_NODES][8]; /* the ports of the cluster bus */
	const char *options[CLUSTER_NODES][12];
	char url[128]; /* names the first two masters */
};

/* redis_cluster_start starts everything, and waits until all nodes agree. The nodes consider a node
 * as failed after 1 s. */
void redis_cluster_start(struct redis_cluster *);

/* The migration of a slot to another master. */
struct redis_cluster_move {
	unsigned slot, from, to;
};

/* redis_cluster_move moves all keys of the slot to another master, and then the slot. The other
 * three functions are its steps. _some moves a few keys, and returns how many keys the slot had.
 * _end waits until the two masters agree. */
void redis_cluster_move(const struct redis_cluster *, unsigned slot, unsigned from, unsigned to);
void redis_cluster_move_begin(const struct redis_cluster *, const struct redis_cluster_move *);
size_t redis_cluster_move_some(const struct redis_cluster *, const struct redis_cluster_move *);
void redis_cluster_move_end(const struct redis_cluster *, const struct redis_cluster_move *);

/* redis_cluster_fail_over makes a replica the master while the old master lives. redis_cluster_take
 * does so without the agreement of other nodes. */
void redis_cluster_fail_over(const struct redis_cluster *, unsigned replica);
void redis_cluster_take(const struct redis_cluster *, unsigned replica);

/* redis_cluster_master returns which node has the slot, according to a running node other than
 * `except`. It returns CLUSTER_NODES if no node knows. */
unsigned redis_cluster_master(const struct redis_cluster *, unsigned slot, unsigned except);

/* redis_cluster_owner returns which master has the slot at the start. */
unsigned redis_cluster_owner(unsigned slot);

/* redis_cluster_tell sends a command to every node. redis_cluster_refusals counts the commands that
 * the nodes have refused to a user (ACL LOG). */
void redis_cluster_tell(const struct redis_cluster *, const char *command);
size_t redis_cluster_refusals(const struct redis_cluster *);

void redis_cluster_end(struct redis_cluster *);

#endif
