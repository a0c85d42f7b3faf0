/* The handler of a batch, on the engine of a harness. It writes down what it gets. Ids are one
 * letter, or more of which the first one counts. */
#ifndef DW_TESTS_BATCHES_H
#define DW_TESTS_BATCHES_H

#include "support/harness.h"

#define BATCH_OF 4 /* timers in a batch, unless a test says more */

/* What the handler has seen, and what it says. */
struct batches {
	struct harness *h;
	char calls[4096]; /* the letters, a bar behind each batch */
	size_t size;
	uint32_t attempts[256]; /* by letter, as the next three */
	dw_token tokens[256];
	dw_verdict verdicts[256];
	dw_usec retry_in; /* of each DW_RETRY */
	dw_usec at;       /* of the last call */
	void (*inside)(struct harness *, dw_batch *);
};

extern struct batches batches;

dw_batch_fn batches_handler(void);
/* batches_on registers the handler for topic t; batches_begin does so on an engine that has just
 * begun, with BATCH_OF. */
int batches_on(struct harness *, size_t max, dw_usec wait, int on_worker);
struct harness *batches_begin(struct harness *, dw_usec wait, int on_worker);

/* batches_put puts count timers, from the letter first on, due one step after the other. */
void batches_put(struct harness *, char first, int count, dw_usec step);
/* batches_pass: harness_pass, and the engine is whole. */
void batches_pass(struct harness *, dw_usec duration);

#endif
