/* Applies the store's answers. An answer finds its timer by id, because another timer may have
 * taken its place in the meantime. The answer changes a timer only if its generation is the one
 * that the operation named. */
#ifndef DW_ENGINE_ANSWERS_H
#define DW_ENGINE_ANSWERS_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "timer/timer.h"

#define TURN_ANSWERS_MAX 256u

struct engine;

/* answers_next handles the first of the collected answers. It returns false if there is none.
 * answers_fetch loads the timers of the next FETCHED_AHEAD answers into the cache. */
bool answers_next(struct engine *);
void answers_fetch(const struct engine *);

/* answers_failed returns true if the store was not able to do the operation. Any other status is a
 * result. */
static inline bool answers_failed(int status)
{
	return status != DW_OK && status != DW_ENOENT && status != DW_ESTALE &&
	       status != DW_EEXIST && status != DW_ELATE && status != DW_ECORRUPT &&
	       status != DW_EOWNED && status != DW_EFENCED && status != DW_ENEWER &&
	       status != DW_EPAUSED && status != DW_EBUSY;
}

/* These functions apply the answer to a put, a cancel, a move or a requeue. head is the timer in
 * memory that has the id. */
void answers_put(struct engine *, struct timer *head, dw_op *);
void answers_cancel(struct engine *, struct timer *head, dw_op *);
void answers_move(struct engine *, struct timer *head, dw_op *);

/* answers_delivery applies the answer to a claim or a verdict. */
void answers_delivery(struct engine *, struct timer *, dw_op *);

#endif
