/* Messages that a clock has hidden that was far ahead, and was set back since (topic/returns.h). */
#ifndef DW_STORE_SQLITE_QUEUE_AHEAD_H
#define DW_STORE_SQLITE_QUEUE_AHEAD_H

#include <stdbool.h>

#include "store/sqlite/queue.h"

/* sqlite_queue_is_ahead: is there one? */
int sqlite_queue_is_ahead(struct sqlite_session *, const struct sqlite_topic *, dw_usec now,
			  bool *ret_is);

/* sqlite_queue_bring_forward hides some of them for as long as is usual. */
int sqlite_queue_bring_forward(struct sqlite_session *, const struct sqlite_topic *, dw_usec now);

#endif
