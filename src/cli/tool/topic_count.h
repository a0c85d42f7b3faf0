/* Counts the timers of each topic if the store has no owner that counts them. */
#ifndef DW_CLI_TOPIC_COUNT_H
#define DW_CLI_TOPIC_COUNT_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct topic_tally {
	char name[DW_TOPIC_MAX + 1];
	uint64_t pending, due, running;
};

struct topic_tallies {
	struct topic_tally *items; /* sorted by name */
	size_t count;
	bool is_whole; /* all timers were counted */
};

/* topic_count reads all timers to count them, and prints that it does so. If a process owns the
 * store, nothing is read. Returns EXIT_DONE, or complains. topic_count_free frees the result. */
int topic_count(dw *, struct topic_tallies *);
void topic_count_free(struct topic_tallies *);

#endif
