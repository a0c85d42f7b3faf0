/* The turn, and what begins and ends an engine. */
#include "engine/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "port/driven.h"

/* ---- Words --------------------------------------------------------------------------------- */

int engine_fail(struct engine *engine, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(engine->error, sizeof engine->error, format, arguments); /* cut if long */
	va_end(arguments);
	return status;
}

void engine_note_error(struct engine *engine, int status)
{
	engine->last_error = status;
	engine->last_event = 0;
	engine->last_error_at = engine_now(engine);
}

/* tell_failed: once, until the store is back. */
static void tell_failed(struct engine *engine, dw_event event, const char *words)
{
	engine->stats.store_failures++;
	if (engine->failing || engine->closing)
		return;
	engine->failing = true;
	engine_event(engine, &event, "the store failed (%s): it is asked again", words);
}

void engine_store_failed(struct engine *engine, int status, const char *id)
{
	dw_event event = {.kind = DW_EVENT_STORE_FAILED, .status = status, .id = id};
	char words[DW_MESSAGE_SIZE];

	if (driven_trouble(engine->store, words, sizeof words) == DW_EUNKNOWN)
		engine->stats.store_failures++; /* and told with the reason, if it lasts */
	else
		tell_failed(engine, event,
			    status == DW_ESTORE ? "refused, or not answered in time"
						: dw_strerror(status));
}

void engine_store_back(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_STORE_BACK};

	if (!engine->failing || engine->troubled)
		return;
	engine->failing = false;
	engine_event(engine, &event, "the store answers again");
}

/* ---- Submitting ---------------------------------------------------------------------------- */

void engine_submit(struct engine *engine, dw_op *op, bool urgent)
{
	op->urgent = urgent;
	op_queue_push(urgent ? &engine->urgent : &engine->ordinary, op);
}

void engine_touch(struct engine *engine)
{
	if (engine->in_turn || engine->woken)
		return;
	engine->woken = true;
	engine->env.loop.wake(engine->env.loop.user);
}

/* submit_round sends the turn's operations as one batch: what firing waits for first. */
static void submit_round(struct engine *engine)
{
	struct op_queue batch = {0};
	size_t window = driven_window(engine->store);
	dw_usec steady = engine_steady(engine);
	uint64_t urgent_count = engine->urgent.count;

	if (engine->urgent_inflight + engine->ordinary_inflight == 0)
		engine->progress_at = steady;
	engine->urgent_inflight += (uint32_t)urgent_count;
	op_queue_append(&batch, op_queue_take(&engine->urgent));
	while (engine->ordinary.count > 0 && engine->ordinary_inflight < window) {
		dw_op *op = op_queue_pop(&engine->ordinary);

		/* A parked one owes no answer. */
		engine->ordinary_inflight += !op_is_parked(op);
		op_queue_push(&batch, op);
	}
	if (batch.count == 0)
		return;
	for (dw_op *op = batch.first; op; op = op->next) {
		op->sent = steady;
		op->reign = engine->reign;
		op->batch = urgent_count;
	}
	engine->stats.store_operations += batch.count;
	engine->store->type->submit(engine->store, batch.first);
}

/* ---- Watching ------------------------------------------------------------------------------ */

dw_usec engine_lead(const struct engine *engine)
{
	uint64_t claimed = engine->claimed + engine->urgent_inflight;

	if (work_is_made(engine)) /* they are due, and wait for no claim */
		claimed -= dw_wheel_count(engine->work.wheel);
	return lead_now(&engine->lead, claimed);
}

/* watch_clock notices that the wall clock was set: it moved against the steady one, which was read
 * before and is read again, because a process that was put aside in between sees a step, too. */
static void watch_clock(struct engine *engine, dw_usec before, dw_usec now)
{
	dw_usec skew = usec_sub(now, before);
	dw_usec step = usec_sub(skew, engine->skew);
	dw_event event = {.kind = DW_EVENT_CLOCK_STEPPED};

	if (usec_sub(engine_steady(engine), before) >= STEP_MIN / 2)
		return;
	engine->skew = skew;
	if (step > -STEP_MIN && step < STEP_MIN)
		return;
	if (step < 0)
		deliver_stepped_back(engine);
	/* What was put off until a wall time must not wait out a step back. */
	engine->recover_at = usec_min(engine->recover_at, now);
	engine->inbox_at = usec_min(engine->inbox_at, now);
	engine->audit_at = usec_min(engine->audit_at, now);
	engine->own_at = usec_min(engine->own_at, now);
	engine->report_at = usec_min(engine->report_at, now);
	engine_event(engine, &event, "the wall clock was set %lld us %s",
		     (long long)(step < 0 ? usec_sub(0, step) : step),
		     step < 0 ? "back" : "forward");
}

