#include "timer/timer.h"

#include <assert.h>
#include <string.h>

#include "timer/record.h"

struct timer *timer_new(const struct alloc *alloc, const struct record *record, const void *body)
{
	size_t size = record_size(record);
	struct timer *timer = alloc_new(alloc, sizeof *timer + size + record->id_size + 1u);
	unsigned char *bytes = (unsigned char *)(timer + 1);

	if (!timer)
		return NULL;
	timer->body = memcpy(bytes, body, size);
	timer->body_size = size;
	timer->late_after = record->late_after;
	timer->data = bytes + size - record->data_size;
	timer->data_size = record->data_size;
	timer->recurs = record->blocks_size > 0 && record_recurs(body, body);
	/* The block is zeroed, so the id ends with NUL. */
	timer->id = memcpy(bytes + size, record->id, record->id_size);
	return timer;
}

struct timer *timer_new_place(const struct alloc *alloc, const char *id)
{
	size_t id_size = strlen(id) + 1;
	struct timer *timer = alloc_new(alloc, sizeof *timer + id_size);

	if (timer)
		timer->id = memcpy(timer + 1, id, id_size);
	return timer;
}

int said_replace(struct said **said, const struct alloc *alloc, const void *bytes, size_t size)
{
	struct said *copy = NULL;

	if (size > 0) {
		copy = alloc_new(alloc, sizeof *copy + size + 1);
		if (!copy)
			return DW_ENOMEM;
		copy->size = size;
		memcpy(copy->bytes, bytes, size);
	}
	alloc_free(alloc, *said);
	*said = copy;
	return DW_OK;
}

void timer_forget_said(struct timer *timer, const struct alloc *alloc)
{
	alloc_free(alloc, timer->why);
	alloc_free(alloc, timer->result);
	timer->why = timer->result = NULL;
}

void timer_renew(struct timer *timer, const void *body)
{
	assert(timer->recurs && record_recurs(timer->body, body));
	memcpy(timer + 1, body, timer->body_size);
}

void timer_free(const struct alloc *alloc, struct timer *timer)
{
	if (timer)
		timer_forget_said(timer, alloc);
	alloc_free(alloc, timer);
}
