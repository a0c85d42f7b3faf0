/* The counts that answer a DUE operation: how many timers are due from each of its times to the
 * next time. */
#ifndef DW_PORT_SPANS_H
#define DW_PORT_SPANS_H

#include "durawheel/select.h"
#include "port/op.h"

struct spans {
	dw_usec times[DW_DUE_BOUNDS_MAX];
	uint64_t counts[DW_DUE_BOUNDS_MAX];
	size_t time_count; /* number of times; there is one count less */
	size_t span;       /* the timer that was added last is in this span */
};

/* spans_of reads the times of the operation. spans_first returns the first time, and spans_end the
 * last one. Timers before the first time do not count, and timers at or after the last time do not
 * count either. */
void spans_of(const dw_op *, struct spans *ret_spans);
dw_usec spans_first(const struct spans *);
dw_usec spans_end(const struct spans *);

/* spans_add counts a timer. Timers are added in the order of their deadlines, which are between the
 * first and the last time. */
void spans_add(struct spans *, dw_usec deadline);

/* spans_answer adds the counts to the answer. The counts include all timers that are due before
 * whole_to. */
void spans_answer(const struct alloc *, dw_op *, const struct spans *, dw_usec whole_to);

#endif
