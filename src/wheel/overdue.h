/*
 * overdue.h: timers with a deadline below the wheel's current time (see overdue.c).
 */
#ifndef WHEEL_OVERDUE_H
#define WHEEL_OVERDUE_H

#include "wheel/names.h"

/* wheel_overdue_reserve makes room for one more entry, so that the next push cannot fail. Returns
 * DW_OK or DW_ENOMEM. */
int wheel_overdue_reserve(dw_wheel *wheel);

/* wheel_overdue_push adds an entry. wheel_overdue_reserve() must have made room. */
void wheel_overdue_push(dw_wheel *wheel, struct wheel_entry entry);

/* wheel_overdue_next returns the earliest deadline, which may be that of a dead entry. The heap
 * must not be empty. */
uint64_t wheel_overdue_next(const dw_wheel *wheel);

/* wheel_overdue_take takes out at most max timers that are due by now. Each dead entry costs one
 * move. */
size_t wheel_overdue_take(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max,
			  size_t *moves);

/* wheel_overdue_sweep looks at max entries and removes the dead ones. Returns false if the sweep
 * has seen all entries. */
bool wheel_overdue_sweep(dw_wheel *wheel, unsigned max);

/* wheel_overdue_clear drops all entries. */
void wheel_overdue_clear(dw_wheel *wheel);

void wheel_overdue_free(dw_wheel *wheel);

size_t wheel_overdue_bytes(const dw_wheel *wheel);

/* wheel_overdue_check returns true if the heap is sound. It counts the live entries of the heap. */
bool wheel_overdue_check(const dw_wheel *wheel, struct wheel_lives *lives);

#endif
