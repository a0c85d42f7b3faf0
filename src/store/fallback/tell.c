#include <stdio.h>

#include "store/fallback/core.h"

/* add makes an event for the program. Without memory the program gets no event. The row and the
 * outage are not affected. */
static dw_store_event *add(struct fallback *fallback, dw_event_kind kind, int status,
			   const char *words)
{
	struct told *told = alloc_new(&fallback->alloc, sizeof *told);

	if (!told)
		return NULL;
	told->event = (dw_store_event){.kind = kind, .status = status};
	/* Long words are cut. */
	(void)snprintf(told->event.words, sizeof told->event.words, "%s", words);
	*(fallback->told_last ? &fallback->told_last->next : &fallback->told_first) = told;
	fallback->told_last = told;
	return &told->event;
}

void tell_timer(struct fallback *fallback, dw_event_kind kind, int status, const char *id,
		const char *words)
{
	dw_store_event *event = add(fallback, kind, status, words);

	if (event)
		(void)snprintf(event->id, sizeof event->id, "%s", id); /* the id always fits */
}

void tell_all(struct fallback *fallback, dw_event_kind kind, int status, uint64_t count,
	      const char *words)
{
	dw_store_event *event = add(fallback, kind, status, words);

	if (event)
		event->count = count;
}

bool tell_take(struct fallback *fallback, dw_store_event *ret_event)
{
	struct told *told = fallback->told_first;

	if (!told)
		return false;
	*ret_event = told->event;
	fallback->told_first = told->next;
	if (!told->next)
		fallback->told_last = NULL;
	alloc_free(&fallback->alloc, told);
	return true;
}

void tell_free(struct fallback *fallback)
{
	dw_store_event unread;

	while (tell_take(fallback, &unread))
		;
}

void tell_rows_left(const struct fallback *fallback)
{
	char line[DW_MESSAGE_SIZE];
	uint32_t count = fallback->journal.rows.table.count;

	if (count == 0 || !fallback->env.log)
		return;
	(void)snprintf(line, sizeof line,
		       "%u timer%s left in the journal %s, for the next program that opens it",
		       count, count == 1 ? " is" : "s are",
		       fallback->journal.path); /* a long path is cut */
	fallback->env.log(DW_LOG_WARN, line, fallback->env.log_user);
}
