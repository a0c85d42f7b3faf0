/* Many puts or cancels with one callback. Each is a call of its own; a bulk only gathers their
 * answers. */
#ifndef DW_HANDLE_BULK_H
#define DW_HANDLE_BULK_H

#include "handle/handle.h"

/* What is asked for. */
struct bulk_list {
	enum request_kind kind;
	const dw_timer *timers; /* put; each has the size that the first one says */
	const char *const *ids; /* cancel */
	size_t count;
};

/* bulk_ask begins all of them: at once on the handle's thread; from another thread it queues a copy
 * for the next turn. Any thread. What the API's functions return. */
int bulk_ask(dw *, const struct bulk_list *, dw_bulk_fn fn, void *user);

#endif
