/* Timers in a part of the store that is cut off. Those that come due wait outside of the schedules
 * until the part is in use again. */
#ifndef DW_ENGINE_CUT_OFF_H
#define DW_ENGINE_CUT_OFF_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct timer;

struct cut_off {
	unsigned parts;   /* that are cut off */
	uint64_t recheck; /* so many waiting timers are to be looked at, from the first one on */
};

/* cut_off_holds: the timer has come out of its schedule, and waits for its part now. */
bool cut_off_holds(struct engine *, struct timer *);

/* cut_off_covers: an operation on the id fails because its part is cut off. */
bool cut_off_covers(const struct engine *, const char *id);

/* cut_off_watch tells the program of parts that were cut off, or are in use again. */
void cut_off_watch(struct engine *);

#endif
