/* Brings back messages that are hidden for too long. A clock that was far ahead has hidden them,
 * and was set back since (topic/returns.h). */
#ifndef DW_STORE_SQLITE_QUEUE_AHEAD_H
#define DW_STORE_SQLITE_QUEUE_AHEAD_H

#include <stdbool.h>

#include "store/sqlite/queue.h"

/* sqlite_queue_is_ahead says whether the topic has such a message. */
int sqlite_queue_is_ahead(struct sqlite_session *, const struct sqlite_topic *, dw_usec now,
			  bool *ret_is);

/* sqlite_queue_bring_forward gives some of these messages the usual time until they return. */
int sqlite_queue_bring_forward(struct sqlite_session *, const struct sqlite_topic *, dw_usec now);

#endif
