/* Brings back messages that would stay hidden for too long. They were hidden while the clock was
 * far ahead, and the clock was set back since (topic/returns.h). */
#ifndef DW_STORE_SQLITE_QUEUE_AHEAD_H
#define DW_STORE_SQLITE_QUEUE_AHEAD_H

#include <stdbool.h>

#include "store/sqlite/queue.h"

/* sqlite_queue_is_ahead sets *ret_is to true if the topic has such a message. */
int sqlite_queue_is_ahead(struct sqlite_session *, const struct sqlite_topic *, dw_usec now,
			  bool *ret_is);

/* sqlite_queue_bring_forward gives some of these messages the usual time until they return. */
int sqlite_queue_bring_forward(struct sqlite_session *, const struct sqlite_topic *, dw_usec now);

#endif
