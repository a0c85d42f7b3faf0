/* Messages: pushed, answered, and made of timers that come due in a queue topic. */
#ifndef DW_ENGINE_MESSAGES_H
#define DW_ENGINE_MESSAGES_H

#include "durawheel/store.h"

struct engine;
struct call;
struct timer;

/* messages_fire puts a due timer into its topic's queue. Then the timer is settled. */
void messages_fire(struct engine *, struct timer *, dw_usec now);

/* These take the answers: to a PUSH of a timer, or of a call; to an ANSWER or a LETTER. */
void messages_fired(struct engine *, struct timer *, const dw_op *);
void messages_pushed(struct engine *, dw_op *);
void messages_answered(struct engine *, dw_op *);
void messages_show(struct engine *, const struct call *);

#endif
