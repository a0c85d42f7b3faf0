#include "engine/due/schedule.h"

#include <assert.h>

#include "base/usec.h"

#define CROWD_STEPS 2048u /* the most timers that one call takes out of the wheel */
#define CROWD_KEPT 4096u  /* an empty crowd keeps memory for at most this many timers */

int schedule_init(struct schedule *schedule, const struct alloc *alloc, dw_usec now)
{
	dw_wheel_allocator allocator = {.resize = alloc->resize, .user = alloc->user};

	*schedule = (struct schedule){.alloc = alloc};
	return dw_wheel_new(&schedule->wheel, now, &allocator);
}

void schedule_free(struct schedule *schedule)
{
	dw_wheel_free(schedule->wheel);
	crowd_free(&schedule->crowd, schedule->alloc);
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
	int status;

	if (timer->crowded) {
		crowd_remove(&schedule->crowd, timer);
		return;
	}
	status = dw_wheel_cancel(schedule->wheel, timer->slot);
	assert(status == DW_OK);
	(void)status; /* always DW_OK: the caller knows that the timer is in this schedule */
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

/* gather takes timers out of the wheel until the crowd has all timers that are due before its first
 * timer, or at the same time. It returns false if it needs more calls. */
static bool gather(struct schedule *schedule, dw_usec now)
{
	for (uint32_t i = 0; i < CROWD_STEPS; i++) {
		dw_usec until = usec_min(crowd_next(&schedule->crowd), now);
		struct timer *timer;

		if (dw_wheel_next(schedule->wheel) > until ||
		    crowd_reserve(&schedule->crowd, schedule->alloc) != DW_OK)
			return true;
		timer = schedule_pop(schedule, until);
		if (timer)
			crowd_add(&schedule->crowd, timer);
		else if (dw_wheel_next(schedule->wheel) <= until)
			return false;
	}
	return false;
}

static struct timer *pop_crowd(struct schedule *schedule)
{
	struct timer *timer = crowd_first(&schedule->crowd);

	crowd_remove(&schedule->crowd, timer);
	if (schedule->crowd.count == 0 && schedule->crowd.room > CROWD_KEPT)
		crowd_free(&schedule->crowd, schedule->alloc);
	return timer;
}

struct timer *schedule_pop_sorted(struct schedule *schedule, dw_usec now)
{
	if (schedule->crowd.count == 0) {
		struct timer *timer = schedule_pop(schedule, now);

		if (!timer || dw_wheel_next(schedule->wheel) > timer->slot_time ||
		    crowd_reserve(&schedule->crowd, schedule->alloc) != DW_OK)
			return timer;
		crowd_add(&schedule->crowd, timer);
	}
	if (!gather(schedule, now) || crowd_next(&schedule->crowd) > now)
		return NULL;
	return pop_crowd(schedule);
}

bool schedule_put_back(struct schedule *schedule, struct timer *timer)
{
	if (crowd_reserve(&schedule->crowd, schedule->alloc) != DW_OK)
		return false;
	crowd_add(&schedule->crowd, timer);
	return true;
}

void schedule_scatter(struct schedule *schedule)
{
	while (schedule->crowd.count > 0) {
		struct timer *timer = crowd_last(&schedule->crowd);

		crowd_remove(&schedule->crowd, timer);
		if (schedule_add(schedule, timer, timer->slot_time) != DW_OK) {
			crowd_add(&schedule->crowd, timer);
			return;
		}
	}
}

struct timer *schedule_at(const struct schedule *schedule, uint32_t index)
{
	return *segments_at(&schedule->timers, index);
}

uint32_t schedule_size(const struct schedule *schedule)
{
	return schedule->timers.segment_count << SEGMENT_BITS;
}

size_t schedule_count(const struct schedule *schedule)
{
	return dw_wheel_count(schedule->wheel) + schedule->crowd.count;
}

bool schedule_has(const struct schedule *schedule, const struct timer *timer)
{
	if (timer->crowded)
		return crowd_has(&schedule->crowd, timer);
	return schedule_at(schedule, dw_wheel_index(timer->slot)) == timer;
}

bool schedule_check(const struct schedule *schedule)
{
	return dw_wheel_check(schedule->wheel) == 0 && crowd_check(&schedule->crowd);
}

dw_usec schedule_next(const struct schedule *schedule)
{
	return usec_min(crowd_next(&schedule->crowd), dw_wheel_next(schedule->wheel));
}

bool schedule_is_due(struct schedule *schedule, dw_usec now)
{
	dw_wheel_due none;

	/* This advances the wheel's time, which makes its next deadline exact. */
	(void)dw_wheel_advance(schedule->wheel, now, &none, 0); /* this call takes no timer out */
	return schedule_next(schedule) <= now;
}

dw_usec schedule_wake(const struct schedule *schedule)
{
	return usec_min(crowd_next(&schedule->crowd), dw_wheel_next_work(schedule->wheel));
}
