/* When a clock that was far ahead is set back, deadlines that were computed by it are computed
 * again: the occurrences of rules (occurrences.c) and the back-offs of retries. A deadline that a
 * caller has set or moved stays. After a step back of less than DERIVED_AGAIN all deadlines stay,
 * as in cron, so that no occurrence is delivered twice. */
#ifndef DW_ENGINE_DERIVE_H
#define DW_ENGINE_DERIVE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct engine;
struct clock_steps;

struct derive {
	bool is_wanted; /* the clock was set back, so all timers must be looked at */
	dw_usec at;     /* steady time before which nothing is done */
};

/* derive_again lets derive_round look at all timers. */
void derive_again(struct clock_steps *);
void derive_round(struct engine *);

/* derive_wake returns when derive_round has work; wall time. */
dw_usec derive_wake(const struct engine *, dw_usec now);

#endif
