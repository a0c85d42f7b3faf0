/* Decides when run --until-idle may end. */
#ifndef DW_CLI_RUN_IDLE_H
#define DW_CLI_RUN_IDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/recipes.h"
#include "durawheel/durawheel.h"

struct run_idle {
	const struct recipes *recipes; /* the topics that run serves */
	size_t next;                   /* the index of the next topic to ask about */
	bool asked;                    /* a question to the store has no answer yet */
	/* The last answers say that the owner has seen every change of a client, and that no topic
	 * has a timer left. */
	bool emptied;
	/* The counters of this handle when a topic last had timers: how many timers the handle
	 * knew, and how many had ended. The store is asked again only when one of them has
	 * changed. */
	uint64_t timers, ended;
	bool has_timers;
};

/* run_idle_is_quiet returns true if the topics may be empty as far as this handle knows, and no
 * operation is under way. */
bool run_idle_is_quiet(const struct run_idle *, dw *);

/* run_idle_is_idle returns true if the handle is quiet, the topics have no timers left, and no
 * client has added one that this handle has not seen. It must ask the store for this, so it returns
 * true only after some turns. */
bool run_idle_is_idle(struct run_idle *, dw *);

/* run_idle_tell_damaged reports the number of damaged timers, because they have not fired. */
void run_idle_tell_damaged(dw *);

#endif
