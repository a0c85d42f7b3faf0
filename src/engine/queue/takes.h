/* Takes of messages that wait: each asks its topics in turn, and again when something may have
 * come. */
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
	struct take *first, *last; /* those that are not answered */
	uint64_t count;
	bool has_waited; /* one of them waits, or did */
};

/* takes_round asks for those whose time has come; takes_wake returns when it is. */
void takes_round(struct engine *, dw_usec now);
dw_usec takes_wake(const struct engine *, dw_usec now);

/* takes_answered takes the answer to a TAKE, or to a TOPIC_LIST of one. */
void takes_answered(struct engine *, dw_op *);

/* takes_made_room is called when the queue of a topic may have room for due timers. */
void takes_made_room(struct topics *, const char *topic);

/* takes_pushed lets as many of the waiting takes ask again as the queue has got messages.
 * takes_ready: any queue may hand something out, so all ask. */
void takes_pushed(struct engine *, const char *topic, uint64_t count);
void takes_ready(struct calls *);

/* takes_close answers those that wait, because the handle closes. */
void takes_close(struct engine *);
void takes_show(struct engine *, const struct call *);

#endif
