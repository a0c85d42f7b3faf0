/* What the API asked for. Each call is answered exactly once, never from inside itself; for one id
 * one operation is under way at a time, the others wait in order. */
#include "engine/internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/arguments.h"
#include "timer/record.h"

int call_make(struct engine *engine, enum call_kind kind, const char *id, struct call **ret_call)
{
	size_t id_size = strlen(id) + 1;
	struct call *call = alloc_new(&engine->alloc, sizeof *call + id_size);

	if (!call) {
		(void)engine_fail(engine, DW_ENOMEM, "no memory for the call");
		return DW_ENOMEM; /* plain, so that a compiler sees that *ret_call is not read */
	}
	call->kind = kind;
	call->asked = engine_steady(engine);
	call->bytes = sizeof *call + id_size;
	engine->open_bytes += call->bytes;
	memcpy(call->id, id, id_size);
	call->next_open = engine->open;
	if (engine->open)
		engine->open->prev_open = call;
	engine->open = call;
	engine->open_count++;
	*ret_call = call;
	return DW_OK;
}

/* A store that does not answer must not eat all memory: its callers wait. What is part of a
 * delivery is no more than there are deliveries. */
int call_new(struct engine *engine, enum call_kind kind, const char *id, struct call **ret_call)
{
	if (engine->open_bytes >= DW_UNANSWERED_MAX) {
		(void)engine_fail(engine, DW_ELIMIT,
				  "calls of %d MiB are not answered yet: wait for an answer",
				  DW_UNANSWERED_MAX / (1024 * 1024));
		return DW_ELIMIT;
	}
	return call_make(engine, kind, id, ret_call);
}

void call_charge(struct engine *engine, struct call *call, const dw_op *op)
{
	size_t bytes = sizeof *op + op->body_size + (op->id ? strlen(op->id) : 0);

	call->bytes += bytes;
	engine->open_bytes += bytes;
}

void call_free(struct engine *engine, struct call *call)
{
	if (call->prev_open)
		call->prev_open->next_open = call->next_open;
	else
		engine->open = call->next_open;
	if (call->next_open)
		call->next_open->prev_open = call->prev_open;
	patience_end(engine, call);
	engine->open_count--;
	engine->again_count -= call->internal;
	engine->open_bytes -= call->bytes;
	op_free(&engine->alloc, call->op);
	alloc_free(&engine->alloc, call);
}

/* drop_fresh: the timer of a put that was not stored. */
static void drop_fresh(struct engine *engine, struct call *call)
{
	struct timer *fresh = call->fresh;

	call->fresh = NULL;
	if (!fresh)
		return;
	fresh->storing = false;
	if (index_find(&engine->index, call->id) != fresh)
		timer_release(engine, fresh);
}

void call_answer(struct engine *engine, struct call *call, int status)
{
	call->status = status;
	patience_end(engine, call);
	drop_fresh(engine, call);
	tell_call(engine, call);
}

void call_answer_ask(struct engine *engine, dw_op *op)
{
	struct call *call = op->call;

	call->op = op;
	call_answer(engine, call, op->status);
}

bool call_has(const dw_op *op)
{
	const struct call *call = op->call;

	return call && call->op == op;
}

void call_queue(struct timer *timer, struct call *call)
{
	struct call **end = &timer->calls;

	while (*end)
		end = &(*end)->next;
	call->next = NULL;
	*end = call;
}

/* ---- Beginning a call ---------------------------------------------------------------------- */

static void send_call(struct engine *engine, struct timer *timer, struct call *call)
{
	dw_op *op = call->op;

	call->op = NULL;
	op->call = call;
	op->asked = call->internal ? 0 : patience_since(engine, call);
	timer->busy = true;
	engine_submit(engine, op, false);
}

static void begin_put(struct engine *engine, struct timer *timer, struct call *call)
{
	dw_op *op = call->op;
	dw_usec soon = usec_add(engine_now(engine), engine_lead(engine));

	if (timer->state == TIMER_CLAIMED && !(op->flags & DW_OP_NEW))
		op->flags |= DW_OP_WITHDRAWN;
	/* Due sooner than it could be claimed: stored as claimed at once. */
	if (engine->env.role == DW_OWNER && !engine->closing && op->head.due <= soon &&
	    topic_handled(&engine->topics, call->fresh->topic))
		op->flags |= DW_OP_CLAIMED;
	send_call(engine, timer, call);
}

static bool is_being_delivered(const struct timer *timer)
{
	return timer->state == TIMER_FIRING || timer->state == TIMER_HELD ||
	       timer->state == TIMER_VERDICT;
}

/* begin_change: of a cancel or a move, which come too late for a delivery under way. */
static void begin_change(struct engine *engine, struct timer *timer, struct call *call)
{
	if (is_being_delivered(timer)) {
		if (call->kind == CALL_CANCEL)
			timer->no_retry = true;
		call_answer(engine, call, DW_ELATE);
		return;
	}
	if (timer->state != TIMER_ABSENT)
		call->op->head.generation = timer->head.generation;
	/* Not started: a claim of ours, even one whose answer was lost, is taken back. */
	if (engine->env.role == DW_OWNER)
		call->op->flags |= DW_OP_WITHDRAWN;
	send_call(engine, timer, call);
}

