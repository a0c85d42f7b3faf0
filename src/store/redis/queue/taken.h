/* Takes of messages.
 *
 * If the reply of the script is lost, messages that the script has deleted are lost with it, and
 * messages that it has hidden come back only later. A reply is lost when the connection breaks, or
 * when the server closes it because the reply is larger than one of its limits. So a reply has few
 * bytes of messages (SHOWN_BYTES). For further messages the reply has only the sizes, and the
 * script only hides them. Then their values are read, as values.h says. If the topic hides no
 * messages, they are deleted only after that. A message that the server does not send is hidden for
 * a minute. */
#ifndef DW_STORE_REDIS_TAKEN_H
#define DW_STORE_REDIS_TAKEN_H

#include "port/op.h"

struct redis_store;

/* taken_send sends the next command of a TAKE. If it does not return DW_OK, the command was not
 * sent. */
int taken_send(struct redis_store *, dw_op *);

/* taken_give_up answers a TAKE that cannot go on. If the TAKE already has messages, the answer is
 * DW_OK. */
void taken_give_up(struct redis_store *, dw_op *, int status);

#endif
