#include "port/spans.h"

#include <assert.h>
#include <string.h>

void spans_of(const dw_op *op, struct spans *ret_spans)
{
	*ret_spans = (struct spans){.time_count = op->body_size / sizeof(dw_usec)};
	assert(ret_spans->time_count >= 2 && ret_spans->time_count <= DW_DUE_BOUNDS_MAX);
	memcpy(ret_spans->times, op->body, op->body_size);
}

dw_usec spans_first(const struct spans *spans)
{
	return spans->times[0];
}

dw_usec spans_end(const struct spans *spans)
{
	return spans->times[spans->time_count - 1];
}

void spans_add(struct spans *spans, dw_usec deadline)
{
	assert(deadline >= spans_first(spans) && deadline < spans_end(spans));
	while (deadline >= spans->times[spans->span + 1])
		spans->span++;
	spans->counts[spans->span]++;
}

void spans_answer(const struct alloc *alloc, dw_op *op, const struct spans *spans, dw_usec whole_to)
{
	size_t size = (spans->time_count - 1) * sizeof *spans->counts;
	dw_row **tail = &op->rows;

	op->after = (dw_cursor){.due = whole_to, .started = 1};
	(void)op_add_row(alloc, op, &tail,
			 row_new(alloc, "", spans->counts, size)); /* without memory: op->status */
}
