#include "engine/workers.h"

#include <stdint.h>

#include "engine/core.h"
#include "engine/lifecycle.h"

bool workers_have_room(const struct engine *engine)
{
	return engine->stats.running < engine->env.workers.count;
}

void workers_send(struct engine *engine, struct job *job)
{
	engine->stats.running++;
	engine->delivery.on_workers += job->count;
	engine->env.workers.start(engine->env.workers.user, job);
}

void workers_start(struct engine *engine, struct timer *timer, dw_usec now)
{
	const struct handler *handler = topic_handler(&engine->topics, timer->topic);
	dw_token token = delivery_token(timer);
	struct job *job = job_new(&engine->alloc, timer->topic->name, 1, timer->data_size);

	if (!job) {
		timer_retry_later(engine, timer);
		return;
	}
	job->fire = handler->fire;
	job->user = handler->user;
	job_add(job, &token, timer->head.due, timer->data, timer->data_size);
	delivery_begin(engine, timer, now, true);
	workers_send(engine, job);
}

/* ---- A job that comes back ------------------------------------------------------------------- */

/* unstart: the worker could not start the handler, because the wall clock was set back or the
 * handle is closing. The timer is claimed again, as before. */
static void unstart(struct engine *engine, struct timer *timer)
{
	engine->stats.fired--;
	timer_set_state(engine, timer, TIMER_CLAIMED);
	lifecycle_resume(engine, timer);
}

/* is_out: true if the token names the delivery of this timer as it is now. */
static bool is_out(const struct timer *timer, const dw_token *token)
{
	return timer && timer->state == TIMER_FIRING &&
	       timer->head.generation == token->generation && timer->head.attempt == token->attempt;
}

/* job_judge finds each timer by id, generation and attempt, because it may have been replaced
 * meanwhile. */
void job_judge(struct engine *engine, struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		const dw_token *token = &job->tokens[i];
		struct timer *timer = index_find(&engine->timers.index, token->id);

		if (job->started)
			delivery_tell(engine, &job->firings[i], job->verdicts[i], job->took);
		if (!is_out(timer, token))
			continue;
		if (job->started)
			delivery_judge(engine, timer, job->verdicts[i], job->retry_in[i]);
		else
			unstart(engine, timer);
	}
	alloc_free(&engine->alloc, job);
}

void workers_finish(struct engine *engine, struct job *job)
{
	engine->stats.running--;
	engine->delivery.on_workers -= job->count;
	job_judge(engine, job);
}