static bool holds(const struct timer *timer, uint64_t generation, uint32_t attempt)
{
	return timer && timer->state == TIMER_HELD && timer->head.generation == generation &&
	       timer->head.attempt == attempt;
}

/* may_hold: a worker has this delivery and may say DW_HOLD yet. It may have told another thread,
 * which settles before it has. */
static bool may_hold(const struct engine *engine, const struct timer *timer, uint64_t generation,
		     uint32_t attempt)
{
	return timer && timer->state == TIMER_FIRING && timer != engine->firing &&
	       !timer->settling && timer->head.generation == generation &&
	       timer->head.attempt == attempt;
}

static void begin_settle(struct engine *engine, struct timer *timer, struct call *call)
{
	if (may_hold(engine, timer, call->generation, call->attempt)) {
		call->early = true;
		timer->settling = call;
		return;
	}
	if (!holds(timer, call->generation, call->attempt)) {
		call_answer(engine, call, DW_ESTALE);
		return;
	}
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_VERDICT);
	timer->verdict = (uint8_t)call->verdict;
	timer->retry_in = call->retry_in;
	timer->settling = call;
	patience_begin(engine, call);
	deliver_verdict(engine, timer);
}

/* withdraw takes a timer that has not started out of the schedules: a call changes it. */
static void withdraw(struct engine *engine, struct timer *timer)
{
	if (timer->state == TIMER_PENDING || timer->state == TIMER_CLAIMED || timer->waiting)
		timer_disarm(engine, timer);
}

static void begin(struct engine *engine, struct timer *timer, struct call *call)
{
	switch (call->kind) {
	case CALL_PUT:
		begin_put(engine, timer, call);
		break;
	case CALL_CANCEL:
	case CALL_MOVE:
		begin_change(engine, timer, call);
		break;
	case CALL_REQUEUE:
		send_call(engine, timer, call);
		break;
	case CALL_SETTLE:
	default:
		begin_settle(engine, timer, call);
		break;
	}
}

/* go_on does what the timer's state asks for, now that no call waits. */
static void go_on(struct engine *engine, struct timer *timer)
{
	switch ((enum timer_state)timer->state) {
	case TIMER_ABSENT:
		index_remove(&engine->index, timer);
		timer_release(engine, timer);
		break;
	case TIMER_PENDING:
		if (timer->place == PLACE_NONE)
			timer_arm_claim(engine, timer);
		break;
	case TIMER_CLAIMED:
		if (engine->closing)
			deliver_give_back(engine, timer);
		else if (timer->place == PLACE_NONE)
			timer_arm_fire(engine, timer, timer->head.due);
		break;
	case TIMER_VERDICT:
		deliver_verdict(engine, timer);
		break;
	case TIMER_HELD:
		/* An operation that had to be tried again took the place of the hold's time-out. */
		if (timer->place == PLACE_NONE && !engine->closing)
			timer_arm_fire(engine, timer,
				       usec_add(engine_now(engine), engine->env.hold));
		break;
	case TIMER_FIRING:
		break;
	}
}

void engine_resume(struct engine *engine, struct timer *timer)
{
	while (timer->calls && !timer->busy && !timer->waiting) {
		struct call *call = timer->calls;

		timer->calls = call->next;
		patience_end(engine, call);
		begin(engine, timer, call);
	}
	if (!timer->busy && !timer->waiting)
		go_on(engine, timer);
}

/* start begins a call at once, or lets it wait behind the operation under way. */
static void start(struct engine *engine, struct timer *timer, struct call *call)
{
	bool is_new = call->op && call->op->flags & DW_OP_NEW;

	if (call->op)
		call_charge(engine, call, call->op);
	if (call->kind != CALL_SETTLE && !is_new)
		withdraw(engine, timer);
	call_queue(timer, call);
	patience_begin(engine, call);
	engine_resume(engine, timer);
	engine_touch(engine);
}

/* ---- The API's calls ----------------------------------------------------------------------- */

/* make_id writes a unique id: 128 random bits, so that ids of many processes do not meet. */
static const char *make_id(struct engine *engine, char *id)
{
	uint64_t high = rng_next(&engine->rng);
	uint64_t low = rng_next(&engine->rng);

	(void)snprintf(id, DW_ID_MAX, "%016llx%016llx", (unsigned long long)high,
		       (unsigned long long)low); /* 32 of 255 bytes */
	return id;
}

/* head_of finds the id's timer, or makes a place for it. */
static int head_of(struct engine *engine, const char *id, struct timer *fresh,
		   struct timer **ret_head)
{
	struct timer *head = index_find(&engine->index, id);
	int status = DW_OK;

