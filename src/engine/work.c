/* Deliveries on worker threads. What is due for them waits in a schedule of its own, in the order
 * of deadlines, until a worker is free: at most as many are out as there are workers, so that all
 * that was not started can be taken back. A job comes back by id, generation and attempt, like an
 * answer of the store: its timer may have been replaced meanwhile. */
#include "engine/internal.h"

#include <assert.h>
#include <string.h>

bool work_is_for(const struct engine *engine, const struct timer *timer)
{
	const struct topic *topic = timer->topic;

	return topic->fire ? topic->on_worker : engine->topics.any_on_worker;
}

void work_await(struct engine *engine, struct timer *timer)
{
	assert(timer->place == PLACE_NONE && timer->state == TIMER_CLAIMED);
	if (schedule_add(&engine->work, timer, timer->head.due) == DW_OK)
		timer->place = PLACE_WORK;
	else
		timer_retry_later(engine, timer);
}

void work_start(struct engine *engine, struct timer *timer, dw_usec now)
{
	struct topic *topic = timer->topic;
	dw_token token = {.generation = timer->head.generation, .attempt = timer->head.attempt};
	struct job *job;

	memcpy(token.id, timer->id, strlen(timer->id) + 1);
	job = job_new(&engine->alloc, &token, topic->name, timer->data, timer->data_size);
	if (!job) {
		timer_retry_later(engine, timer);
		return;
	}
	job->fire = topic->fire ? topic->fire : engine->topics.any_fire;
	job->user = topic->fire ? topic->user : engine->topics.any_user;
	job->firing.due = timer->head.due;
	job->firing.now = now;
	deliver_begin(engine, timer, now);
	engine->stats.running++;
	engine->env.workers.start(engine->env.workers.user, job);
}

/* work_next gives a free worker what is due first; false: there is neither, or nothing due. */
bool work_next(struct engine *engine)
{
	bool may = work_has_room(engine) && deliver_may_start(engine);
	dw_usec now = engine_now(engine);
	struct timer *timer = may ? schedule_pop(&engine->work, now) : NULL;

	if (!timer)
		return false;
	timer->place = PLACE_NONE;
	deliver_due(engine, timer, now, true);
	return true;
}

/* unstart: the worker could not start it, because the wall clock was set back or the handle is
 * being closed. It is as it was before. */
static void unstart(struct engine *engine, struct timer *timer)
{
	engine->stats.fired--;
	timer_set_state(engine, timer, TIMER_CLAIMED);
	engine_resume(engine, timer);
}

/* is_out: the job is a delivery of this timer as it is now. */
static bool is_out(const struct engine *engine, const struct timer *timer, const struct job *job)
{
	return timer && timer->state == TIMER_FIRING && timer != engine->firing &&
	       timer->head.generation == job->token.generation &&
	       timer->head.attempt == job->token.attempt;
}

void engine_finish(struct engine *engine, struct job *job)
{
	struct timer *timer = index_find(&engine->index, job->token.id);

	engine->stats.running--;
	if (is_out(engine, timer, job)) {
		if (job->started)
			deliver_judge(engine, timer, job->verdict, job->retry_in);
		else
			unstart(engine, timer);
	}
	alloc_free(&engine->alloc, job);
	tell_round(engine);
}
