/* The counts of a DUE: how many timers are due from each of its times to the next one. */
#ifndef DW_PORT_SPANS_H
#define DW_PORT_SPANS_H

#include "durawheel/select.h"
#include "port/op.h"

struct spans {
	dw_usec times[DW_DUE_BOUNDS_MAX];
	uint64_t counts[DW_DUE_BOUNDS_MAX];
	size_t time_count; /* there is one count less */
	size_t span;       /* the timer that was added last is in this span */
};

/* spans_of reads the times of the operation. spans_first and spans_end return the first and the
 * last one: timers before the first, and from the last one on, do not count. */
void spans_of(const dw_op *, struct spans *ret_spans);
dw_usec spans_first(const struct spans *);
dw_usec spans_end(const struct spans *);

/* spans_add counts a timer. Timers are added in the order of their deadlines, which are between the
 * first and the last time. */
void spans_add(struct spans *, dw_usec deadline);

/* spans_answer adds the counts to the answer. They have all timers before whole_to. */
void spans_answer(const struct alloc *, dw_op *, const struct spans *, dw_usec whole_to);

#endif
