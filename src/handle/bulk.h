/* Many puts or cancels with one callback. Each is a separate call; a bulk only gathers their
 * answers. */
#ifndef DW_HANDLE_BULK_H
#define DW_HANDLE_BULK_H

#include "handle/handle.h"

/* The puts or the cancels of one bulk. */
struct bulk_list {
	enum request_kind kind;
	const dw_timer *timers; /* for puts; each struct has the size timers[0].size */
	const char *const *ids; /* for cancels */
	size_t count;
};

/* bulk_ask begins all calls of the list. On the handle's thread it does so at once. From another
 * thread it queues a copy for the next turn. Any thread may call it. It returns what the API's
 * function returns. */
int bulk_ask(dw *, const struct bulk_list *, dw_bulk_fn fn, void *user);

#endif