static bool owes_answers(const struct engine *engine)
{
	return engine->urgent_inflight + engine->ordinary_inflight > 0;
}

static void watch_store(struct engine *engine)
{
	dw_usec waited = usec_sub(engine_steady(engine), engine->progress_at);
	dw_event event = {.kind = DW_EVENT_STORE_SLOW};

	if (!owes_answers(engine) || waited < SLOW_AFTER ||
	    engine_steady(engine) < engine->slow_until)
		return;
	engine->slow_until = usec_add(engine_steady(engine), SLOW_AGAIN);
	event.count = engine->urgent_inflight;
	engine_event(engine, &event, "the store has not answered for %lld ms",
		     (long long)(waited / 1000));
}

/* watch_trouble notices what the store says of itself. It begins before the answers of the turn,
 * and ends after them: those that failed have failed of it. */
static void watch_trouble(struct engine *engine)
{
	char words[DW_MESSAGE_SIZE] = "";
	dw_event event = {.kind = DW_EVENT_STORE_FAILED};

	event.status = driven_trouble(engine->store, words, sizeof words);
	if (event.status == DW_OK || event.status == DW_EUNKNOWN || engine->troubled)
		return;
	engine->troubled = true;
	tell_failed(engine, event, words);
}

static void watch_trouble_end(struct engine *engine)
{
	char words[DW_MESSAGE_SIZE];

	if (!engine->troubled || engine->answers.count > 0 ||
	    driven_trouble(engine->store, words, sizeof words) != DW_OK)
		return;
	engine->troubled = false;
	engine_store_back(engine);
}

/* rearm_stranded tries the schedules again, for timers they had no memory for. */
static void rearm_stranded(struct engine *engine)
{
	struct timer *timer = engine->stranded;

	for (uint32_t i = 0; timer && i < TURN_CLAIMS_MAX; i++) {
		struct timer *next = timer->next;

		bool waiting = timer->waiting;

		timer_disarm(engine, timer);
		if (waiting || timer->state == TIMER_HELD) {
			timer_arm_fire(engine, timer,
				       usec_add(engine_now(engine), engine->env.hold));
			timer->waiting = waiting;
		} else {
			engine_resume(engine, timer);
		}
		timer = next;
	}
}

/* ---- The turn ------------------------------------------------------------------------------ */

static bool has_work_left(const struct engine *engine)
{
	bool delivers =
	    !engine->closing && (engine->sweep > 0 || engine->sweep_work > 0 ||
				 topics_revivable(&engine->topics) || engine->topics.recheck);

	return engine->answers.count > 0 || engine->posts_left || engine->notices ||
	       engine->urgent.count > 0 || delivers ||
	       (engine->ordinary.count > 0 &&
		engine->ordinary_inflight < driven_window(engine->store));
}

/* next_turn: when the next turn is needed, unless something wakes the engine before. */
static dw_usec next_turn(const struct engine *engine, dw_usec now)
{
	dw_usec at = usec_min(recover_wake(engine), own_wake(engine));

	if (has_work_left(engine))
		return now;
	at = usec_min(at, own_store_wake(engine, now));
	at = usec_min(at, loss_wake(engine, now));
	at = usec_min(at, patience_wake(engine, now));
	if (engine->stranded)
		at = usec_min(at, usec_add(now, 1000));
	if (!engine->closing && !engine->paused) {
		if (engine->purging == 0)
			at = usec_min(at, own_firing_wake(engine, now));
		if (engine->urgent_inflight < URGENT_MAX)
			at = usec_min(at,
				      usec_sub(schedule_wake(&engine->claim), engine_lead(engine)));
	}
	if (!engine->closing && engine->env.role == DW_OWNER)
		at = usec_min(at, engine->report_at);
	if (owes_answers(engine) && engine_steady(engine) >= engine->slow_until)
		at = usec_min(at, usec_add(now, SLOW_AFTER));
	return at;
}

/* drain_posts does what other threads have asked for. */
static void drain_posts(struct engine *engine)
{
	if (engine->env.posts.drain)
		engine->posts_left = engine->env.posts.drain(engine->env.posts.user);
}

/* give_work gives workers that have come free what is due for them. */
static void give_work(struct engine *engine)
{
	for (uint32_t i = 0; work_is_made(engine) && i < TURN_FIRINGS_MAX; i++) {
		if (!work_next(engine))
			return;
		tell_round(engine);
	}
}

/* end_turn: a turn that an exception has cut short is followed by another one, for the rest. */
static void end_turn(struct engine **turning)
{
	struct engine *engine = *turning;

	if (!engine->in_turn)
		return;
	engine->in_turn = false;
	engine_touch(engine);
}

