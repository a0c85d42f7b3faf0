/* Several Redis stores in one thread that are peers of one namespace. The town does for each of
 * them what an engine does: it gives surplus shards away. No two peers may own a shard at the same
 * time. */
#ifndef DW_TESTS_TOWN_H
#define DW_TESTS_TOWN_H

#include "support/ask.h"
#include "support/redis_server.h"

enum { TOWN_MEMBERS = 5, TOWN_SHARDS = 16 };

struct town_member {
	struct ask ask;        /* ask.store is NULL if there is no such member */
	dw_op *give;           /* the GIVE that has no answer yet */
	unsigned next;         /* the next shard to give away */
	unsigned gained, lost; /* the numbers of shards that it has gained and lost */
};

struct town {
	struct redis_server server;
	char url[TEMP_SIZE + 64];
	dw_usec clock; /* the wall clock of all members */
	dw_usec lease;
	bool keeps; /* no member gives a shard away */
	struct town_member members[TOWN_MEMBERS];
};

/* town_open starts the server. town_close closes all members, and ends the server. */
void town_open(struct town *, dw_usec lease);
void town_close(struct town *);

/* town_join opens a member. town_join_at opens a member by another URL. They wait until its OWN is
 * answered. */
void town_join(struct town *, unsigned member);
void town_join_at(struct town *, unsigned member, const char *url);

/* town_leave closes a member as an ending process does. town_kill ends a member without telling the
 * others. */
void town_leave(struct town *, unsigned member);
void town_kill(struct town *, unsigned member);

/* town_turn turns all members. town_await turns them until member i has counts[i] shards. counts
 * ends with -1. */
void town_turn(struct town *);
void town_await(struct town *, const int *counts);

/* town_await_op turns all members until the operation of a member is answered, and frees it.
 * Returns its status. */
int town_await_op(struct town *, unsigned member, dw_op *);
int town_ask(struct town *, unsigned member, dw_op *);

bool town_has(const struct town *, unsigned member, unsigned shard);
int town_count(const struct town *, unsigned member);

/* town_shard_of returns a shard of the member. town_id returns an id in that shard. */
unsigned town_shard_of(const struct town *, unsigned member);
const char *town_id(unsigned shard);

/* town_command sends a command to the server, as another program would. */
void town_command(struct town *, const char *command);

#endif
