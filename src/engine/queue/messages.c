#include "engine/queue/messages.h"

#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/queue/message_op.h"
#include "engine/queue/topic_calls.h"
#include "engine/call/lifecycle.h"
#include "engine/queue/takes.h"
#include "engine/due/urgent.h"
#include "port/driven.h"
#include "timer/record.h"
#include "topic/message.h"

/* Pause before a timer is pushed again whose queue could not be reached. */
#define AGAIN DW_SECONDS(1)

/* ---- A timer becomes a message ------------------------------------------------------------- */

void messages_fire(struct engine *engine, struct timer *timer, dw_usec now)
{
	dw_op *op;

	if (driven_settles_messages(engine->store)) {
		delivery_begin(engine, timer, now, false);
		timer->pushes = true;
		delivery_end(engine, timer, DW_DONE, -1);
		return;
	}
	op = message_op(&engine->alloc, timer);
	if (op) {
		op->head = timer->head;
		delivery_begin(engine, timer, now, false);
	}
	urgent_send(engine, timer, op);
}

/* tell_full raises an event when the queue refuses a timer. DW_ECORRUPT means that another program
 * has damaged the queue as a whole. */
static void tell_full(struct engine *engine, const struct timer *timer, int status)
{
	bool is_full = status == DW_ELIMIT;
	dw_event event = {.kind = is_full ? DW_EVENT_QUEUE_FULL : DW_EVENT_CORRUPT,
			  .status = status,
			  .id = timer->id,
			  .topic = timer->topic->name};
	dw_usec now = engine_steady(engine);

	if (timer->topic->told_full > now)
		return;
	timer->topic->told_full = usec_add(now, DW_MINUTES(1));
	event_raise(engine, &event, "the queue %s is %s: its timers wait", timer->topic->name,
		    is_full ? "full" : "damaged (durawheel check says where)");
}

/* refused is called when the queue has no space. The timer keeps its deadline, and its place among
 * the timers that wait. It waits for a consumer, so the wait does not count as lateness. */
static void refused(struct engine *engine, struct timer *timer, int status)
{
	topic_fill(&engine->topics, timer->topic, engine_steady(engine));
	tell_full(engine, timer, status);
	timer->topic->held_until = engine_now(engine);
	timer->retry_at = timer->head.due;
}

void messages_refused(struct engine *engine, struct timer *timer, const dw_op *push)
{
	dw_usec wait = AGAIN;

	delivery_unbegin(engine, timer);
	if (push->status == DW_ELIMIT || push->status == DW_ECORRUPT)
		refused(engine, timer, push->status);
	timer->refused = push->status == DW_EBUSY;
	if (timer->refused) {
		timer->retry_at = timer->head.due;
		wait = usec_max(usec_sub(push->head.due, engine_now(engine)), 0);
	}
	timer->uncounted = true;
	timer->pushes = false;
	delivery_end(engine, timer, DW_RETRY, wait);
}

void messages_entered(struct engine *engine, const struct timer *timer)
{
	takes_pushed(engine, timer->topic->name, 1);
	topic_got_in(&engine->topics, timer->topic);
}

void messages_fired(struct engine *engine, struct timer *timer, const dw_op *op)
{
	if (op->status == DW_OK)
		takes_pushed(engine, op->topic, 1);
	if (!shards_is_current(&engine->shards, timer->shard, op) ||
	    timer->head.generation != op->head.generation) {
		lifecycle_resume(engine, timer);
		return;
	}
	if (op->status != DW_OK) {
		messages_refused(engine, timer, op);
		return;
	}
	topic_got_in(&engine->topics, timer->topic);
	delivery_end(engine, timer, DW_DONE, -1);
}

/* ---- Push ---------------------------------------------------------------------------------- */

static int check_one(struct engine *engine, const dw_timer *first, const dw_timer *timer)
{
	int status = arguments_timer(timer, engine->env.data_max, engine->events.error);

	if (status != DW_OK)
		return status;
	if (timer->flags || timer->late_after_us || timer->rule)
		return engine_fail(engine, DW_EINVAL,
				   "a message has no flags, no late_after_us and no rule");
	if (strcmp(first->topic, timer->topic) != 0)
		return engine_fail(engine, DW_EINVAL, "a push is of one topic: %s is not %s",
				   timer->topic, first->topic);
	return DW_OK;
}

static const dw_timer *timer_at(const dw_timer *timers, size_t i)
{
	return (const dw_timer *)(const void *)((const char *)timers + i * timers->size);
}

