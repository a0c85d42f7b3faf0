/* A redis-server and a keyspace, side by side: each call is made of both, and their replies must be
 * the same; so must be, when asked, everything that is stored. The server's scripts take the time
 * from a key, so that both have the same. */
#ifndef DW_KEYSPACE_BOTH_H
#define DW_KEYSPACE_BOTH_H

#include <hiredis/hiredis.h>

#include "base/rng.h"
#include "keyspace/keyspace.h"
#include "support/redis_server.h"

enum {
	BOTH_WORDS = 256,
	BOTH_ROOM = 64 * 1024,
	BOTH_OWNERS = 2,
	BOTH_CLIENTS = 3,
	BOTH_SHARDS = 2,
	BOTH_IDS = 6,
	BOTH_ROUNDS = 4,         /* operands of one call, at most */
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
	enum keyspace_refusal refusal;
	struct caller owners[BOTH_SHARDS][BOTH_OWNERS];
	struct caller clients[BOTH_SHARDS][BOTH_CLIENTS];
	uint64_t calls;
	/* The call that is being made. */
	const char *script; /* NULL: a plain command */
	int count;
	const char *words[BOTH_WORDS];
	size_t sizes[BOTH_WORDS];
	char room[BOTH_ROOM];
	size_t used;
	/* What its words are made of. */
	struct caller *caller;
	const char *id;
	unsigned first, round, rounds;
	uint64_t version;
	unsigned flags[BOTH_ROUNDS];
	unsigned char values[BOTH_ROUNDS][1024];
	size_t value_sizes[BOTH_ROUNDS];
};

/* both_open starts the server; both_close ends it and frees all. both_twin opens the keyspace
 * only. */
void both_open(struct both *);
void both_twin(struct both *);
void both_close(struct both *);

uint64_t both_draw(struct both *, uint64_t limit);

/* The words of a call: both_begin takes the first one, both_begin_script those of EVALSHA up to its
 * keys; those of queues are of the topic "game". */
void both_begin(struct both *, const char *word);
void both_begin_script(struct both *, const char *script, const char *session);
void both_bytes(struct both *, const void *bytes, size_t size);
void both_text(struct both *, const char *text);
void both_number(struct both *, uint64_t number);
void both_key(struct both *, const char *end); /* of the shard */

/* both_words says random words as the format tells: both_words.c. */
void both_words(struct both *, const char *format);

/* both_call makes the call of both; the keyspace's reply, the caller's. */
struct reply *both_call(struct both *);

/* both_refuse: both refuse commands from now on, or no more. */
void both_refuse(struct both *, enum keyspace_refusal, const char *denied);

/* both_set_clock tells the server what time it is. */
void both_set_clock(struct both *);

/* both_compare looks at every key of both. */
void both_compare(struct both *);

/* both_step makes a random call. */
void both_step(struct both *);

#endif
