/* Decides when run --until-idle may end. */
#ifndef DW_CLI_RUN_IDLE_H
#define DW_CLI_RUN_IDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/recipes.h"
#include "durawheel/durawheel.h"

struct run_idle {
	const struct recipes *recipes; /* the topics whose timers count */
	size_t next;                   /* the topic that is asked about next */
	bool asked;                    /* the store was asked, and has not answered */
	/* According to the last answers every change of a client was seen, and no timer of the
	 * topics is left. */
	bool emptied;
	/* When a topic was last found to have timers, this handle knew so many and had ended so
	 * many. Until one of these numbers changes, nobody asks again. */
	uint64_t timers, ended;
	bool has_timers;
};

/* run_idle_is_quiet returns true if the topics may have no timer left, as far as this handle knows,
 * and no operation is under way. */
bool run_idle_is_quiet(const struct run_idle *, dw *);

/* run_idle_is_idle returns true if the handle is quiet, no timer of the topics is left, and the
 * store has none of a client that this handle has not seen. It returns true only some turns later,
 * because it must ask the store. */
bool run_idle_is_idle(struct run_idle *, dw *);

/* run_idle_tell_damaged reports the number of damaged timers, because they have not fired. */
void run_idle_tell_damaged(dw *);

#endif
