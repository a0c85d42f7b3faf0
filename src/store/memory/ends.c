#include "store/memory/ends.h"

#include <string.h>

int ends_init(struct ends *ends, const struct alloc *alloc)
{
	return id_map_init(&ends->by_id, alloc);
}

void ends_free(struct ends *ends, const struct alloc *alloc)
{
	ends_clear(ends, alloc);
	id_map_free(&ends->by_id);
}

static struct stored_end *end_at(struct skiplist_node *node)
{
	return node ? (struct stored_end *)(void *)((char *)node -
						    offsetof(struct stored_end, place))
		    : NULL;
}

static void drop(struct ends *ends, const struct alloc *alloc, struct stored_end *end)
{
	id_map_remove(&ends->by_id, &end->name);
	skiplist_remove(&ends->order, &end->place);
	alloc_free(alloc, end);
}

void ends_clear(struct ends *ends, const struct alloc *alloc)
{
	while (ends->order.first[0])
		drop(ends, alloc, end_at(ends->order.first[0]));
}

struct stored_end *ends_make(struct ends *ends, const struct alloc *alloc, const char *id,
			     const dw_ended *ended)
{
	uint64_t number = ends->number + 1;
	uint8_t height = skiplist_height(number);
	size_t links_size = height * sizeof(struct skiplist_node *);
	size_t size = ended_size(ended), id_size = strlen(id) + 1;
	struct stored_end *end = alloc_new(alloc, sizeof *end + links_size + size + id_size);
	unsigned char *at = (unsigned char *)(end + 1);

	if (!end)
		return NULL;
	ends->number = number;
	end->place = (struct skiplist_node){.due = ended->until,
					    .generation = number,
					    .height = height,
					    .next = (struct skiplist_node **)(void *)at};
	at += links_size;
	ended_write(ended, at);
	end->bytes = at;
	end->size = size;
	end->name.id = memcpy(at + size, id, id_size);
	return end;
}

void ends_add(struct ends *ends, const struct alloc *alloc, struct stored_end *end)
{
	struct stored_end *before =
	    (struct stored_end *)(void *)id_map_find(&ends->by_id, end->name.id); /* first field */

	if (before)
		drop(ends, alloc, before);
	id_map_add(&ends->by_id, &end->name);
	skiplist_add(&ends->order, &end->place);
}

const struct stored_end *ends_find(const struct ends *ends, const char *id, dw_usec now)
{
	const struct stored_end *end = (const struct stored_end *)(const void *)id_map_find(
	    &ends->by_id, id); /* first field */

	return end && end->place.due > now ? end : NULL;
}

bool ends_ask(struct ends *ends, const char *id, dw_usec now)
{
	struct stored_end *end =
	    (struct stored_end *)(void *)id_map_find(&ends->by_id, id); /* first field */
	dw_usec until = end ? ended_until(end->bytes, end->size, end->place.due, now) : 0;

	if (end && until != end->place.due) {
		skiplist_remove(&ends->order, &end->place);
		end->place.due = until;
		skiplist_add(&ends->order, &end->place);
	}
	return until > now;
}

void ends_forget(struct ends *ends, const struct alloc *alloc, dw_usec now)
{
	for (unsigned i = 0; i < ENDED_AT_ONCE && ends->order.first[0]; i++) {
		if (ends->by_id.table.count <= DW_ENDED_MAX && ends->order.first[0]->due > now)
			return;
		drop(ends, alloc, end_at(ends->order.first[0]));
	}
}
