/* A page of timers or dead letters, in the form that a callback gets. */
#ifndef DW_ENGINE_PAGES_H
#define DW_ENGINE_PAGES_H

#include "durawheel/store.h"

struct alloc;
struct engine;

struct page {
	struct engine *engine;
	void *items;
	char (*topics)[DW_TOPIC_MAX +
		       1]; /* copies, because a topic in a body does not end with NUL */
};

/* page_new allocates count items of item_size bytes. It returns DW_OK or DW_ENOMEM. */
int page_new(struct page *, size_t count, size_t item_size);
void page_free(struct page *);

/* page_limit refuses a limit that is not allowed. `what` names the items in the error message. */
int page_limit(struct engine *, size_t limit, const char *what);

/* page_op makes the operation that asks for a page. It returns NULL if there is no memory. */
dw_op *page_op(struct alloc *, dw_op_kind, const char *topic, const dw_cursor *after, size_t limit);

#endif