	if (head) {
		*ret_head = head;
		return DW_OK;
	}
	if (index_count(&engine->index) >= engine->env.timers_max)
		return engine_fail(engine, DW_ELIMIT, "there are %zu timers: options.timers_max",
				   engine->env.timers_max);
	head = fresh;
	if (!head)
		status = timer_adopt(engine, id, NULL, 0, &head);
	if (status == DW_OK)
		status = index_add(&engine->index, head);
	if (status != DW_OK) {
		if (head && !fresh)
			timer_release(engine, head);
		return engine_fail(engine, DW_ENOMEM, "no memory for the timer");
	}
	*ret_head = head;
	return DW_OK;
}

/* make_fresh builds the timer to be and the operation that stores it. */
static int make_fresh(struct engine *engine, const dw_timer *timer, struct call *call)
{
	struct record record = {.id = call->id,
				.topic = timer->topic,
				.data = timer->data,
				.late_after = timer->late_after_us,
				.data_size = (uint32_t)timer->data_size,
				.id_size = (uint8_t)strlen(call->id),
				.topic_size = (uint8_t)strlen(timer->topic)};
	size_t size = record_size(&record);
	size_t topic_size = record.topic_size + (size_t)1;
	unsigned char *body = alloc_new(&engine->alloc, size + topic_size);
	int status = DW_ENOMEM;

	if (!body)
		return engine_fail(engine, DW_ENOMEM, "no memory for the timer");
	record_encode(&record, body);
	/* The operation owns all it names: its topic stands behind the body. */
	memcpy(body + size, timer->topic, topic_size);
	call->op = op_new(&engine->alloc, DW_OP_PUT, call->id, body, size + topic_size);
	if (call->op)
		status = timer_adopt(engine, call->id, body, size, &call->fresh);
	alloc_free(&engine->alloc, body);
	if (status != DW_OK)
		return engine_fail(engine, DW_ENOMEM, "no memory for the timer");
	call->fresh->head.due = timer->due;
	call->fresh->storing = true;
	call->op->head.due = timer->due;
	call->op->body_size = size;
	call->op->topic = (const char *)call->op->body + size;
	if (timer->flags & DW_NEW)
		call->op->flags |= DW_OP_NEW;
	return DW_OK;
}

/* give_up frees a call that could not be accepted. */
static int give_up(struct engine *engine, struct call *call, int status)
{
	if (call->fresh)
		timer_release(engine, call->fresh);
	call_free(engine, call);
	return status;
}

int engine_put(struct engine *engine, const dw_timer *timer, struct done done)
{
	char made[DW_ID_MAX + 1];
	struct timer *head = NULL;
	struct call *call;
	int status = arguments_timer(timer, engine->env.data_max, engine->error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_PUT, timer->id ? timer->id : make_id(engine, made), &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	status = make_fresh(engine, timer, call);
	if (status == DW_OK)
		status = head_of(engine, call->id, call->fresh, &head);
	if (!head)
		return give_up(engine, call, status);
	engine->stats.put++;
	start(engine, head, call);
	return DW_OK;
}

int call_change(struct engine *engine, struct call *call, dw_op *op)
{
	struct timer *head = NULL;
	int status;

	call->op = op;
	if (op)
		status = head_of(engine, call->id, NULL, &head);
	else
		status = engine_fail(engine, DW_ENOMEM, "no memory for the call");
	if (!head)
		return give_up(engine, call, status);
	start(engine, head, call);
	return DW_OK;
}

int call_ask(struct engine *engine, struct call *call, dw_op *op)
{
	if (!op) {
		call_free(engine, call);
		return engine_fail(engine, DW_ENOMEM, "no memory for the call");
	}
	call_charge(engine, call, op);
	op->call = call;
	op->asked = patience_since(engine, call);
	engine_submit(engine, op, false);
	engine_touch(engine);
	return DW_OK;
}

int engine_cancel(struct engine *engine, const char *id, struct done done)
{
	struct call *call;
	int status = arguments_id(id, engine->error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_CANCEL, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	return call_change(engine, call, op_new(&engine->alloc, DW_OP_CANCEL, id, NULL, 0));
}

int engine_move(struct engine *engine, const char *id, dw_usec due, struct done done)
{
	struct call *call;
	dw_op *op;
	int status = arguments_id(id, engine->error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_MOVE, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_MOVE, id, NULL, 0);
	if (op)
		op->head.due = due;
	return call_change(engine, call, op);
}

int engine_settle(struct engine *engine, const dw_token *token, dw_verdict verdict,
		  dw_usec retry_in, struct done done)
{
	struct timer *head;
	struct call *call;
	int status = arguments_settle(token, verdict, engine->error);

	if (status != DW_OK)
		return status;
	head = index_find(&engine->index, token->id);
	if (!holds(head, token->generation, token->attempt) &&
	    !may_hold(engine, head, token->generation, token->attempt))
		return engine_fail(engine, DW_ESTALE, "this delivery of %s is not held any more",
				   token->id);
	status = call_make(engine, CALL_SETTLE, token->id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	call->generation = token->generation;
	call->attempt = token->attempt;
	call->verdict = verdict;
	call->retry_in = retry_in;
	start(engine, head, call);
	return DW_OK;
}
