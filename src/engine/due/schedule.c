#include "engine/due/schedule.h"

#include <assert.h>

int schedule_init(struct schedule *schedule, const struct alloc *alloc, dw_usec now)
{
	dw_wheel_allocator allocator = {.resize = alloc->resize, .user = alloc->user};

	*schedule = (struct schedule){.alloc = alloc};
	return dw_wheel_new(&schedule->wheel, now, &allocator);
}

void schedule_free(struct schedule *schedule)
{
	dw_wheel_free(schedule->wheel);
	segments_free(&schedule->timers, schedule->alloc);
}

int schedule_add(struct schedule *schedule, struct timer *timer, dw_usec at)
{
	dw_wheel_handle handle;
	int status = dw_wheel_add(schedule->wheel, at, &handle);

	if (status != DW_OK)
		return DW_ENOMEM;
	status = segments_reserve(&schedule->timers, schedule->alloc, dw_wheel_index(handle) + 1);
	if (status != DW_OK) {
		status = dw_wheel_cancel(schedule->wheel, handle);
		assert(status == DW_OK);
		return DW_ENOMEM;
	}
	*segments_at(&schedule->timers, dw_wheel_index(handle)) = timer;
	timer->slot = handle;
	timer->slot_time = at;
	return DW_OK;
}

void schedule_remove(struct schedule *schedule, struct timer *timer)
{
	int status = dw_wheel_cancel(schedule->wheel, timer->slot);

	assert(status == DW_OK);
	(void)status; /* the caller knows that the timer is in this schedule */
	*segments_at(&schedule->timers, dw_wheel_index(timer->slot)) = NULL;
	timer->slot = 0;
}

struct timer *schedule_pop(struct schedule *schedule, dw_usec now)
{
	struct timer *timer;
	dw_wheel_due due;
	void **place;

	if (dw_wheel_next_work(schedule->wheel) > now ||
	    dw_wheel_advance(schedule->wheel, now, &due, 1) == 0)
		return NULL;
	place = segments_at(&schedule->timers, dw_wheel_index(due.handle));
	timer = *place;
	*place = NULL;
	assert(timer->slot == due.handle);
	timer->slot = 0;
	return timer;
}

struct timer *schedule_at(const struct schedule *schedule, uint32_t index)
{
	return *segments_at(&schedule->timers, index);
}

uint32_t schedule_size(const struct schedule *schedule)
{
	return schedule->timers.segment_count << SEGMENT_BITS;
}

dw_usec schedule_next(const struct schedule *schedule)
{
	return dw_wheel_next(schedule->wheel);
}

bool schedule_is_due(struct schedule *schedule, dw_usec now)
{
	dw_wheel_due none;

	/* This advances the wheel's time, which makes its next deadline exact. */
	(void)dw_wheel_advance(schedule->wheel, now, &none, 0); /* this call takes no timer out */
	return dw_wheel_next(schedule->wheel) <= now;
}

dw_usec schedule_wake(const struct schedule *schedule)
{
	return dw_wheel_next_work(schedule->wheel);
}
