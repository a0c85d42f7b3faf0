/* Makes rows from the messages that the scripts of queues return. */
#ifndef DW_STORE_REDIS_MESSAGE_ROW_H
#define DW_STORE_REDIS_MESSAGE_ROW_H

#include "durawheel/store.h"
#include "redis/reply.h"

/* message_row makes a row of a token and a value. A message that cannot be handed out has the
 * status DW_ECORRUPT, and words that say why; `deleted` means that the script has dropped it. NULL:
 * there was no memory. */
dw_row *message_row(struct alloc *, const char *token, const struct reply *value,
		    const char *topic);

#endif
