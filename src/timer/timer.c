#include "timer/timer.h"

#include <assert.h>
#include <string.h>

#include "timer/record.h"

struct timer *timer_new(const struct alloc *alloc, const char *id, const void *body,
			size_t body_size)
{
	size_t id_size = strlen(id) + 1;
	struct timer *timer = alloc_new(alloc, sizeof *timer + body_size + id_size);
	unsigned char *bytes = (unsigned char *)(timer + 1);
	struct record record;
	int status;

	if (!timer)
		return NULL;
	timer->id = memcpy(bytes + body_size, id, id_size);
	if (!body)
		return timer;
	timer->body = memcpy(bytes, body, body_size);
	timer->body_size = body_size;
	status = record_decode(timer->body, body_size, &record);
	assert(status == DW_OK);
	(void)status; /* only asserted: the caller decoded or encoded this body */
	timer->late_after = record.late_after;
	timer->data = record.data;
	timer->data_size = record.data_size;
	return timer;
}
