/* The store's troubles, as events: it failed, it is back, it is slow. */
#ifndef DW_ENGINE_TROUBLE_H
#define DW_ENGINE_TROUBLE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define SLOW_AFTER DW_MILLISECONDS(50)
#define SLOW_AGAIN DW_SECONDS(10) /* a slow store is reported once in this time */

struct engine;

struct trouble {
	bool failing;       /* told, and not yet that the store is back */
	bool declared;      /* the store has said so itself */
	dw_usec slow_until; /* steady: reported, and not again before */
};

/* trouble_failed: an operation of the engine's own failed. trouble_over: one succeeded. */
void trouble_failed(struct engine *, int status, const char *id);
void trouble_over(struct engine *);

/* trouble_begin and trouble_end ask the store about its state: the first before a turn's answers,
 * the second after them. So failed answers between the two count to the trouble that the store
 * declared. */
void trouble_begin(struct engine *);
void trouble_end(struct engine *);

/* trouble_watch_slow notices a store that owes its answers for long; trouble_wake: when to look
 * again. */
void trouble_watch_slow(struct engine *);
dw_usec trouble_wake(const struct engine *, dw_usec now);

/* trouble_tell raises the events that the store has to tell. */
void trouble_tell(struct engine *);

#endif
