/* Answers to messages that were taken.
 *
 * The reply of the script has no values. Of the messages that are to be dead letters it has the
 * sizes, and then their values are read, as values.h says. One that the server does not send stays
 * taken, and comes back: its row is DW_ELIMIT, and has no body. */
#ifndef DW_STORE_REDIS_VERDICTS_H
#define DW_STORE_REDIS_VERDICTS_H

#include "port/op.h"

struct redis_store;

/* verdicts_send sends the next command of an ANSWER: DW_OK. Otherwise it was not sent. */
int verdicts_send(struct redis_store *, dw_op *);

/* verdicts_give_up answers an ANSWER that cannot go on. What was read and done is told. */
void verdicts_give_up(struct redis_store *, dw_op *, int status);

#endif
