#include "engine/workers.h"

#include <string.h>

#include "engine/core.h"
#include "engine/lifecycle.h"

bool workers_have_room(const struct engine *engine)
{
	return engine->stats.running < engine->env.workers.count;
}

void workers_start(struct engine *engine, struct timer *timer, dw_usec now)
{
	const struct handler *handler = topic_handler(&engine->topics, timer->topic);
	dw_token token = {.generation = timer->head.generation, .attempt = timer->head.attempt};
	struct job *job;

	memcpy(token.id, timer->id, strlen(timer->id) + 1);
	job = job_new(&engine->alloc, &token, timer->topic->name, timer->data, timer->data_size);
	if (!job) {
		timer_retry_later(engine, timer);
		return;
	}
	job->fire = handler->fire;
	job->user = handler->user;
	job->firing.due = timer->head.due;
	job->firing.now = now;
	delivery_begin(engine, timer, now);
	engine->stats.running++;
	engine->env.workers.start(engine->env.workers.user, job);
}

/* unstart: the worker could not start the handler, because the wall clock was set back or the
 * handle is closing. The timer is claimed, as before. */
static void unstart(struct engine *engine, struct timer *timer)
{
	engine->stats.fired--;
	timer_set_state(engine, timer, TIMER_CLAIMED);
	lifecycle_resume(engine, timer);
}

/* is_out: the job is a delivery of this timer as it is now. */
static bool is_out(const struct engine *engine, const struct timer *timer, const struct job *job)
{
	return timer && timer->state == TIMER_FIRING && timer != engine->delivery.firing &&
	       timer->head.generation == job->token.generation &&
	       timer->head.attempt == job->token.attempt;
}

/* A job comes back by id, generation and attempt, like an answer of the store: its timer may have
 * been replaced meanwhile. */
void workers_finish(struct engine *engine, struct job *job)
{
	struct timer *timer = index_find(&engine->timers.index, job->token.id);

	engine->stats.running--;
	if (is_out(engine, timer, job)) {
		if (job->started)
			delivery_judge(engine, timer, job->verdict, job->retry_in);
		else
			unstart(engine, timer);
	}
	alloc_free(&engine->alloc, job);
}
