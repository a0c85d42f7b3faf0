/* Operations on topics that ask several shards: the list, a change of settings, a consumer that
 * waits. */
#ifndef DW_STORE_REDIS_TOPIC_CALLS_H
#define DW_STORE_REDIS_TOPIC_CALLS_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

/* The most changes of settings under way at one time, so that timers need not wait for many
 * changes. */
#define TOPIC_CHANGES_MAX 16u

bool topic_is_change(const dw_op *);

/* topic_call_send sends the operation's commands, and answers it later. Returns DW_OK or
 * DW_ENOMEM. */
int topic_call_send(struct redis_store *, dw_op *);

#endif
