/* The operation that makes a message of a timer. */
#ifndef DW_ENGINE_MESSAGE_OP_H
#define DW_ENGINE_MESSAGE_OP_H

#include "durawheel/store.h"

struct engine;
struct alloc;
struct timer;

/* op_with_topic makes an operation of a topic with room for its bytes. NULL: no memory. */
dw_op *op_with_topic(struct alloc *, dw_op_kind, const char *id, const char *topic, size_t size);

/* message_op makes a PUSH with the timer as its message. NULL: no memory. */
dw_op *message_op(struct engine *, const struct timer *);

#endif
