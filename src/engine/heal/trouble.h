/* Reports the store's troubles as events: it failed, it is back, it is slow. */
#ifndef DW_ENGINE_TROUBLE_H
#define DW_ENGINE_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

#define SLOW_AFTER DW_MILLISECONDS(50)       /* for claims and verdicts */
#define SLOW_PUTS_AFTER DW_MILLISECONDS(500) /* while there are none under way */
#define BACK_AFTER DW_SECONDS(1)             /* without a failure: the store is back */
#define SLOW_AGAIN DW_SECONDS(10)            /* a slow store is reported once in this time */

struct engine;

struct trouble {
	bool failing;       /* the program was told, and not yet that the store is back */
	uint64_t outages;   /* how often it was told */
	bool declared;      /* the store itself says that it is in trouble */
	bool succeeds;      /* an operation was done since the last one failed */
	dw_usec failed_at;  /* steady; when that was */
	int status;         /* what the store has said of itself in this turn */
	bool is_away;       /* nothing could be asked of it */
	dw_usec slow_until; /* steady; a slow store is not reported again before */
};

/* trouble_failed is called when an operation of the engine itself has failed. trouble_over: an
 * operation has succeeded. */
void trouble_failed(struct engine *, int status, const char *id);
void trouble_over(struct trouble *);

/* trouble_begin and trouble_end ask the store about its state: the first before a turn's answers,
 * the second after them. So failed answers between the two belong to the trouble that the store has
 * declared. */
void trouble_begin(struct engine *);
void trouble_end(struct engine *);

/* trouble_watch_slow reports a store that owes answers for a long time. trouble_wake returns when
 * to look again. */
void trouble_watch_slow(struct engine *);
dw_usec trouble_wake(const struct engine *, dw_usec now);

/* trouble_tell raises the events that the store wants to tell. */
void trouble_tell(struct engine *);

#endif
