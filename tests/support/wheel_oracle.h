/*
 * wheel_oracle.h: the simplest correct model of a wheel: a sorted array. A timer is inserted after
 * all timers with the same deadline, so the first element is always the next to fire.
 */
#ifndef SUPPORT_WHEEL_ORACLE_H
#define SUPPORT_WHEEL_ORACLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <durawheel/wheel.h>

struct wheel_oracle {
	dw_wheel_due *timers;
	size_t count;
	size_t capacity;
};

static inline void wheel_oracle_init(struct wheel_oracle *oracle, size_t capacity)
{
	oracle->timers = malloc(capacity * sizeof(*oracle->timers));
	if (!oracle->timers)
		abort();
	oracle->count = 0;
	oracle->capacity = capacity;
}

static inline void wheel_oracle_add(struct wheel_oracle *oracle, dw_wheel_handle handle,
				    int64_t deadline)
{
	size_t low = 0, high = oracle->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (oracle->timers[middle].deadline <= deadline)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(oracle->timers + low + 1, oracle->timers + low,
		(oracle->count - low) * sizeof(*oracle->timers));
	oracle->timers[low].handle = handle;
	oracle->timers[low].deadline = deadline;
	oracle->count++;
}

static inline void wheel_oracle_remove(struct wheel_oracle *oracle, size_t position, size_t count)
{
	oracle->count -= count;
	memmove(oracle->timers + position, oracle->timers + position + count,
		(oracle->count - position) * sizeof(*oracle->timers));
}

#endif
