/* The clocks as an interface, so that a simulation can set them. The engine reads the wall clock
 * once a turn and passes the time down. Nothing below the engine reads a clock. */
#ifndef DW_PORT_CLOCK_H
#define DW_PORT_CLOCK_H

#include <stdatomic.h>

#include "durawheel/durawheel.h"

struct clock {
	dw_usec (*wall)(void *user);   /* for deadlines; may be set forwards and backwards */
	dw_usec (*steady)(void *user); /* for durations; only grows */
	void *user;
};

/* clock_system returns the kernel's clocks: CLOCK_REALTIME and CLOCK_BOOTTIME. */
struct clock clock_system(void);

/* clock_hook lets the caller's function be the wall clock. */
void clock_hook(struct clock *, dw_usec (*wall)(void *user), void *user);

/* clock_standing returns two clocks that both show *now, which only its owner changes. */
struct clock clock_standing(_Atomic dw_usec *now);

#endif
