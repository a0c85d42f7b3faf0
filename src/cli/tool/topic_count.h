/* Counts the timers of each topic, for a store without an owner. */
#ifndef DW_CLI_TOPIC_COUNT_H
#define DW_CLI_TOPIC_COUNT_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct topic_tally {
	char name[DW_TOPIC_MAX + 1];
	uint64_t pending, due, running;
};

struct topic_tallies {
	struct topic_tally *items; /* in the order of their names */
	size_t count;
	bool is_whole; /* all timers were counted */
};

/* topic_count looks at all timers if no process owns the store, and says so. Otherwise it counts
 * none. An exit code. topic_count_free frees what it has counted. */
int topic_count(dw *, struct topic_tallies *);
void topic_count_free(struct topic_tallies *);

#endif
