/* Answers to messages that were taken.
 *
 * The reply of the script has no values. For messages that must become dead letters it has the
 * sizes, and then their values are read, as values.h says. A message that the server does not send
 * stays taken, and comes back: its row has the status DW_ELIMIT and no body. */
#ifndef DW_STORE_REDIS_VERDICTS_H
#define DW_STORE_REDIS_VERDICTS_H

#include "port/op.h"

struct redis_store;

/* verdicts_send sends the next command of an ANSWER. If it does not return DW_OK, the command was
 * not sent. */
int verdicts_send(struct redis_store *, dw_op *);

/* verdicts_give_up answers an ANSWER that cannot go on. The answer reports what was read and
 * done. */
void verdicts_give_up(struct redis_store *, dw_op *, int status);

#endif
