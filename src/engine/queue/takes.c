#include "engine/queue/takes.h"

#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/queue/take.h"
#include "engine/queue/topic_calls.h"
#include "port/driven.h"
#include "timer/record.h"

#define LOOK_EVERY DW_SECONDS(1)
#define WAIT_MAX DW_HOURS(1)
#define COMES_MIN DW_MILLISECONDS(5)

/* ---- The list ------------------------------------------------------------------------------ */

static void join(struct takes *takes, struct take *take)
{
	/* Numbers are used again. So takes that come and go leave no more than one note in the
	 * store. */
	take->number = 1;
	while (take_by_number(takes, take->number))
		take->number++;
	take->prev = takes->last;
	*(takes->last ? &takes->last->next : &takes->first) = take;
	takes->last = take;
	takes->count++;
}

static void leave(struct takes *takes, struct take *take)
{
	*(take->prev ? &take->prev->next : &takes->first) = take->next;
	*(take->next ? &take->next->prev : &takes->last) = take->prev;
	takes->count--;
}

/* waits returns true if the take goes on after a round without messages. */
static bool waits(const struct engine *engine, const struct take *take)
{
	return take->until > engine_steady(engine) && !engine->drive.closing;
}

/* finish answers the call. op has the messages; it may be NULL. */
static void finish(struct engine *engine, struct take *take, dw_op *op, int status)
{
	leave(&engine->calls.takes, take);
	if (take->called[0])
		take_pass_on(engine, take->called);
	if (op)
		take->call->op = op;
	call_answer(engine, take->call, status);
}

/* ---- Asking -------------------------------------------------------------------------------- */

/* send sends an operation of the take. If there is no memory, the take asks again later. */
static void send(struct engine *engine, struct take *take, dw_op *op)
{
	if (!op) {
		take->again = usec_add(engine_steady(engine), RETRY_STORE);
		return;
	}
	op->asked = engine_steady(engine);
	ticket_of(op)->call = take->call;
	take->is_asked = true;
	submit_push(&engine->submit, op, false);
}

static void ask_topic(struct engine *engine, struct take *take, bool looks)
{
	const char *topic = take->topics[take->at].name;
	dw_op *op = op_new(&engine->alloc, DW_OP_TAKE, topic, NULL, 0);

	if (strcmp(topic, take->called) == 0)
		take->called[0] = '\0';
	if (op) {
		op->topic = op->id;
		op->id = NULL;
		op->limit = take->max;
		op->flags = looks ? DW_OP_LOOK : 0;
		op->head.generation = waits(engine, take) ? take->number : 0;
	}
	send(engine, take, op);
}

static bool looks(const struct engine *engine, const struct take *take)
{
	return take->has_looked && driven_look_every(engine->store) > 0;
}

static void find(struct engine *engine, struct take *take)
{
	send(engine, take, op_new(&engine->alloc, DW_OP_TOPIC_LIST, NULL, NULL, 0));
}

/* note tells the store the prefixes of the topics that the take wants. The take looks for topics
 * only after that, so that it misses no message in between. */
static void note(struct engine *engine, struct take *take)
{
	size_t size = take->name_count == 0;
	unsigned char *at;
	dw_op *op;

	for (size_t i = 0; i < take->name_count; i++)
		size += take_prefix(take->names[i]) + 1;
	op = op_new(&engine->alloc, DW_OP_AWAIT, NULL, NULL, size);
	at = op ? op_room(op) : NULL;
	for (size_t i = 0; op && i < take->name_count; i++) {
		size_t prefix = take_prefix(take->names[i]);

		memcpy(at, take->names[i], prefix);
		at += prefix + 1; /* the body is filled with zeros, so each prefix ends with NUL */
	}
	if (op) {
		op->body = op_room(op);
		op->body_size = size;
		op->head.generation = take->number;
	}
	send(engine, take, op);
}

/* copy_names lets the round ask the topics that the caller has named. */
static void copy_names(struct take *take)
{
	take->count = take->name_count;
	for (size_t i = 0; i < take->count; i++)
		memcpy(take->topics[i].name, take->names[i], sizeof take->names[i]);
}

/* begin starts a round, in which the topics are asked one after the other. A take that was called
 * asks only the topic that has called it. */
static void begin(struct engine *engine, struct take *take)
{
	take->at = 0;
	take->is_wrong = take->is_noted = take->is_stale = false;
	take->comes = DW_NEVER;
	take->last.name[0] = '\0';
	if (take->called[0]) {
		take->count = 1;
		/* In its next round the take asks all its topics. */
		take->is_stale = take->finds || take->name_count != 1;
		memcpy(take->topics[0].name, take->called, sizeof take->called);
		ask_topic(engine, take, false);
	} else if (!take->finds) {
		copy_names(take);
		ask_topic(engine, take, looks(engine, take));
	} else if (take->has_looked && driven_calls_takes(engine->store)) {
		note(engine, take);
	} else {
		find(engine, take);
	}
}

