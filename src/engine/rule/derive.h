/* What was computed by a clock that was far ahead, and was set back since, is computed again: the
 * occurrences of rules (occurrences.c) and the back-offs of retries. What somebody has given or
 * moved stays. After a step back of less than DERIVED_AGAIN all stays, as cron does, so that
 * nothing that was delivered comes again. */
#ifndef DW_ENGINE_DERIVE_H
#define DW_ENGINE_DERIVE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct engine;
struct clock_steps;

struct derive {
	bool is_wanted; /* the clock was set back: all timers are to be looked at */
	dw_usec at;     /* steady time before which nothing is done */
};

/* derive_again lets derive_round look at all timers. */
void derive_again(struct clock_steps *);
void derive_round(struct engine *);

#endif
