/* The handler of a batch, on the engine of a harness. It records its batches. An id is one letter,
 * or a longer text whose first letter counts. */
#ifndef DW_TESTS_BATCHES_H
#define DW_TESTS_BATCHES_H

#include "support/harness.h"

#define BATCH_OF 4 /* the number of timers in a batch, unless a test sets another number */

/* The records of the handler, and what it returns. */
struct batches {
	struct harness *h;
	char calls[4096]; /* the letters of all batches, with a bar after each batch */
	size_t size;
	uint32_t attempts[256]; /* the last attempt of each letter */
	dw_token tokens[256];
	dw_verdict verdicts[256];
	dw_usec retry_in; /* the delay of each DW_RETRY */
	dw_usec at;       /* the time of the last call */
	void (*inside)(struct harness *, dw_batch *);
};

extern struct batches batches;

dw_batch_fn batches_handler(void);
/* batches_on registers the handler for topic t. batches_begin registers it with BATCH_OF on an
 * engine that has just begun. */
int batches_on(struct harness *, size_t max, dw_usec wait, int on_worker);
struct harness *batches_begin(struct harness *, dw_usec wait, int on_worker);

/* batches_put puts `count` timers, beginning with the letter `first`. Each timer is due one step
 * after the one before it. */
void batches_put(struct harness *, char first, int count, dw_usec step);
/* batches_pass lets time pass as harness_pass() does, and checks the engine. */
void batches_pass(struct harness *, dw_usec duration);

#endif
