/* A Redis store whose link leads to a keyspace. The test moves its clock. */
#ifndef DW_SCRIPT_STORE_H
#define DW_SCRIPT_STORE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/link.h"
#include "keyspace/keyspace.h"

enum { STORE_REPLIES_MAX = 4096 };

struct keyspace_store {
	struct link link; /* must be first */
	struct alloc alloc;
	struct keyspace *keyspace;
	dw_store *store;
	unsigned shards; /* the number of shards; 0 means one */
	dw_usec now;     /* the time of the wall clock and of the steady clock */

	/* The link answers after `delay`. If change is not NULL, it is called as soon as the
	 * keyspace has replied to a command, and may return another reply. script is "" for a plain
	 * command. key is the first key of the script. */
	dw_usec delay;
	struct reply *(*change)(struct keyspace_store *, const char *script, struct reply *);
	const char *key;
	struct reply *replies[STORE_REPLIES_MAX];
	dw_usec ready[STORE_REPLIES_MAX]; /* when each reply may be taken */
	unsigned first, count;
	uint64_t connection;
	bool down;
	unsigned drops;
	unsigned given; /* the number of replies so far */
};

/* keyspace_store_open opens a client of empty shards in the namespace "twin". Before that, the
 * caller sets all fields to zero except shards, delay and change. */
void keyspace_store_open(struct keyspace_store *);

/* keyspace_store_close stops the store and frees it with the answers that nobody took. */
void keyspace_store_close(struct keyspace_store *);

/* keyspace_store_turn advances the clock by 10 ms and turns the store. */
void keyspace_store_turn(struct keyspace_store *);

/* keyspace_store_done submits op and turns until the store answers it. Returns op, which the caller
 * frees, or NULL if there was no answer within 30 s of the test's clock. If the store answers a
 * LOSS meanwhile, the LOSS is submitted again, as an engine does that has nothing to restore. */
dw_op *keyspace_store_done(struct keyspace_store *, dw_op *);

/* keyspace_store_wait turns the store for this time. */
void keyspace_store_wait(struct keyspace_store *, dw_usec);

/* keyspace_store_command runs a command as another program would. The words end with NULL. */
void keyspace_store_command(struct keyspace_store *, const char *const *words);

#endif
