/* The inside of a history. */
#ifndef DW_TESTS_HISTORY_INSIDE_H
#define DW_TESTS_HISTORY_INSIDE_H

#include <stdbool.h>

#include "support/history.h"

struct fault {
	dw_usec from;
	dw_usec until;
	uint64_t parts;
};

struct history {
	struct history_event *events;
	size_t count;
	size_t capacity;
	struct fault *faults;
	size_t fault_count;
	size_t fault_capacity;
	struct fault *replaced; /* the faults that history_replaced_in() has added */
	size_t replaced_count;
	size_t replaced_capacity;
	size_t counts[HISTORY_KINDS];
	bool has_journals;
	unsigned (*part_of)(size_t number); /* NULL: all timers are in part 0 */
};

/* history_part returns the part of a timer. history_is_in returns true if the timer is in one of
 * these parts. */
unsigned history_part(const struct history *, size_t number);
bool history_is_in(const struct history *, uint64_t parts, size_t number);

#endif