/* next_round returns when the next round begins, after a round that found nothing; steady time. */
static dw_usec next_round(const struct engine *engine, const struct take *take)
{
	dw_usec steady = engine_steady(engine), every = driven_look_every(engine->store);
	dw_usec at = usec_min(take->until, usec_add(steady, every ? every : LOOK_EVERY));
	/* The clock of the store may be behind, so the take waits at least COMES_MIN. */
	dw_usec comes = usec_max(usec_sub(take->comes, engine_now(engine)), COMES_MIN);
	bool is_unnoted = take->finds && !take->is_noted && driven_calls_takes(engine->store);

	if (take->called[0] || take->is_stale || is_unnoted)
		return 0;
	return take->comes == DW_NEVER ? at : usec_min(at, usec_add(steady, comes));
}

/* wait_on ends a round that found nothing. */
static void wait_on(struct engine *engine, struct take *take, dw_op *op)
{
	if (take->is_wrong) {
		finish(engine, take, op, DW_ENOENT);
	} else if (!waits(engine, take)) {
		finish(engine, take, op, engine->drive.closing ? DW_ECLOSED : take->failure);
	} else {
		take->has_looked = true;
		take->again = next_round(engine, take);
	}
}

/* ask_on asks the next topic. After the last topic it finds more topics, or ends the round. */
static void ask_on(struct engine *engine, struct take *take, dw_op *op)
{
	if (take->at < take->count) {
		ask_topic(engine, take, looks(engine, take));
	} else if (take->finds && take->count == DW_TAKE_TOPICS_MAX) {
		take->last = take->topics[take->count - 1];
		find(engine, take);
	} else {
		wait_on(engine, take, op);
	}
}

/* ---- Answers ------------------------------------------------------------------------------- */

static bool is_sound(const dw_row *row)
{
	struct record record;

	return row->status == DW_OK && record_decode(row->body, row->body_size, &record) == DW_OK;
}

/* words_of says what is wrong with a message that is not sound. */
static const char *words_of(const dw_row *row)
{
	if (row->status == DW_ENEWER)
		return "is of a newer durawheel: left alone";
	return row->why ? row->why : "does not match its checksum: dropped";
}

/* tell_damaged reports each damaged message, which the store has dropped, and takes it out of the
 * answer. */
static void tell_damaged(struct engine *engine, const struct take *take, dw_op *op)
{
	const char *topic = take->topics[take->at].name;
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT, .topic = topic};
	dw_row **link = &op->rows;

	while (*link) {
		dw_row *row = *link;

		if (is_sound(row)) {
			link = &row->next;
			continue;
		}
		event_raise(engine, &event, "the message %.*s of the queue %s %s",
			    (int)strcspn(row->token, "/"), row->token, topic, words_of(row));
		*link = row->next;
		row->next = NULL;
		rows_free(&engine->alloc, row);
		op->row_count--;
	}
}

/* pass_wrong is called when a topic is no queue. The round asks its other topics before the take
 * fails. If the round itself has found the topic, the topic was dropped since, which is no
 * failure. */
static void pass_wrong(struct engine *engine, struct take *take, dw_op *op)
{
	if (!take->is_wrong)
		take->wrong = take->at;
	take->is_wrong = !take->finds;
	take->at++;
	ask_on(engine, take, op);
}

/* pass_failure is called when the store could not hand out messages of a topic. DW_ELIMIT means
 * that the server does not send these messages. If the store has set them aside, other messages may
 * be behind them. DW_EUNKNOWN means that a reply with messages may be lost. */
static void pass_failure(struct engine *engine, struct take *take, dw_op *op)
{
	if (take->failure != DW_ELIMIT)
		take->failure = op->status;
	if (op->count > 0) {
		ask_topic(engine, take, false);
		return;
	}
	take->at++;
	ask_on(engine, take, op);
}

void takes_answered(struct engine *engine, dw_op *op)
{
	struct take *take = take_of(ticket_of(op)->call);

	take->is_asked = false;
	if (op->status == DW_ENOENT && op->kind == DW_OP_TAKE) {
		pass_wrong(engine, take, op);
	} else if (op->kind == DW_OP_TAKE &&
		   (op->status == DW_ELIMIT || op->status == DW_EUNKNOWN)) {
		pass_failure(engine, take, op);
	} else if (op->status != DW_OK) {
		finish(engine, take, op, op->status);
	} else if (op->kind == DW_OP_AWAIT) {
		take->is_noted = true;
		find(engine, take);
	} else if (op->kind == DW_OP_TOPIC_LIST) {
		take_find(take, op->rows);
		rows_free(&engine->alloc, op->rows);
		op->rows = NULL;
		op->row_count = 0;
		ask_on(engine, take, op);
	} else if (op->row_count > 0) {
		tell_damaged(engine, take, op);
		takes_made_room(&engine->topics, op->topic);
		if (op->row_count > 0)
			finish(engine, take, op, DW_OK);
		else
			/* Other messages may be behind the dropped ones. */
			ask_topic(engine, take, false);
	} else if (op->flags & DW_OP_LOOK && op->count > 0) {
		ask_topic(engine, take, false);
	} else {
		take->comes = usec_min(take->comes, op->head.due);
		take->at++;
		ask_on(engine, take, op);
	}
}

