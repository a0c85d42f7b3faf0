/* When run --until-idle has nothing left to do. */
#ifndef DW_CLI_RUN_IDLE_H
#define DW_CLI_RUN_IDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct run_idle {
	const char *const *topics; /* whose timers count; "*" stands for all */
	size_t topic_count;
	bool asked;   /* the store's status was asked for */
	bool emptied; /* its answer: there is no change of a client that this handle has not seen */
};

/* run_idle_is_quiet: no timer of the topics is left in this handle, and nothing is under way. */
bool run_idle_is_quiet(const struct run_idle *, dw *);

/* run_idle_is_idle: besides, the store has no timer that a client wrote and that is not here yet.
 * The answer takes some turns. */
bool run_idle_is_idle(struct run_idle *, dw *);

/* run_idle_tell_damaged says how many timers were damaged, because those have not fired. */
void run_idle_tell_damaged(dw *);

#endif
