/* Queues the deliveries of one topic while all of its commands are busy. The timers stay claimed in
 * the store. The backlog copies the deliveries with their data. */
#ifndef DW_CLI_BACKLOG_H
#define DW_CLI_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

/* The deliveries for one command: a single one, or a batch. */
struct backlog_entry {
	struct backlog_entry *next;
	size_t count;
	size_t bytes;
	bool is_batch;
	bool is_begun; /* dw_start() has told the library that the deliveries start */
	/* The deliveries. Everything that they point to is in the same block of memory. */
	dw_firing *firings;
};

struct backlog {
	struct backlog_entry *first;
	struct backlog_entry *last;
	size_t count; /* the number of deliveries in the backlog */
	size_t bytes;
};

/* backlog_put copies the deliveries to the end of the backlog. Returns false if out of memory. */
bool backlog_put(struct backlog *, const dw_firing *firings, size_t count, bool is_batch);

/* backlog_take removes the first entry, which the caller frees. Returns NULL if the backlog is
 * empty. */
struct backlog_entry *backlog_take(struct backlog *);

/* backlog_put_back puts an entry that was taken at the beginning again. */
void backlog_put_back(struct backlog *, struct backlog_entry *);

/* backlog_drop frees all entries. Their timers stay claimed in the store. */
void backlog_drop(struct backlog *);

#endif
