#include "engine/call/pages.h"

#include "engine/core.h"

int page_new(struct page *page, size_t count, size_t item_size)
{
	const struct alloc *alloc = &page->engine->alloc;

	if (count == 0)
		return DW_OK;
	page->items = alloc_new(alloc, count * item_size);
	page->topics = alloc_new(alloc, count * sizeof *page->topics);
	return page->items && page->topics ? DW_OK : DW_ENOMEM;
}

void page_free(struct page *page)
{
	alloc_free(&page->engine->alloc, page->items);
	alloc_free(&page->engine->alloc, page->topics);
}

int page_limit(struct engine *engine, size_t limit, const char *what)
{
	if (limit > 0 && limit <= DW_LIST_MAX)
		return DW_OK;
	return engine_fail(engine, DW_EINVAL, "a page has 1 to %d %s, not %zu", DW_LIST_MAX, what,
			   limit);
}

dw_op *page_op(struct alloc *alloc, dw_op_kind kind, const char *topic, const dw_cursor *after,
	       size_t limit)
{
	/* The operation owns its strings: the topic is stored where an id would be. */
	dw_op *op = op_new(alloc, kind, topic, NULL, 0);

	if (!op)
		return NULL;
	op->topic = op->id;
	op->id = NULL;
	op->limit = limit;
	if (after)
		op->after = *after;
	return op;
}
