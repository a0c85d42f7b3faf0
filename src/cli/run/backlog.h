/* Deliveries of a topic that wait until one of its commands has ended, in order. They are held in
 * the store, and copied with their data. */
#ifndef DW_CLI_BACKLOG_H
#define DW_CLI_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

/* What one command gets: a delivery, or a batch. */
struct backlog_entry {
	struct backlog_entry *next;
	size_t count;
	size_t bytes;
	bool is_batch;
	/* The deliveries and all that they point to, in the same block of memory. */
	dw_firing *firings;
};

struct backlog {
	struct backlog_entry *first;
	struct backlog_entry *last;
	size_t count; /* how many deliveries the backlog has */
	size_t bytes;
};

/* backlog_put copies the deliveries to the end. Returns false if out of memory. */
bool backlog_put(struct backlog *, const dw_firing *firings, size_t count, bool is_batch);

/* backlog_take takes the first entry out; the caller frees it. Returns NULL if there is none. */
struct backlog_entry *backlog_take(struct backlog *);

/* backlog_drop frees all entries. Their deliveries stay held. */
void backlog_drop(struct backlog *);

#endif