/* turn does all of it but the arming. */
static int turn(struct engine *engine)
{
	struct engine *turning AT_END(end_turn) = engine;
	dw_usec before;
	dw_usec now;

	turning->in_turn = true;
	engine->woken = false;
	before = engine_steady(engine);
	now = engine_now(engine);
	watch_clock(engine, before, now);
	driven_turn(engine->store, before);
	watch_trouble(engine);
	tell_round(engine);
	answer_round(engine);
	patience_round(engine);
	own_give_way(engine);
	watch_trouble_end(engine);
	drain_posts(engine);
	if (engine->stranded)
		rearm_stranded(engine);
	own_ask(engine, now);
	loss_round(engine, now);
	recover_ask(engine, now);
	if (!engine->closing) {
		deliver_revive(engine);
		deliver_sweep(engine, now);
		if (!engine->paused)
			deliver_claim_round(engine, now);
		give_work(engine);
		deliver_fire_round(engine);
		own_watch_lease(engine, now);
	}
	tell_round(engine);
	if (engine->pid != getpid()) { /* a callback forked, and this is the child */
		engine->in_turn = false;
		return DW_EFORK;
	}
	look_report(engine, now);
	submit_round(engine);
	watch_store(engine);
	engine->in_turn = false;
	return DW_OK;
}

int engine_turn(struct engine *engine)
{
	int status;

	if (engine->in_turn || engine->callback_depth > 0)
		return engine_fail(engine, DW_EBUSY, "a turn cannot run inside a callback");
	status = turn(engine);
	if (status == DW_OK)
		engine->env.loop.arm(engine->env.loop.user, next_turn(engine, engine_now(engine)));
	return status;
}

dw_usec engine_next_firing(const struct engine *engine)
{
	return own_lease_holds(engine) ? schedule_wake(&engine->fire) : DW_NEVER;
}

/* ---- Handlers ------------------------------------------------------------------------------ */

static int set_handler(struct engine *engine, const char *name, dw_fire_fn fire, void *user,
		       bool on_worker)
{
	size_t size = strnlen(name, DW_TOPIC_MAX + 1);
	struct topic *topic;

	if (engine->env.role != DW_OWNER && !engine->env.standby)
		return engine_fail(engine, DW_EROLE, "a client fires nothing: no handlers");
	if (size == 0 || size > DW_TOPIC_MAX || !utf8_is_name(name, size))
		return engine_fail(engine, DW_EINVAL,
				   "the topic is not 1 to %d bytes of UTF-8 without control "
				   "characters",
				   DW_TOPIC_MAX);
	if (strcmp(name, "*") == 0) {
		engine->topics.any_fire = fire;
		engine->topics.any_user = user;
		engine->topics.any_on_worker = on_worker;
	} else {
		topic = topics_get(&engine->topics, name, size);
		if (!topic)
			return engine_fail(engine, DW_ENOMEM, "no memory for the topic");
		topic_handle(&engine->topics, topic, fire, user, on_worker);
		topics_drop(&engine->topics, topic);
	}
	engine_touch(engine);
	return DW_OK;
}

int engine_on(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	return set_handler(engine, name, fire, user, false);
}

int engine_on_worker(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	if ((engine->env.role == DW_OWNER || engine->env.standby) && engine->env.workers.count == 0)
		return engine_fail(engine, DW_EINVAL, "there are no workers: set options.workers");
	return set_handler(engine, name, fire, user, true);
}

void engine_pause(struct engine *engine, bool paused)
{
	engine->paused = paused;
	if (!paused)
		engine_touch(engine);
}

int engine_retry_in(struct engine *engine, dw_usec delay)
{
	if (!engine->firing)
		return engine_fail(engine, DW_EINVAL, "dw_retry_in is for inside a handler");
	if (delay < 0)
		return engine_fail(engine, DW_EINVAL, "the delay is negative");
	engine->retry_in = delay;
	return DW_OK;
}

/* ---- Beginning and ending ------------------------------------------------------------------ */

