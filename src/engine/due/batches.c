#include "engine/due/batches.h"

#include <assert.h>

#include "base/scope.h"
#include "engine/core.h"
#include "engine/due/workers.h"
#include "engine/heal/loss.h"
#include "topic/gather.h"

/* A batch that waits for claims is looked at again after this time. The answer to the last of these
 * claims starts the batch sooner. */
#define CLAIMS_LOOK DW_MILLISECONDS(100)

/* ---- Which timers are in it ---------------------------------------------------------------- */

/* leave_out takes a gathered timer out of the batch if it may not start now, and returns true. */
static bool leave_out(struct engine *engine, struct timer *timer, dw_usec now)
{
	bool is_late;

	if (loss_meets(engine, timer) || lease_suspend(engine, timer))
		return true;
	is_late = !timer->busy && delivery_is_late(timer, now);
	if (!timer->busy && !is_late) /* the answer to an operation arms the timer again */
		return false;
	timer_disarm(engine, timer);
	if (is_late)
		delivery_bury_late(engine, timer);
	return true;
}

/* The number and size of the first timers in a topic's list. */
struct load {
	uint32_t count;
	size_t size; /* bytes of data of these timers */
};

/* sift leaves out timers that may not start now, from the first one on until a batch is full. It
 * returns the count and the size of that batch. */
static struct load sift(struct engine *engine, struct topic *topic, dw_usec now)
{
	struct load load = {0, 0};
	struct timer *next;

	for (struct timer *timer = topic->gathered; timer; timer = next) {
		next = timer->next;
		if (leave_out(engine, timer, now))
			continue;
		load.size += timer->data_size;
		if (++load.count == topic->handler.batch_max)
			break;
	}
	return load;
}

static void postpone(struct engine *engine, struct topic *topic)
{
	while (topic->gathered)
		timer_retry_later(engine, topic->gathered);
}

/* ---- The call ------------------------------------------------------------------------------ */

/* A batch whose handler runs on this thread. */
struct batch_run {
	struct engine *engine;
	struct job *job;
	bool returned;
};

/* end_batch_run ends the call of a batch handler. If the handler ended by an exception, all
 * verdicts count as DW_RETRY. */
static void end_batch_run(struct batch_run *run)
{
	struct job *job = run->job;

	run->engine->drive.callback_depth--;
	job->took = usec_sub(engine_steady(run->engine), job->began);
	for (size_t i = 0; i < job->count && !run->returned; i++) {
		job->verdicts[i] = DW_RETRY;
		job->retry_in[i] = -1;
	}
	job_judge(run->engine, job);
}

static void run_here(struct engine *engine, struct job *job, dw_usec now)
{
	struct batch_run run AT_END(end_batch_run) = {engine, job, false};

	engine->drive.callback_depth++;
	job->began = engine_steady(engine);
	job_begin(job, now);
	job_run(job, engine->env.handle);
	run.returned = true;
}

/* may_start_at returns the time at which the batch was full, or at which its wait was over. */
static dw_usec may_start_at(const struct topic *topic)
{
	return topic_batch_is_full(topic) ? topic->gathered_last->head.due
					  : topic_wait_ends(topic->gathered);
}

/* start calls the handler for the first gathered timers that may start. It returns the number of
 * these timers. */
static uint32_t start(struct engine *engine, struct topic *topic, dw_usec now)
{
	const struct handler *handler = &topic->handler;
	dw_usec at = may_start_at(topic);
	struct load load = sift(engine, topic, now);
	struct job *job;

	if (load.count == 0)
		return 1;
	topic->held_until = usec_max(topic->held_until, at);
	job = job_new(&engine->alloc, topic->name, load.count,
		      handler->on_worker ? load.size : SIZE_MAX);
	if (!job) {
		postpone(engine, topic);
		return load.count;
	}
	job->fire_batch = handler->fire_batch;
	job->user = handler->user;
	for (uint32_t i = 0; i < load.count; i++) {
		struct timer *timer = topic->gathered;
		dw_token token;
		dw_firing firing = delivery_firing(engine, timer, &token);

		timer_disarm(engine, timer);
		job_add(job, &firing);
		assert(timer->head.due <= now);
		delivery_begin(engine, timer, now, handler->on_worker);
	}
	if (handler->on_worker)
		workers_send(engine, job);
	else
		run_here(engine, job, now);
	return load.count;
}

/* ---- When it starts ------------------------------------------------------------------------ */

/* wait_until puts a gathered timer that came out of its schedule too soon back into it. */
static uint32_t wait_until(struct engine *engine, struct timer *timer, dw_usec at)
{
	timer_disarm(engine, timer);
	if (!timer->busy) /* the answer to the timer's operation arms it again */
		timer_gather(engine, timer, at);
	return 1;
}

void batches_claimed(struct engine *engine, struct timer *timer)
{
	struct topic *topic = timer->topic;
	dw_usec now = engine_now(engine);

	topic_claimed(timer);
	if (topic->claiming_count == 0 && topic->gathered &&
	    now >= topic_wait_ends(topic->gathered))
		/* The batch starts after other due timers have joined. */
		(void)wait_until(engine, topic->gathered, now);
}

uint32_t batches_ready(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	struct topic *topic = timer->topic;
	dw_usec last = topic->gathered_last->head.due;
	dw_usec came = timer->slot_time;

	if (!topic_batch_is_full(topic) && now < topic_wait_ends(timer))
		return wait_until(engine, timer, topic_wait_ends(timer));
	if (!topic_batch_is_full(topic) && topic->claiming_count > 0)
		return wait_until(engine, timer, usec_add(now, CLAIMS_LOOK));
	if (topic->handler.on_worker && !from_work) {
		timer_await_worker(engine, timer, last);
		return 0;
	}
	/* Timers that are due before the last one may have been claimed after it. They come out of
	 * the schedule first. */
	if (came >= last) {
		/* Timers of a shard that is in use again may come before this timer now, and fill
		 * the batch without it. */
		(void)wait_until(engine, timer, now);
		return topic->gathered ? start(engine, topic, now) : 1;
	}
	if (!from_work)
		return wait_until(engine, timer, last);
	timer_await_worker(engine, timer, last);
	return 1;
}

uint32_t batches_add(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	struct topic *topic = timer->topic;

	if (topic_batch_is_full(topic) && topic->handler.on_worker && !from_work) {
		timer_await_worker(engine, timer,
				   timer->head.due); /* the full batch also waits for a worker */
		return 0;
	}
	/* The time-out is not before now, so all timers that are due now come out of the schedule
	 * first. */
	timer_gather(engine, timer, usec_max(topic_wait_ends(timer), now));
	if (!timer->gathered || !topic_batch_is_full(topic))
		return 1;
	schedule_remove(&engine->timers.fire, timer);
	timer->place = PLACE_NONE;
	timer->slot_time = timer->head.due;
	return batches_ready(engine, timer, now, from_work);
}
