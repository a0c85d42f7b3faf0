/*
 * overdue.h: timers whose deadline is below the wheel's time. There are few, except while a program
 * recovers; they still have to come out in order.
 */
#ifndef WHEEL_OVERDUE_H
#define WHEEL_OVERDUE_H

#include "wheel/layout.h"

/* wheel_overdue_reserve: room for one more, so that the push cannot fail. DW_ENOMEM. */
int wheel_overdue_reserve(dw_wheel *wheel);

/* wheel_overdue_push: the room was reserved. */
void wheel_overdue_push(dw_wheel *wheel, uint32_t index, struct wheel_node *node);

/* wheel_overdue_remove: this one, wherever it stands. */
void wheel_overdue_remove(dw_wheel *wheel, const struct wheel_node *node);

/* wheel_overdue_next: the earliest deadline; there is one. */
uint64_t wheel_overdue_next(const dw_wheel *wheel);

/* wheel_overdue_take: at most max of those due at `now`, in order, to out; returns how many. */
size_t wheel_overdue_take(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max);

void wheel_overdue_free(dw_wheel *wheel);
size_t wheel_overdue_bytes(const dw_wheel *wheel);
int wheel_overdue_check(const dw_wheel *wheel);

#endif
