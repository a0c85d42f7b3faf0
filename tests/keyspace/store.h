/* A Redis store whose link leads to a keyspace, on a clock that the test moves. */
#ifndef DW_SCRIPT_STORE_H
#define DW_SCRIPT_STORE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/link.h"
#include "keyspace/keyspace.h"

enum { STORE_REPLIES_MAX = 4096 };

struct keyspace_store {
	struct link link; /* first */
	struct alloc alloc;
	struct keyspace *keyspace;
	dw_store *store;
	unsigned shards; /* 0: one */
	dw_usec now;     /* both clocks */

	/* The link answers after delay. Unless it is NULL, change is called as soon as the keyspace
	 * has replied to a command, and may give another reply; script is "" for a plain
	 * command, key the script's first one. */
	dw_usec delay;
	struct reply *(*change)(struct keyspace_store *, const char *script, struct reply *);
	const char *key;
	struct reply *replies[STORE_REPLIES_MAX];
	dw_usec ready[STORE_REPLIES_MAX]; /* when each reply can be taken */
	unsigned first, count;
	uint64_t connection;
	bool down;
	unsigned drops;
	unsigned given; /* replies so far */
};

/* keyspace_store_open: a client of empty shards, in the namespace "twin". The caller has set all
 * to zero but shards, delay and change. */
void keyspace_store_open(struct keyspace_store *);

/* keyspace_store_close stops the store and frees it with the answers that nobody took. */
void keyspace_store_close(struct keyspace_store *);

/* keyspace_store_turn: one turn of the store, 10 ms later. */
void keyspace_store_turn(struct keyspace_store *);

/* keyspace_store_done submits op and turns until it is answered, op itself, which the caller frees.
 * NULL: it was not answered within 30 s of the test's clock. A LOSS of the caller's that is
 * answered meanwhile is submitted again, as by an engine that has nothing to push. */
dw_op *keyspace_store_done(struct keyspace_store *, dw_op *);

/* keyspace_store_wait turns for so long. */
void keyspace_store_wait(struct keyspace_store *, dw_usec);

/* keyspace_store_command carries a command out, as another program would; words end with NULL. */
void keyspace_store_command(struct keyspace_store *, const char *const *words);

#endif
