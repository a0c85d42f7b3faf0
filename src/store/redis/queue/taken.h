/* Takes of messages.
 *
 * What the script has hidden or deleted is lost if its reply is: when the connection breaks, or
 * when the server closes it because the reply is larger than one of its limits. So a reply has few
 * bytes of messages (SHOWN_BYTES). Of the messages behind them it has the sizes, and they are only
 * hidden. Their values are read then, as values.h says. Only then are those deleted of a topic that
 * hides no messages. A message that the server does not send is hidden for a minute. */
#ifndef DW_STORE_REDIS_TAKEN_H
#define DW_STORE_REDIS_TAKEN_H

#include "port/op.h"

struct redis_store;

/* taken_send sends the next command of a TAKE: DW_OK. Otherwise it was not sent. */
int taken_send(struct redis_store *, dw_op *);

/* taken_give_up answers a TAKE that cannot go on: DW_OK, if it has messages. */
void taken_give_up(struct redis_store *, dw_op *, int status);

#endif