void takes_made_room(struct topics *topics, const char *name)
{
	struct topic *topic = topics_find(topics, name, strlen(name));

	if (topic)
		topic_room(topics, topic);
}

void takes_round(struct engine *engine, dw_usec now)
{
	dw_usec steady = engine->calls.takes.first ? engine_steady(engine) : 0;
	struct take *next;

	(void)now;
	takes_hear(engine);
	for (struct take *take = engine->calls.takes.first; take; take = next) {
		next = take->next;
		if (!take->is_asked && take->again <= steady)
			begin(engine, take);
	}
}

dw_usec takes_wake(const struct engine *engine, dw_usec now)
{
	dw_usec at = DW_NEVER;

	for (const struct take *take = engine->calls.takes.first; take; take = take->next)
		if (!take->is_asked)
			at = usec_min(at, take->again);
	return at == DW_NEVER ? at
			      : usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}

void takes_close(struct engine *engine)
{
	struct take *next;

	for (struct take *take = engine->calls.takes.first; take; take = next) {
		next = take->next;
		if (!take->is_asked)
			finish(engine, take, NULL, DW_ECLOSED);
	}
}

/* ---- The call ------------------------------------------------------------------------------ */

/* check_topic checks one name. "*" alone is not a topic, but it is a valid prefix. */
static int check_topic(struct events *events, const char *topic)
{
	return topic && strcmp(topic, "*") == 0 ? DW_OK : arguments_topic(topic, events->error);
}

static int check(struct engine *engine, const dw_take_options *options)
{
	int status = DW_OK;

	if (!driven_keeps_topics(engine->store))
		return engine_fail(engine, DW_EINVAL, "this store keeps no queues");
	if (grown_size_is_wrong(options->size, sizeof *options) ||
	    grown_is_unknown(options, sizeof *options, options->size))
		return engine_fail(engine, DW_EINVAL,
				   "options.size is not sizeof(dw_take_options)");
	if (options->topic_count > 0 && !options->topics)
		return engine_fail(engine, DW_EINVAL, "the topics are NULL");
	if (options->max == 0 || options->max > DW_TAKE_MAX)
		return engine_fail(engine, DW_EINVAL, "a take has 1 to %d messages, not %zu",
				   DW_TAKE_MAX, options->max);
	if (options->wait_us < 0 || options->wait_us > WAIT_MAX)
		return engine_fail(engine, DW_EINVAL, "wait_us is not 0 to 1 h");
	if (options->topic_count > DW_TAKE_TOPICS_MAX)
		return engine_fail(engine, DW_EINVAL, "a take names at most %d topics",
				   DW_TAKE_TOPICS_MAX);
	for (size_t i = 0; status == DW_OK && i < options->topic_count; i++)
		status = check_topic(&engine->events, options->topics[i]);
	if (status == DW_OK && engine->calls.takes.count >= DW_TAKES_MAX)
		return engine_fail(engine, DW_ELIMIT, "%d takes wait: answer some first",
				   DW_TAKES_MAX);
	return status;
}

int engine_take(struct engine *engine, const dw_take_options *options, dw_take_fn fn, void *user)
{
	struct call *call;
	struct take *take;
	int status = check(engine, options);

	if (status == DW_OK)
		status = call_new(engine, CALL_TAKE, "", &call);
	if (status != DW_OK)
		return status;
	take =
	    alloc_new(&engine->alloc, sizeof *take + options->topic_count * sizeof take->names[0]);
	if (!take) {
		call_free(engine, call);
		return engine_fail(engine, DW_ENOMEM, "no memory for the call");
	}
	call->extra = take;
	call->on_taken = fn;
	call->on_messages_user = user;
	take->call = call;
	take->max = options->max;
	take->until = usec_add(engine_steady(engine), options->wait_us);
	take->finds = options->topic_count == 0;
	take->name_count = options->topic_count;
	for (size_t i = 0; i < take->name_count; i++) {
		(void)snprintf(take->names[i], sizeof take->names[i], "%s",
			       options->topics[i]); /* checked */
		take->finds = take->finds || take_names_many(take->names[i]);
	}
	engine->calls.takes.has_waited |= options->wait_us > 0;
	join(&engine->calls.takes, take);
	begin(engine, take);
	engine_touch(engine);
	return DW_OK;
}
