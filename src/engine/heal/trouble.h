/* Reports the store's troubles as events: it failed, it is back, it is slow. */
#ifndef DW_ENGINE_TROUBLE_H
#define DW_ENGINE_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

/* Answers to claims and verdicts count as slow after this time. */
#define SLOW_AFTER DW_MILLISECONDS(50)
/* Answers count as slow after this time if no claims or verdicts are under way. */
#define SLOW_PUTS_AFTER DW_MILLISECONDS(500)
#define BACK_AFTER DW_SECONDS(1)  /* after this time without a failure the store counts as back */
#define SLOW_AGAIN DW_SECONDS(10) /* a slow store is reported once in this time */

struct engine;

struct trouble {
	bool failing;       /* the program knows that the store fails; the store is not back yet */
	uint64_t outages;   /* number of outages that the program was told of */
	bool declared;      /* the store itself says that it is in trouble */
	bool succeeds;      /* an operation has succeeded since the last failure */
	dw_usec failed_at;  /* steady; when the last operation failed */
	int status;         /* the state that the store has reported in this turn */
	bool is_away;       /* the store could not be asked for anything */
	dw_usec slow_until; /* steady; before this time a slow store is not reported again */
};

/* trouble_failed is called when an operation that the engine itself has made has failed.
 * trouble_over is called when such an operation has succeeded. */
void trouble_failed(struct engine *, int status, const char *id);
void trouble_over(struct trouble *);

/* trouble_begin and trouble_end ask the store about its state. trouble_begin does so before a
 * turn's answers, trouble_end after them. So answers that failed in between belong to the trouble
 * that the store has declared. */
void trouble_begin(struct engine *);
void trouble_end(struct engine *);

/* trouble_watch_slow reports a store that owes answers for a long time. trouble_wake returns when a
 * turn must look at the store again. */
void trouble_watch_slow(struct engine *);
dw_usec trouble_wake(const struct engine *, dw_usec now);

/* trouble_tell raises the events that the store wants to report. */
void trouble_tell(struct engine *);

#endif
