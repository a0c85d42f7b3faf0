/* What the store's answers change. An answer finds its timer by id, because another timer may have
 * taken the place of the one that it is about. It changes a timer only if the generation is the one
 * that the operation named. */
#ifndef DW_ENGINE_ANSWERS_H
#define DW_ENGINE_ANSWERS_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "timer/timer.h"

#define TURN_ANSWERS_MAX 256u

struct engine;

/* answers_next handles the first of the collected answers; false: none. answers_fetch:
 * the timers of the next FETCHED_AHEAD will be looked for soon. */
bool answers_next(struct engine *);
void answers_fetch(const struct engine *);

/* answers_failed: the store could not do it. Other statuses are reasons of the store not to. */
static inline bool answers_failed(int status)
{
	return status != DW_OK && status != DW_ENOENT && status != DW_ESTALE &&
	       status != DW_EEXIST && status != DW_ELATE && status != DW_ECORRUPT &&
	       status != DW_EOWNED && status != DW_EFENCED && status != DW_ENEWER;
}

/* Of a put, a cancel, a move or a requeue; head: the timer of the id. */
void answers_put(struct engine *, struct timer *head, dw_op *);
void answers_cancel(struct engine *, struct timer *head, dw_op *);
void answers_move(struct engine *, struct timer *head, dw_op *);

/* Of a claim or a verdict. */
void answers_delivery(struct engine *, struct timer *, dw_op *);

#endif
