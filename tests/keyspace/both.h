/* A redis-server and a keyspace, side by side. Each call goes to both, and their replies must be
 * the same. both_compare() also compares everything that they store. The server's scripts read the
 * time from a key, so that both sides have the same time. */
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
	BOTH_ROUNDS = 4,         /* the largest number of operands in one call */
	BOTH_TTL_MS = 1000000000 /* a key that is to expire is deleted on both sides instead */
};

/* A caller, which is an owner or a client, and what it knows about itself. */
struct caller {
	bool owner;
	char nonce[8];
	unsigned conn;
	char token[96]; /* the token of an owner */
	char era[40];
	uint64_t number; /* the last number that it has used */
};

struct both {
	struct redis_server server;
	redisContext *redis;
	struct keyspace *keyspace;
	char (*sha1)[41]; /* the hashes of the server's scripts, which read the time from the key */
	struct rng rng;
	dw_usec now;
	unsigned shard;
	enum keyspace_refusal refusal;
	struct caller owners[BOTH_SHARDS][BOTH_OWNERS];
	struct caller clients[BOTH_SHARDS][BOTH_CLIENTS];
	uint64_t calls;
	/* The call that is being built. */
	const char *script; /* NULL for a plain command */
	int count;
	const char *words[BOTH_WORDS];
	size_t sizes[BOTH_WORDS];
	char room[BOTH_ROOM];
	size_t used;
	/* The values from which its words are made. */
	struct caller *caller;
	const char *id;
	unsigned first, round, rounds;
	uint64_t version;
	unsigned flags[BOTH_ROUNDS];
	unsigned char values[BOTH_ROUNDS][1024];
	size_t value_sizes[BOTH_ROUNDS];
};

/* both_open starts the server. both_close ends the server and frees everything. both_twin opens
 * only the keyspace. */
void both_open(struct both *);
void both_twin(struct both *);
void both_close(struct both *);

uint64_t both_draw(struct both *, uint64_t limit);

/* These functions build the words of a call. both_begin begins with the first word.
 * both_begin_script begins with the words of EVALSHA up to its keys. The keys of queues belong to
 * the topic "game". */
void both_begin(struct both *, const char *word);
void both_begin_script(struct both *, const char *script, const char *session);
void both_bytes(struct both *, const void *bytes, size_t size);
void both_text(struct both *, const char *text);
void both_number(struct both *, uint64_t number);
void both_key(struct both *, const char *end); /* a key of the shard */

/* both_words adds random words as the format says (both_words.c). */
void both_words(struct both *, const char *format);

/* both_call sends the call to both sides. Returns the keyspace's reply, which the caller frees. */
struct reply *both_call(struct both *);

/* both_refuse makes both sides refuse commands from now on. KEYSPACE_ACCEPTS ends that. */
void both_refuse(struct both *, enum keyspace_refusal, const char *denied);

/* both_set_clock gives the server the time of the test. */
void both_set_clock(struct both *);

/* both_compare compares every key of both sides. */
void both_compare(struct both *);

/* both_step sends a random call. */
void both_step(struct both *);

#endif
