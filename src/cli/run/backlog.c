#include "cli/run/backlog.h"

#include <stdlib.h>
#include <string.h>

/* copy copies `size` bytes to *at, and moves *at to their end. Returns the copy. */
static const void *copy(char **at, const void *bytes, size_t size)
{
	char *copied = *at;

	if (size > 0)
		memcpy(copied, bytes, size);
	*at += size;
	return copied;
}

static size_t size_of(const dw_firing *firing)
{
	return strlen(firing->id) + 1 + strlen(firing->topic) + 1 + firing->data_size;
}

/* fill copies the deliveries into the block of memory that begins with the entry: first the
 * structures, then the tokens, then all texts. */
static void fill(struct backlog_entry *entry, const dw_firing *firings)
{
	dw_firing *to = (dw_firing *)(void *)(entry + 1);
	dw_token *tokens = (dw_token *)(void *)(to + entry->count);
	char *at = (char *)(tokens + entry->count);

	entry->firings = to;
	for (size_t i = 0; i < entry->count; i++) {
		to[i] = firings[i];
		tokens[i] = *firings[i].token;
		to[i].token = &tokens[i];
		to[i].id = copy(&at, firings[i].id, strlen(firings[i].id) + 1);
		to[i].topic = copy(&at, firings[i].topic, strlen(firings[i].topic) + 1);
		to[i].data = copy(&at, firings[i].data, firings[i].data_size);
	}
}

bool backlog_put(struct backlog *backlog, const dw_firing *firings, size_t count, bool is_batch)
{
	size_t size = sizeof(struct backlog_entry) + count * (sizeof(dw_firing) + sizeof(dw_token));
	struct backlog_entry *entry;

	for (size_t i = 0; i < count; i++)
		size += size_of(&firings[i]);
	entry = malloc(size);
	if (!entry)
		return false;
	*entry = (struct backlog_entry){.count = count, .bytes = size, .is_batch = is_batch};
	fill(entry, firings);
	if (backlog->last)
		backlog->last->next = entry;
	else
		backlog->first = entry;
	backlog->last = entry;
	backlog->count += count;
	backlog->bytes += size;
	return true;
}

struct backlog_entry *backlog_take(struct backlog *backlog)
{
	struct backlog_entry *entry = backlog->first;

	if (!entry)
		return NULL;
	backlog->first = entry->next;
	if (!backlog->first)
		backlog->last = NULL;
	backlog->count -= entry->count;
	backlog->bytes -= entry->bytes;
	return entry;
}

void backlog_put_back(struct backlog *backlog, struct backlog_entry *entry)
{
	entry->next = backlog->first;
	if (!backlog->last)
		backlog->last = entry;
	backlog->first = entry;
	backlog->count += entry->count;
	backlog->bytes += entry->bytes;
}

void backlog_drop(struct backlog *backlog)
{
	struct backlog_entry *entry;

	while ((entry = backlog_take(backlog)))
		free(entry);
}
