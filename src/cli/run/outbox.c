#include "cli/run/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The limit is half of the deliveries that the library can hold, because the current turn may add
 * more lines. */
enum { COUNT_MAX = DW_HOLDS_MAX / 2, BYTES_MAX = 8 * 1024 * 1024 };

struct outbox_entry {
	struct outbox_entry *next;
	dw_token token;
	dw_verdict verdict;
	bool has_run;
	size_t size;
	size_t written;
	char bytes[];
};

void outbox_open(struct outbox *outbox)
{
	*outbox = (struct outbox){0};
	sink_open(&outbox->sink);
}

static void drop_first(struct outbox *outbox)
{
	struct outbox_entry *entry = outbox->first;

	outbox->first = entry->next;
	if (!outbox->first)
		outbox->last = NULL;
	outbox->count--;
	outbox->bytes -= entry->size;
	free(entry);
}

void outbox_drop(struct outbox *outbox, outbox_settle_fn settle, void *user)
{
	while (outbox->first) {
		if (settle && outbox->first->has_run)
			settle(&outbox->first->token, outbox->first->verdict, user);
		drop_first(outbox);
	}
}

void outbox_close(struct outbox *outbox)
{
	outbox_drop(outbox, NULL, NULL);
	sink_close(&outbox->sink);
}

static bool append(struct outbox *outbox, const struct outbox_entry *head, const struct line *line)
{
	struct outbox_entry *entry = malloc(sizeof *entry + line->size);

	if (!entry)
		return false;
	*entry = *head;
	entry->size = line->size;
	memcpy(entry->bytes, line->bytes, line->size);
	if (outbox->last)
		outbox->last->next = entry;
	else
		outbox->first = entry;
	outbox->last = entry;
	outbox->count++;
	outbox->bytes += line->size;
	return true;
}

enum outbox_state outbox_put(struct outbox *outbox, const dw_token *token, dw_verdict verdict,
			     const struct line *line, bool has_run)
{
	struct outbox_entry head = {.token = *token, .verdict = verdict, .has_run = has_run};
	ssize_t written = 0;

	if (!outbox->first)
		written = sink_write(&outbox->sink, line->bytes, line->size);
	if (written < 0)
		return OUTBOX_FAILED;
	if ((size_t)written == line->size)
		return OUTBOX_WRITTEN;
	head.written = (size_t)written;
	if (append(outbox, &head, line))
		return OUTBOX_WAITING;
	errno = ENOMEM;
	return OUTBOX_FAILED;
}

enum outbox_state outbox_drain(struct outbox *outbox, outbox_settle_fn settle, void *user)
{
	while (outbox->first) {
		struct outbox_entry *entry = outbox->first;
		ssize_t written = sink_write(&outbox->sink, entry->bytes + entry->written,
					     entry->size - entry->written);

		if (written < 0)
			return OUTBOX_FAILED;
		entry->written += (size_t)written;
		if (entry->written < entry->size)
			return OUTBOX_WAITING;
		settle(&entry->token, entry->verdict, user);
		drop_first(outbox);
	}
	return OUTBOX_WRITTEN;
}

bool outbox_is_full(const struct outbox *outbox)
{
	return outbox->count >= COUNT_MAX || outbox->bytes >= BYTES_MAX;
}

bool outbox_is_torn(const struct outbox *outbox)
{
	return outbox->first && outbox->first->written > 0;
}

void outbox_cut(struct outbox *outbox, outbox_settle_fn settle, void *user)
{
	struct outbox_entry *torn = outbox_is_torn(outbox) ? outbox->first : NULL;

	while (outbox->last != torn) {
		struct outbox_entry *rest = torn ? torn->next : outbox->first;

		if (settle && rest->has_run)
			settle(&rest->token, rest->verdict, user);
		if (torn)
			torn->next = rest->next;
		else
			outbox->first = rest->next;
		if (outbox->last == rest)
			outbox->last = torn;
		outbox->count--;
		outbox->bytes -= rest->size;
		free(rest);
	}
}
