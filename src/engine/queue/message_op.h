/* Makes the operation that turns a timer into a message. */
#ifndef DW_ENGINE_MESSAGE_OP_H
#define DW_ENGINE_MESSAGE_OP_H

#include "durawheel/store.h"

struct alloc;
struct timer;

/* op_with_topic makes an operation on a topic, with a body of `size` bytes that the caller writes.
 * It returns NULL if there is no memory. */
dw_op *op_with_topic(struct alloc *, dw_op_kind, const char *id, const char *topic, size_t size);

/* message_op makes a PUSH with the timer as its message. It returns NULL if there is no memory. */
dw_op *message_op(struct alloc *, const struct timer *);

#endif