int engine_new(struct engine **ret_engine, const struct engine_env *env)
{
	struct engine *engine = alloc_new(&env->alloc, sizeof *engine);
	int status;

	if (!engine)
		return DW_ENOMEM;
	engine->env = *env;
	engine->pid = getpid();
	engine->alloc = env->alloc;
	engine->rng.state = env->seed;
	engine->skew = usec_sub(engine_now(engine), engine_steady(engine));
	engine->recovery = env->role == DW_OWNER ? RECOVERY_NEXT : RECOVERY_IDLE;
	engine->stats.next_due = DW_NEVER;
	status = index_init(&engine->index, &engine->alloc, rng_next(&engine->rng));
	if (status == DW_OK)
		status = tell_init(engine);
	if (status == DW_OK)
		status = topics_init(&engine->topics, &engine->alloc, rng_next(&engine->rng));
	if (status == DW_OK)
		status = schedule_init(&engine->claim, &engine->alloc, engine_now(engine));
	if (status == DW_OK)
		status = schedule_init(&engine->fire, &engine->alloc, engine_now(engine));
	if (status == DW_OK && env->workers.count > 0)
		status = schedule_init(&engine->work, &engine->alloc, engine_now(engine));
	if (status != DW_OK) {
		engine_free(engine);
		return status;
	}
	*ret_engine = engine;
	return DW_OK;
}

void engine_attach(struct engine *engine, dw_store *store)
{
	engine->store = store;
	engine_touch(engine);
}

static void free_calls(struct engine *engine, struct call *call)
{
	while (call) {
		struct call *next = call->next;

		if (call->fresh && index_find(&engine->index, call->id) != call->fresh)
			alloc_free(&engine->alloc, call->fresh);
		call_free(engine, call);
		call = next;
	}
}

static void free_timer(struct timer *timer, void *user)
{
	struct engine *engine = user;

	alloc_free(&engine->alloc, timer);
}

static void free_ops(struct engine *engine, dw_op *op)
{
	while (op) {
		dw_op *next = op->next;

		op_free(&engine->alloc, op);
		op = next;
	}
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	tell_free(engine);
	while (engine->open) {
		engine->open->next = NULL;
		free_calls(engine, engine->open);
	}
	assert(engine->open_count == 0 && engine->open_bytes == 0 && engine->again_count == 0);
	free_ops(engine, engine->urgent.first);
	free_ops(engine, engine->ordinary.first);
	free_ops(engine, engine->answers.first);
	op_free(&engine->alloc, engine->newer);
	index_each(&engine->index, free_timer, engine);
	if (engine->index.timers.alloc)
		index_free(&engine->index);
	if (engine->topics.table.alloc)
		topics_free(&engine->topics);
	if (engine->claim.alloc)
		schedule_free(&engine->claim);
	if (engine->fire.alloc)
		schedule_free(&engine->fire);
	if (engine->work.alloc)
		schedule_free(&engine->work);
	alloc_free(&engine->alloc, engine);
}

/* close_timer gives a claim or a hold back, and sends a last time what waited to be sent again. */
static void close_timer(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->busy)
		return; /* its answer goes on with it */
	if (timer->state == TIMER_HELD) {
		deliver_give_back(engine, timer);
	} else if (timer->waiting || timer->state == TIMER_CLAIMED) {
		timer_disarm(engine, timer);
		engine_resume(engine, timer);
	}
}

void engine_begin_close(struct engine *engine)
{
	if (engine->closing)
		return;
	engine->closing = true;
	index_each(&engine->index, close_timer, engine);
	engine_touch(engine);
}

void engine_abandon(struct engine *engine)
{
	op_queue_append(&engine->answers, engine->store->type->collect(engine->store));
	while (engine->answers.count > 0)
		answer_round(engine);
	while (engine->notices || engine->open) {
		while (engine->notices)
			tell_round(engine);
		/* Never handed to the store: the operation is still here, or not made yet. */
		for (struct call *call = engine->open; call; call = call->next_open)
			call_answer(engine, call,
				    call->op || call->early ? DW_ECLOSED : DW_EUNKNOWN);
	}
}

/* ---- State --------------------------------------------------------------------------------- */

bool engine_is_owner(const struct engine *engine)
{
	return engine->env.role == DW_OWNER;
}

bool engine_in_callback(const struct engine *engine)
{
	return engine->callback_depth > 0;
}

bool engine_settled(const struct engine *engine)
{
	uint64_t ordinary = engine->ordinary_inflight + engine->ordinary.count;

	/* A put that is sent again was answered DW_EUNKNOWN: nobody waits for it. */
	if (engine->open_count > engine->again_count || engine->notices)
		return false;
	return !engine->closing || (!engine->loss.pushing && engine->stats.running == 0 &&
				    engine->urgent_inflight == 0 && engine->urgent.count == 0 &&
				    ordinary <= engine->again_count && engine->answers.count == 0);
}

bool engine_is_running(const struct engine *engine)
{
	return engine->stats.running > 0;
}

int engine_take_failure(struct engine *engine)
{
	int failure = engine->failure;

	engine->failure = DW_OK;
	return failure;
}

void engine_clock_stepped(struct engine *engine)
{
	engine_touch(engine); /* the turn compares the clocks */
}

const char *engine_error(const struct engine *engine)
{
	return engine->error;
}
