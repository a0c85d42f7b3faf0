/* A redis-server and the scripts' model, side by side: each call is made of both, and their replies
 * must be the same; so must be, when asked, everything that is stored. The server's scripts take
 * the time from a key, so that both have the same. */
#ifndef DW_KEYSPACE_BOTH_H
#define DW_KEYSPACE_BOTH_H

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/rng.h"
#include "durawheel/ended.h"
#include "support/redis_server.h"
#include "keyspace/keyspace.h"

enum {
	BOTH_WORDS = 256,
	BOTH_ROOM = 64 * 1024,
	BOTH_OWNERS = 2,
	BOTH_CLIENTS = 3,
	BOTH_SHARDS = 2,
	BOTH_SOME = 5,           /* operands of one call, at most */
	BOTH_TTL_MS = 1000000000 /* what is to expire is deleted on both sides */
};

/* Who calls: an owner or a client, as far as it knows itself. */
struct caller {
	bool owner;
	char nonce[8];
	unsigned conn;
	char token[96]; /* an owner's */
	char era[40];
	uint64_t number; /* the last one used */
};

struct both {
	struct redis_server server;
	redisContext *redis;
	struct keyspace *keyspace;
	char (*sha1)[41]; /* of the server's scripts, which have the key's time */
	struct rng rng;
	dw_usec now;
	unsigned shard;
	bool full;
	struct caller owners[BOTH_SHARDS][BOTH_OWNERS];
	struct caller clients[BOTH_SHARDS][BOTH_CLIENTS];
	uint64_t calls;
	uint64_t last_rows[2]; /* of two journals, that were replayed */
	/* The call that is being made. */
	const char *script;
	int count;
	const char *words[BOTH_WORDS];
	size_t sizes[BOTH_WORDS];
	char room[BOTH_ROOM];
	size_t used;
};

/* both_open starts the server; both_close ends it and frees all. both_twin opens the model only. */
void both_open(struct both *);
void both_twin(struct both *);
void both_close(struct both *);

uint64_t both_draw(struct both *, uint64_t limit);

/* The words of a call: both_begin takes the first one, both_begin_script the keys, too. */
void both_begin(struct both *, const char *word);
void both_begin_script(struct both *, const char *script, const char *nonce);
void both_bytes(struct both *, const void *bytes, size_t size);
void both_text(struct both *, const char *text);
void both_number(struct both *, uint64_t number);
void both_key(struct both *, const char *end);

/* both_call makes the call of both; the model's reply, the caller's. */
struct reply *both_call(struct both *);

/* both_command asks the server only; a redisReply. */
void *both_command(struct both *, const char *format, ...);

/* both_set_clock tells the server what time it is. */
void both_set_clock(struct both *);

/* both_compare looks at every key of both. */
void both_compare(struct both *);

/* both_why: the operand of a text of dw_why(), often none. */
void both_why(struct both *);

/* both_delivery: the operands id, version and attempt, mostly of what is stored. */
void both_delivery(struct both *, const char *id);

/* both_step makes a random call; both_body and both_due are operands of a put. */
void both_step(struct both *);
void both_due(struct both *);
void both_body(struct both *, const char *id);
/* both_put_one: the operands of a put of id. both_value: only its value. */
void both_value(struct both *, const char *id);
void both_value_of(struct both *, const char *id, uint64_t ver);
void both_put_one(struct both *, const char *id);

/* What random calls are made of. Who calls knows what it should say, and both_begin_guarded says
 * something else now and then; both_guarded learns from the answer. */
const char *both_id(struct both *);
const char *both_id_at(uint64_t number); /* those of numbers in a row differ, 6 of them */
unsigned both_some(struct both *);       /* of BOTH_SOME */
/* both_stored: the value of a timer of the shard; NULL: none. */
const unsigned char *both_stored(struct both *, const char *id, size_t *ret_size);

/* both_version: of the stored timer, as far as a double is exact; 0: there is none. */
uint64_t both_version(struct both *, const char *id);
/* both_time: about so far before and after now. What it is compared with is a moment of somebody's
 * among millions, so now and then it is just that, or beside it. */
uint64_t both_time(struct both *, uint64_t before, uint64_t after);
dw_usec both_any_due(struct both *);
/* both_score: a place among the timers, often that of one. */
int64_t both_score(struct both *);
struct caller *both_caller(struct both *, bool owner);
void both_begin_guarded(struct both *, const char *script, const struct caller *);
void both_guarded(struct both *, struct caller *);
void both_plainly(struct both *);

/* both_known.c */
void both_claim_known(struct both *);
void both_settle_known(struct both *);
void both_bury(struct both *);
void both_next(struct both *);
void both_next_known(struct both *);

/* both_ends.c: both_started and both_result are operands. both_keep: for a record. both_keeps:
 * the topics keep the ends of their timers, or no more. */
dw_usec both_keep(struct both *);
void both_started(struct both *);
void both_result(struct both *);
void both_settle(struct both *);
void both_ended(struct both *);
void both_keeps(struct both *);

/* both_replay.c */
void both_replay(struct both *);
void both_confirm(struct both *);

/* both_newer.c: a value becomes one of a later version; a shard is marked so, or no more. */
void both_newer(struct both *);
void both_format(struct both *);

/* both_more.c */
void both_status(struct both *);
void both_types(struct both *);
void both_report(struct both *);
void both_purge(struct both *);
void both_acquire(struct both *);
void both_renew(struct both *);
void both_release(struct both *);
void both_session(struct both *);
void both_hand(struct both *);
void both_shard(struct both *);
void both_inbox(struct both *);
void both_page(struct both *);
void both_dead_page(struct both *);
void both_orphans(struct both *);

/* both_index.c: the index by topic, what others do to it, and pages of a topic. */
void both_index(struct both *);
void both_tear_index(struct both *);
void both_topic_page(struct both *);
/* both_member: the operand of a settle: a member of the id, or any. */
void both_member(struct both *, const char *id);

#endif
