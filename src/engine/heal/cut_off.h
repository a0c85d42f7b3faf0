/* Timers in a part of the store that is cut off. If such a timer comes due, it waits outside of the
 * schedules until the part is in use again. */
#ifndef DW_ENGINE_CUT_OFF_H
#define DW_ENGINE_CUT_OFF_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct timer;

struct cut_off {
	unsigned parts; /* how many parts are cut off */
	/* How many suspended timers must still be looked at, counted from the first. */
	uint64_t recheck;
};

/* cut_off_holds looks at a timer that has come out of its schedule. If the timer's part is cut off,
 * it suspends the timer and returns true. */
bool cut_off_holds(struct engine *, struct timer *);

/* cut_off_covers returns true if operations on the id fail because its part is cut off. */
bool cut_off_covers(const struct engine *, const char *id);

/* cut_off_watch tells the program which parts were cut off or are in use again. */
void cut_off_watch(struct engine *);

#endif
