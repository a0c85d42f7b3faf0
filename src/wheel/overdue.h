/*
 * overdue.h: timers whose deadline is below the wheel's own time. overdue.c says how.
 */
#ifndef WHEEL_OVERDUE_H
#define WHEEL_OVERDUE_H

#include "wheel/names.h"

/* wheel_overdue_reserve: room for one more, so that the push cannot fail. DW_ENOMEM. */
int wheel_overdue_reserve(dw_wheel *wheel);

/* wheel_overdue_push: the room was reserved. */
void wheel_overdue_push(dw_wheel *wheel, struct wheel_entry entry);

/* wheel_overdue_next: the earliest deadline, of a dead entry perhaps; the heap is not empty. */
uint64_t wheel_overdue_next(const dw_wheel *wheel);

/* wheel_overdue_take: at most max timers due by now; each entry that is dead costs a move. */
size_t wheel_overdue_take(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max,
			  size_t *moves);

/* wheel_overdue_sweep: take dead ones out, looking at so many. False: all were looked at. */
bool wheel_overdue_sweep(dw_wheel *wheel, unsigned max);

/* wheel_overdue_clear: nothing is in it. */
void wheel_overdue_clear(dw_wheel *wheel);

void wheel_overdue_free(dw_wheel *wheel);

size_t wheel_overdue_bytes(const dw_wheel *wheel);

/* wheel_overdue_check: is the heap whole? Counts its live entries. */
bool wheel_overdue_check(const dw_wheel *wheel, struct wheel_lives *lives);

#endif
