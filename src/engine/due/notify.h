/* Calls the program's callbacks for events and answers. */
#ifndef DW_ENGINE_NOTIFY_H
#define DW_ENGINE_NOTIFY_H

#include "engine/core.h"

/* notify_all passes all notices in the queue to the program. The queue must not be empty. */
void notify_all(struct engine *);

/* notify_round calls the program's callbacks for all notices in the queue. A notice that a callback
 * adds waits for the next round. */
static inline void notify_round(struct engine *engine)
{
	if (engine->events.first)
		notify_all(engine);
}

#endif
