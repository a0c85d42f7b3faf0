/* A Redis store whose link leads to the twin, on a clock that the test moves. */
#ifndef DW_TESTS_TWIN_STORE_H
#define DW_TESTS_TWIN_STORE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/redis/link.h"
#include "support/twin.h"

enum { TWIN_STORE_REPLIES_MAX = 4096 };

struct twin_store {
	struct link link; /* first */
	struct alloc alloc;
	struct twin *twin;
	dw_store *store;
	dw_usec now; /* both clocks */

	/* The link answers after delay. Unless it is NULL, change is called as soon as the twin has
	 * replied to a command, and may give another reply; script is "" for a plain command. */
	dw_usec delay;
	struct reply *(*change)(struct twin_store *, const char *script, struct reply *);
	struct reply *replies[TWIN_STORE_REPLIES_MAX];
	dw_usec ready[TWIN_STORE_REPLIES_MAX]; /* when each reply can be taken */
	unsigned first, count;
	uint64_t connection;
	bool down;
	unsigned drops;
	unsigned given; /* replies so far */
};

/* twin_store_open: a client of one empty shard, in the namespace "twin". The caller has set all to
 * zero but delay and change. */
void twin_store_open(struct twin_store *);

/* twin_store_close stops the store and frees it with the answers that nobody took. */
void twin_store_close(struct twin_store *);

/* twin_store_turn: one turn of the store, 10 ms later. */
void twin_store_turn(struct twin_store *);

/* twin_store_done submits op and turns until it is answered, op itself, which the caller frees.
 * NULL: it was not answered within 30 s of the test's clock. A LOSS of the caller's that is
 * answered meanwhile is submitted again, as by an engine that has nothing to push. */
dw_op *twin_store_done(struct twin_store *, dw_op *);

/* twin_store_wait turns for so long. */
void twin_store_wait(struct twin_store *, dw_usec);

/* twin_store_command carries a command out, as another program would; words end with NULL. */
void twin_store_command(struct twin_store *, const char *const *words);

#endif
