/* Messages of queues. The program pushes and answers them. When a timer of a queue topic comes due,
 * it becomes a message. */
#ifndef DW_ENGINE_MESSAGES_H
#define DW_ENGINE_MESSAGES_H

#include "durawheel/store.h"

struct engine;
struct call;
struct timer;

/* messages_fire puts a due timer into its topic's queue. The timer is settled after that, or in the
 * same step of the store. */
void messages_fire(struct engine *, struct timer *, dw_usec now);

/* messages_refused lets the timer wait, because the queue has not taken it. messages_entered is
 * called when the queue has taken it. */
void messages_refused(struct engine *, struct timer *, const dw_op *push);
void messages_entered(struct engine *, const struct timer *);

/* These functions handle the store's answers. messages_fired is for the PUSH of a timer,
 * messages_pushed for the PUSH of a call, messages_answered for an ANSWER or a LETTER. */
void messages_fired(struct engine *, struct timer *, const dw_op *);
void messages_pushed(struct engine *, dw_op *);
void messages_answered(struct engine *, dw_op *);
void messages_show(struct engine *, const struct call *);

#endif
