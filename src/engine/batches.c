#include "engine/batches.h"

#include "base/scope.h"
#include "engine/core.h"
#include "engine/workers.h"

/* ---- Which timers are in it ---------------------------------------------------------------- */

/* leave_out takes a gathered timer out of the batch if it may not start now. */
static void leave_out(struct engine *engine, struct timer *timer, dw_usec now)
{
	if (cut_off_holds(engine, timer))
		return;
	if (timer->busy) { /* the answer to its operation arms it again */
		timer_disarm(engine, timer);
	} else if (timer->head.due > now) { /* the clock was set back */
		timer_disarm(engine, timer);
		timer_arm_fire(engine, timer, timer->head.due);
	} else if (delivery_is_late(timer, now)) {
		timer_disarm(engine, timer);
		delivery_bury_late(engine, timer);
	}
}

/* sift leaves only timers that may start now in the batch. It returns the bytes of their data. */
static size_t sift(struct engine *engine, struct topic *topic, dw_usec now)
{
	size_t size = 0;
	struct timer *next;

	for (struct timer *timer = topic->gathered; timer; timer = next) {
		next = timer->next;
		leave_out(engine, timer, now);
	}
	for (const struct timer *timer = topic->gathered; timer; timer = timer->next)
		size += timer->data_size;
	return size;
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

/* end_batch_run: if the handler ended by an exception, all verdicts count as DW_RETRY. */
static void end_batch_run(struct batch_run *run)
{
	struct job *job = run->job;

	run->engine->drive.callback_depth--;
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
	job_begin(job, now);
	job_run(job, engine->env.handle);
	run.returned = true;
}

/* start calls the handler for all gathered timers that may start. It returns how many these are. */
static uint32_t start(struct engine *engine, struct topic *topic, dw_usec now)
{
	const struct handler *handler = &topic->handler;
	size_t size = sift(engine, topic, now);
	uint32_t count = topic->gathered_count;
	struct job *job;

	if (count == 0)
		return 1;
	job = job_new(&engine->alloc, topic->name, count, handler->on_worker ? size : SIZE_MAX);
	if (!job) {
		postpone(engine, topic);
		return count;
	}
	job->fire_batch = handler->fire_batch;
	job->user = handler->user;
	while (topic->gathered) {
		struct timer *timer = topic->gathered;
		dw_token token = delivery_token(timer);

		timer_disarm(engine, timer);
		job_add(job, &token, timer->head.due, timer->data, timer->data_size);
		delivery_begin(engine, timer, now, handler->on_worker);
	}
	if (handler->on_worker)
		workers_send(engine, job);
	else
		run_here(engine, job, now);
	return count;
}

/* ---- When it starts ------------------------------------------------------------------------ */

static bool is_full(const struct topic *topic)
{
	return topic->gathered_count >= topic->handler.batch_max;
}

uint32_t batches_ready(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	if (!timer->topic->handler.on_worker || from_work)
		return start(engine, timer->topic, now);
	timer_await_worker(engine, timer);
	return 0;
}

uint32_t batches_add(struct engine *engine, struct timer *timer, dw_usec now, bool from_work)
{
	struct topic *topic = timer->topic;
	uint32_t started = 0;

	if (is_full(topic) && !from_work) { /* the full batch waits for a worker, too */
		timer_await_worker(engine, timer);
		return 0;
	}
	if (is_full(topic))
		started = start(engine, topic, now);
	/* The time-out is not before now, so all timers that are due now come out of the schedule
	 * first. */
	timer_gather(engine, timer,
		     usec_max(usec_add(timer->head.due, topic->handler.batch_wait), now));
	if (!is_full(topic) || !timer->gathered)
		return started + 1;
	schedule_remove(&engine->timers.fire, timer);
	timer->place = PLACE_NONE;
	return started + batches_ready(engine, timer, now, from_work && started == 0);
}