static int check_push(struct engine *engine, const dw_timer *timers, size_t count)
{
	int status = DW_OK;
	size_t bytes = 0;

	if (!driven_keeps_topics(engine->store))
		return engine_fail(engine, DW_EINVAL, "this store keeps no queues");
	if (count == 0 || count > DW_TAKE_MAX)
		return engine_fail(engine, DW_EINVAL, "a push has 1 to %d messages, not %zu",
				   DW_TAKE_MAX, count);
	if (!timers || grown_size_is_wrong(timers->size, sizeof(size_t)))
		return engine_fail(engine, DW_EINVAL,
				   "the messages are NULL, or their size is not sizeof(dw_timer)");
	for (size_t i = 0; status == DW_OK && i < count; i++) {
		status = check_one(engine, timers, timer_at(timers, i));
		bytes += timer_at(timers, i)->data_size;
	}
	if (status == DW_OK && bytes > DW_TAKE_BYTES)
		return engine_fail(engine, DW_ELIMIT,
				   "a push has at most 16 MiB of data, not %zu bytes: push the "
				   "messages in parts",
				   bytes);
	return status;
}

static struct record record_of(const dw_timer *timer, const char *id)
{
	return (struct record){.id = id,
			       .topic = timer->topic,
			       .data = timer->data,
			       .data_size = (uint32_t)timer->data_size,
			       .id_size = (uint8_t)strlen(id),
			       .topic_size = (uint8_t)strlen(timer->topic)};
}

/* size_of returns the size of the message. An id that the engine makes has a fixed size. */
static size_t size_of(const dw_timer *timer)
{
	char made[RNG_ID_SIZE] = "01234567890123456789012345678901";
	struct record record = record_of(timer, timer->id ? timer->id : made);

	return message_size(record_size(&record));
}

/* write_one writes a message in place: its record is encoded where message_write() expects it. */
static unsigned char *write_one(struct engine *engine, unsigned char *at, const dw_timer *timer)
{
	char made[RNG_ID_SIZE];
	struct record record = record_of(timer, timer->id ? timer->id : rng_id(&engine->rng, made));
	struct message message = {.head = {.due = engine_now(engine)},
				  .body = at + message_size(0),
				  .body_size = record_size(&record)};

	record_encode(&record, at + message_size(0));
	return message_write(at, &message);
}

