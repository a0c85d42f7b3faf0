#include "store/memory/inbox.h"

#include <string.h>

int inbox_init(struct inbox *inbox, const struct alloc *alloc)
{
	*inbox = (struct inbox){.first = NULL};
	return id_map_init(&inbox->by_id, alloc);
}

void inbox_free(struct inbox *inbox, const struct alloc *alloc)
{
	inbox_clear(inbox, alloc);
	id_map_free(&inbox->by_id);
}

struct inbox_entry *inbox_entry_new(const struct alloc *alloc, const char *id)
{
	size_t id_size = strlen(id) + 1;
	struct inbox_entry *entry = alloc_new(alloc, sizeof *entry + id_size);

	if (!entry)
		return NULL;
	memcpy(entry->id, id, id_size);
	entry->name.id = entry->id;
	return entry;
}

void inbox_add(struct inbox *inbox, const struct alloc *alloc, struct inbox_entry *entry)
{
	struct inbox_entry *earlier = inbox_find(inbox, entry->id);

	if (earlier)
		inbox_drop(inbox, alloc, earlier);
	id_map_add(&inbox->by_id, &entry->name);
	entry->before = inbox->last;
	*(inbox->last ? &inbox->last->after : &inbox->first) = entry;
	inbox->last = entry;
}

void inbox_drop(struct inbox *inbox, const struct alloc *alloc, struct inbox_entry *entry)
{
	id_map_remove(&inbox->by_id, &entry->name);
	*(entry->before ? &entry->before->after : &inbox->first) = entry->after;
	*(entry->after ? &entry->after->before : &inbox->last) = entry->before;
	alloc_free(alloc, entry);
}

void inbox_clear(struct inbox *inbox, const struct alloc *alloc)
{
	while (inbox->first)
		inbox_drop(inbox, alloc, inbox->first);
}

struct inbox_entry *inbox_find(const struct inbox *inbox, const char *id)
{
	return (struct inbox_entry *)(void *)id_map_find(&inbox->by_id, id); /* the first field */
}
