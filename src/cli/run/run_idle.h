/* Decides when run --until-idle may end. */
#ifndef DW_CLI_RUN_IDLE_H
#define DW_CLI_RUN_IDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/recipes.h"
#include "durawheel/durawheel.h"

struct run_idle {
	const struct recipes *recipes; /* the topics whose timers count */
	bool asked;                    /* the store's status was asked for */
	bool emptied; /* the last answer: this handle has seen every change of a client */
};

/* run_idle_is_quiet: this handle has no timer of the topics left, and no operation is under way. */
bool run_idle_is_quiet(const struct run_idle *, dw *);

/* run_idle_is_idle: the handle is quiet, and the store has no timer of a client that this handle
 * has not seen. It returns true only some turns later, because it must ask the store. */
bool run_idle_is_idle(struct run_idle *, dw *);

/* run_idle_tell_damaged reports the number of damaged timers, because they have not fired. */
void run_idle_tell_damaged(dw *);

#endif
