#include "engine/due/workers.h"

#include <stdint.h>
#include <string.h>

#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "engine/heal/loss.h"

bool workers_have_room(const struct engine *engine)
{
	return engine->stats.running < engine->env.workers.count;
}

static dw_usec limit_of(const struct topics *topics, const struct job *job)
{
	const struct topic *topic = topics_find(topics, job->topic, strlen(job->topic));

	return topic && topic->settings.limit_us ? topic->settings.limit_us : DW_NEVER;
}

static void go_out(struct engine *engine, struct job *job)
{
	job->late_at = usec_add(engine_steady(engine), limit_of(&engine->topics, job));
	job->prev_out = NULL;
	job->next_out = engine->delivery.out;
	if (job->next_out)
		job->next_out->prev_out = job;
	engine->delivery.out = job;
}

static void come_back(struct delivery *delivery, struct job *job)
{
	*(job->prev_out ? &job->prev_out->next_out : &delivery->out) = job->next_out;
	if (job->next_out)
		job->next_out->prev_out = job->prev_out;
}

void workers_send(struct engine *engine, struct job *job)
{
	go_out(engine, job);
	engine->stats.running++;
	engine->delivery.on_workers += job->count;
	engine->env.workers.start(engine->env.workers.user, job);
}

void workers_start(struct engine *engine, struct timer *timer, dw_usec now)
{
	const struct handler *handler = topic_handler(&engine->topics, timer->topic);
	dw_token token;
	dw_firing firing = delivery_firing(engine, timer, &token);
	struct job *job = job_new(&engine->alloc, timer->topic->name, 1, timer->data_size);

	if (!job) {
		timer_retry_later(engine, timer);
		return;
	}
	job->fire = handler->fire;
	job->user = handler->user;
	job_add(job, &firing);
	delivery_begin(engine, timer, now, true);
	workers_send(engine, job);
}

/* ---- A job that takes too long --------------------------------------------------------------- */

static void tell_late(struct engine *engine, struct job *job)
{
	dw_event event = {.kind = DW_EVENT_SLOW_HANDLER,
			  .status = DW_ETIMEOUT,
			  .id = job->tokens[0].id,
			  .topic = job->topic,
			  .count = job->count};

	job->late_at = DW_NEVER;
	job->is_late = true;
	event_raise(engine, &event,
		    "the handler of %s runs for longer than its topic %s allows: its verdict will "
		    "count as DW_RETRY",
		    event.id, job->topic);
}

void workers_round(struct engine *engine)
{
	dw_usec steady = engine->delivery.out ? engine_steady(engine) : 0;

	for (struct job *job = engine->delivery.out; job; job = job->next_out)
		if (job->late_at <= steady)
			tell_late(engine, job);
}

dw_usec workers_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = DW_NEVER;

	for (const struct job *job = engine->delivery.out; job; job = job->next_out)
		at = usec_min(at, job->late_at);
	return at == DW_NEVER ? at
			      : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}

void workers_abandon(struct delivery *delivery)
{
	struct job *next;

	for (struct job *job = delivery->out; job; job = next) {
		next = job->next_out;
		job->prev_out = job->next_out = NULL;
	}
	delivery->out = NULL;
}

/* ---- A job that comes back ------------------------------------------------------------------- */

/* unstart is called when the worker could not start the handler, because the wall clock was set
 * back or the handle is closing. The timer is claimed again, as before. */
static void unstart(struct engine *engine, struct timer *timer)
{
	engine->stats.fired--;
	timer->started = 0;
	timer_set_state(engine, timer, TIMER_CLAIMED);
	lifecycle_resume(engine, timer);
}

/* is_out returns true if the token names the delivery that the timer is in now. */
static bool is_out(const struct timer *timer, const dw_token *token)
{
	return timer && timer->state == TIMER_FIRING &&
	       timer->head.generation == token->generation && timer->head.attempt == token->attempt;
}

/* job_judge finds each timer by id, generation and attempt, because the timer may have been
 * replaced meanwhile. */
void job_judge(struct engine *engine, struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		const dw_token *token = &job->tokens[i];
		struct timer *timer = index_find(&engine->timers.index, token->id);

		if (job->started)
			delivery_tell(engine, &job->firings[i], job->verdicts[i], job->took);
		if (loss_meets(engine, timer) || !is_out(timer, token))
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
	come_back(&engine->delivery, job);
	for (size_t i = 0; i < job->count && job->is_late; i++) {
		job->verdicts[i] = DW_RETRY;
		job->retry_in[i] = -1;
	}
	engine->stats.running--;
	engine->delivery.on_workers -= job->count;
	job_judge(engine, job);
}
