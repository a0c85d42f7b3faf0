/* A master, its replicas and three Sentinels, each a redis-server for one test on 127.0.0.1. */
#ifndef DW_TESTS_SENTINEL_TOWN_H
#define DW_TESTS_SENTINEL_TOWN_H

#include "support/redis_server.h"

enum { TOWN_SENTINELS = 3, TOWN_SERVERS_MAX = 3 };

struct sentinel_town {
	struct redis_server servers[TOWN_SERVERS_MAX]; /* the first one is the master at first */
	unsigned count;
	struct redis_server sentinels[TOWN_SENTINELS];
	char configs[TOWN_SENTINELS][512];
	char url[160]; /* names the first two Sentinels, and the user of the servers */
};

/* sentinel_town_start starts everything, and waits until all Sentinels know each other and the
 * replicas. The Sentinels consider a master as down after 1.5 s without an answer. */
void sentinel_town_start(struct sentinel_town *, unsigned replicas);

/* sentinel_town_master returns the number of the server that a majority of the Sentinels names. */
unsigned sentinel_town_master(const struct sentinel_town *);

/* sentinel_town_named does the same, but returns the number of servers if there is no majority. */
unsigned sentinel_town_named(const struct sentinel_town *);

/* sentinel_town_await waits until a majority names another server than `last`. Returns the number
 * of that server. */
unsigned sentinel_town_await(const struct sentinel_town *, unsigned last);

/* sentinel_town_cut makes a server refuse the Sentinels. It still serves all other clients.
 * sentinel_town_mend ends this. */
void sentinel_town_cut(const struct sentinel_town *, unsigned number);
void sentinel_town_mend(const struct sentinel_town *, unsigned number);

void sentinel_town_end(struct sentinel_town *);

#endif