int engine_push(struct engine *engine, const dw_timer *timers, size_t count, struct done done)
{
	size_t size = 0;
	unsigned char *at;
	struct call *call;
	dw_op *op;
	int status = check_push(engine, timers, count);

	if (status == DW_OK)
		status =
		    call_new(engine, CALL_PUSH, count == 1 && timers->id ? timers->id : "", &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	for (size_t i = 0; i < count; i++)
		size += size_of(timer_at(timers, i));
	op = op_with_topic(&engine->alloc, DW_OP_PUSH, NULL, timers->topic, size);
	at = op ? op_room(op) : NULL;
	for (size_t i = 0; op && i < count; i++)
		at = write_one(engine, at, timer_at(timers, i));
	return call_ask(engine, call, op);
}

void messages_pushed(struct engine *engine, dw_op *op)
{
	if (!ticket_of(op)->call)
		return; /* no call waits: the operation only called a consumer */
	if (op->status == DW_OK)
		takes_pushed(engine, op->topic, message_count(op->body, op->body_size));
	call_answer_ask(engine, op);
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* A call that answers messages. Its tokens are grouped by topic, because an operation has one
 * topic. */
struct answers {
	dw_verdict verdict;
	dw_usec due; /* when the messages come back; 0: after the delay of their topics */
	char why[DW_WHY_MAX + 1];
	size_t count;
	size_t left;    /* operations that are not answered yet */
	size_t *order;  /* the results in the order in which the operations name them */
	size_t ordered; /* number of entries of `order` in use */
	dw_result *results;
	char (*tokens)[DW_TOKEN_SIZE];
};

static struct answers *answers_of(const struct call *call)
{
	return call->extra;
}

static struct answers *answers_new(struct engine *engine, const dw_answer *answer)
{
	size_t count = answer->count;
	struct answers *answers =
	    alloc_new(&engine->alloc, sizeof *answers + count * (sizeof(size_t) + DW_TOKEN_SIZE +
								 sizeof(dw_result)));
	if (!answers)
		return NULL;
	answers->verdict = answer->verdict;
	(void)utf8_clean(answer->why ? answer->why : "", answers->why, sizeof answers->why);
	answers->count = count;
	answers->results = (dw_result *)(void *)(answers + 1);
	answers->order = (size_t *)(void *)(answers->results + count);
	answers->tokens = (char(*)[DW_TOKEN_SIZE])(void *)(answers->order + count);
	if (answer->verdict == DW_RETRY && answer->retry_in > 0)
		answers->due = usec_add(engine_now(engine), answer->retry_in);
	for (size_t i = 0; i < count; i++) {
		memcpy(answers->tokens[i], answer->tokens[i], strlen(answer->tokens[i]));
		answers->results[i] = (dw_result){
		    .size = sizeof(dw_result), .status = DW_EUNKNOWN, .id = answers->tokens[i]};
	}
	return answers;
}

/* send_op sends an operation of the call. It returns false if there is no memory. */
static bool send_op(struct engine *engine, struct call *call, dw_op *op)
{
	if (!op)
		return false;
	op->asked = engine_steady(engine);
	ticket_of(op)->call = call;
	answers_of(call)->left++;
	submit_push(&engine->submit, op, false);
	return true;
}

/* answer_op makes the ANSWER operation for `count` tokens of one topic. The answer for token i goes
 * into results[order[from + i]]. */
static dw_op *answer_op(struct engine *engine, const struct answers *answers, const char *topic,
			size_t from, size_t count)
{
	size_t size = 0;
	unsigned char *at;
	dw_op *op;

	for (size_t i = 0; i < count; i++)
		size += strlen(answers->tokens[answers->order[from + i]]) + 1 - strlen(topic) - 1;
	op = op_with_topic(&engine->alloc, DW_OP_ANSWER, NULL, topic, size);
	if (!op)
		return NULL;
	at = op_room(op);
	for (size_t i = 0; i < count; i++) {
		const char *own = answers->tokens[answers->order[from + i]] + strlen(topic) + 1;

		memcpy(at, own, strlen(own) + 1);
		at += strlen(own) + 1;
	}
	op->limit = count;
	op->verdict = answers->verdict;
	op->head.due = answers->due;
	op->head.generation = rng_next(&engine->rng);
	op->after.generation = from;
	return op;
}

/* send_topic sends all tokens that have the topic of the token `first`, which was not sent yet. */
static bool send_topic(struct engine *engine, struct call *call, bool *ordered, size_t first)
{
	struct answers *answers = answers_of(call);
	size_t from = answers->ordered;
	char topic[DW_TOPIC_MAX + 1], other[DW_TOPIC_MAX + 1];
	const char *own;

	(void)token_split(answers->tokens[first], topic, &own); /* checked */
	for (size_t i = first; i < answers->count; i++) {
		(void)token_split(answers->tokens[i], other, &own); /* checked */
		if (ordered[i] || strcmp(topic, other) != 0)
			continue;
		ordered[i] = true;
		answers->order[answers->ordered++] = i;
	}
	return send_op(engine, call,
		       answer_op(engine, answers, topic, from, answers->ordered - from));
}

static int check_answer(struct engine *engine, const dw_answer *answer)
{
	char topic[DW_TOPIC_MAX + 1];
	const char *own;

	if (!driven_keeps_topics(engine->store))
		return engine_fail(engine, DW_EINVAL, "this store keeps no queues");
	if (grown_size_is_wrong(answer->size, sizeof *answer) ||
	    grown_is_unknown(answer, sizeof *answer, answer->size))
		return engine_fail(engine, DW_EINVAL, "answer.size is not sizeof(dw_answer)");
	if (answer->retry_in < 0)
		return engine_fail(engine, DW_EINVAL, "retry_in is negative");
	if (answer->count == 0 || answer->count > DW_TAKE_MAX || !answer->tokens)
		return engine_fail(engine, DW_EINVAL, "an answer has 1 to %d tokens, not %zu",
				   DW_TAKE_MAX, answer->count);
	if (answer->verdict != DW_DONE && answer->verdict != DW_RETRY &&
	    answer->verdict != DW_DEAD && answer->verdict != DW_HOLD)
		return engine_fail(engine, DW_EINVAL, "a verdict is DW_DONE, DW_RETRY or DW_DEAD");
	for (size_t i = 0; i < answer->count; i++)
		if (!answer->tokens[i] || !token_split(answer->tokens[i], topic, &own))
			return engine_fail(engine, DW_EINVAL,
					   "token %zu is not one of a message: it looks like "
					   "game.x/17/1, in Redis like "
					   "game.x/1795478400000016-1795478400031416-0/2",
					   i + 1);
	return DW_OK;
}

int engine_answer(struct engine *engine, const dw_answer *answer, dw_bulk_fn fn, void *user)
{
	bool ordered[DW_TAKE_MAX] = {false};
	struct answers *answers;
	struct call *call;
	int status = check_answer(engine, answer);

	if (status == DW_OK)
		status = call_new(engine, CALL_ACK, "", &call);
	if (status != DW_OK)
		return status;
	call->extra = answers = answers_new(engine, answer);
	if (!answers) {
		call_free(engine, call);
		return engine_fail(engine, DW_ENOMEM, "no memory for the call");
	}
	call->on_answered = fn;
	call->on_messages_user = user;
	for (size_t i = 0; i < answers->count; i++) {
		if (ordered[i] || send_topic(engine, call, ordered, i))
			continue;
		if (answers->left > 0)
			break; /* the other results stay without an answer: DW_EUNKNOWN */
		call_free(engine, call);
		return engine_fail(engine, DW_ENOMEM, "no memory for the call");
	}
	engine_touch(engine);
	return DW_OK;
}

/* ---- What became of it --------------------------------------------------------------------- */

/* bury makes a dead letter of a message whose retries are used up. Once the dead letter is stored,
 * the message is deleted. */
static void bury(struct engine *engine, struct call *call, const dw_op *answered, const dw_row *row,
		 size_t result)
{
	const char *why = answers_of(call)->why;
	size_t size = row->body_size + strlen(why);
	dw_op *op = op_with_topic(&engine->alloc, DW_OP_LETTER, row->id, answered->topic, size);

	if (op) {
		memcpy(op_room(op), row->body, row->body_size);
		memcpy(op_room(op) + row->body_size, why, strlen(why));
		op->body_size = row->body_size;
		op->limit = strlen(why);
		op->head = row->head;
		op->reason =
		    answers_of(call)->verdict == DW_DEAD ? DW_REASON_GAVE_UP : DW_REASON_RETRIES;
		op->after.generation = result;
	}
	if (!send_op(engine, call, op))
		answers_of(call)->results[result].status = DW_ENOMEM;
}

static void take_results(struct engine *engine, struct call *call, const dw_op *op)
{
	struct answers *answers = answers_of(call);

	for (size_t i = 0; i < op->limit; i++) {
		dw_result *result = &answers->results[answers->order[op->after.generation + i]];

		result->status = op->status;
		result->level = op->status == DW_OK ? op->level : DW_NOTHING;
	}
	for (const dw_row *row = op->status == DW_OK ? op->rows : NULL; row; row = row->next) {
		size_t result = answers->order[op->after.generation + row->number];

		if (row->status == DW_ELIMIT && row->body_size > 0)
			bury(engine, call, op, row, result);
		else
			answers->results[result].status = row->status;
		answers->results[result].level = DW_NOTHING;
	}
}

/* take_letter is called when the message is stored as a dead letter. The message itself is deleted
 * now. */
static void take_letter(struct engine *engine, struct call *call, const dw_op *op)
{
	struct answers *answers = answers_of(call);
	size_t result = op->after.generation;
	dw_event event = {.kind = DW_EVENT_DEAD,
			  .status = op->reason == DW_REASON_GAVE_UP ? DW_OK : DW_ELIMIT,
			  .id = op->id,
			  .topic = op->topic,
			  .why = *answers->why ? answers->why : NULL};
	size_t place = 0;
	dw_op *last;

	answers->results[result].status = op->status;
	if (op->status != DW_OK)
		return;
	answers->results[result].level = op->level;
	event_raise(engine, &event, "%s is dead: %s%s%s", op->id, dw_reason_name(op->reason),
		    *answers->why ? ": " : "", answers->why);
	while (answers->order[place] != result)
		place++;
	last = answer_op(engine, answers, op->topic, place, 1);
	if (last)
		last->verdict = DW_DONE;
	/* If there is no memory, the message comes back and becomes a dead letter again. */
	(void)send_op(engine, call, last);
}

void messages_answered(struct engine *engine, dw_op *op)
{
	struct call *call = ticket_of(op)->call;
	struct answers *answers = answers_of(call);

	(op->kind == DW_OP_LETTER ? take_letter : take_results)(engine, call, op);
	if (op->verdict == DW_RETRY)
		takes_ready(&engine->calls);
	/* The ANSWER that deletes a dead message also comes here. */
	else if (op->verdict != DW_HOLD)
		takes_made_room(&engine->topics, op->topic);
	if (--answers->left == 0)
		call_answer(engine, call, DW_OK);
}

void messages_show(struct engine *engine, const struct call *call)
{
	const struct answers *answers = answers_of(call);

	if (call->on_answered) {
		call->on_answered(engine->env.handle, answers->results, answers->count,
				  call->on_messages_user);
		return;
	}
	for (size_t i = 0; i < answers->count; i++)
		if (answers->results[i].status != DW_OK && answers->results[i].status != DW_ESTALE)
			event_failed(engine, "answer to a message", answers->tokens[i],
				     answers->results[i].status);
}
