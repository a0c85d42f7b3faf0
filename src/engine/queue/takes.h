/* Takes of messages that wait. Each take asks its topics one after the other, and again when a
 * message may have come. */
#ifndef DW_ENGINE_TAKES_H
#define DW_ENGINE_TAKES_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"

struct engine;
struct calls;
struct topics;
struct call;
struct take;

struct takes {
	struct take *first, *last; /* the takes that are not answered */
	uint64_t count;
	bool has_waited; /* a take waits now, or has waited before */
};

/* takes_round begins the rounds of takes whose time has come. takes_wake returns when the next
 * round begins. */
void takes_round(struct engine *, dw_usec now);
dw_usec takes_wake(const struct engine *, dw_usec now);

/* takes_answered handles the answer to a TAKE, or to a TOPIC_LIST that a take has sent. */
void takes_answered(struct engine *, dw_op *);

/* takes_made_room is called when the queue of a topic may have space for due timers. */
void takes_made_room(struct topics *, const char *topic);

/* takes_pushed lets as many waiting takes ask again as the queue has got messages. takes_ready lets
 * all takes ask, because any queue may hand out a message. */
void takes_pushed(struct engine *, const char *topic, uint64_t count);
void takes_ready(struct calls *);

/* takes_close answers the takes that wait, because the handle closes. */
void takes_close(struct engine *);
void takes_show(struct engine *, const struct call *);

#endif
