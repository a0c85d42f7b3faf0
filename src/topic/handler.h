/* The handler of a topic. */
#ifndef DW_TOPIC_HANDLER_H
#define DW_TOPIC_HANDLER_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct handler {
	dw_fire_fn fire; /* called with one timer */
	/* Called with a batch of timers. If both functions are NULL and is_queue is false, the
	 * topic has no handler. */
	dw_batch_fn fire_batch;
	void *user;
	bool is_queue; /* a due timer goes into the topic's queue */
	bool on_worker;
	uint32_t batch_max;
	dw_usec batch_wait;
};

static inline bool handler_is_set(const struct handler *handler)
{
	return handler->fire || handler->fire_batch || handler->is_queue;
}

#endif
