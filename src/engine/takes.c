#include "engine/takes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scope.h"
#include "engine/arguments.h"
#include "engine/core.h"
#include "engine/topic_calls.h"
#include "engine/pages.h"
#include "port/driven.h"
#include "timer/record.h"

#define LOOK_EVERY DW_SECONDS(1)
#define WAIT_MAX DW_HOURS(1)

struct take_topic {
	dw_usec first_due; /* of a topic that was found */
	char name[DW_TOPIC_MAX + 1];
};

struct take {
	struct take *prev, *next;
	struct call *call;
	bool finds;      /* it asks all queues: its topics are found in each round */
	bool is_asked;   /* an operation is under way */
	bool has_looked; /* a round found nothing */
	bool is_wrong;   /* the topic at `wrong` is no queue */
	size_t wrong;
	size_t max;
	dw_usec until; /* steady; the end of its wait */
	dw_usec again; /* steady; when the next round begins */
	dw_usec comes; /* wall; when a hidden message may be handed out again */
	size_t at;     /* the topic that is asked */
	size_t count;
	struct take_topic topics[DW_TAKE_TOPICS_MAX];
	struct take_topic last; /* of those that this round has asked; name "": none */
};

static struct take *take_of(const struct call *call)
{
	return call->extra;
}

/* ---- The list ------------------------------------------------------------------------------ */

static void join(struct takes *takes, struct take *take)
{
	take->next = takes->first;
	if (takes->first)
		takes->first->prev = take;
	takes->first = take;
	takes->count++;
}

static void leave(struct takes *takes, struct take *take)
{
	*(take->prev ? &take->prev->next : &takes->first) = take->next;
	if (take->next)
		take->next->prev = take->prev;
	takes->count--;
}

/* finish answers the call. op: with the messages, or NULL. */
static void finish(struct engine *engine, struct take *take, dw_op *op, int status)
{
	leave(&engine->calls.takes, take);
	if (op)
		take->call->op = op;
	call_answer(engine, take->call, status);
}

/* ---- Asking -------------------------------------------------------------------------------- */

/* send: without memory the take asks again later. */
static void send(struct engine *engine, struct take *take, dw_op *op)
{
	if (!op) {
		take->again = usec_add(engine_steady(engine), RETRY_STORE);
		return;
	}
	op->asked = engine_steady(engine);
	ticket_of(op)->call = take->call;
	take->is_asked = true;
	submit_push(engine, op, false);
}

static void ask_topic(struct engine *engine, struct take *take, bool looks)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_TAKE, take->topics[take->at].name, NULL, 0);

	if (op) {
		op->topic = op->id;
		op->id = NULL;
		op->limit = take->max;
		op->flags = looks ? DW_OP_LOOK : 0;
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

/* begin starts a round: the topics are asked one after the other. */
static void begin(struct engine *engine, struct take *take)
{
	take->at = 0;
	take->is_wrong = false;
	take->comes = DW_NEVER;
	take->last.name[0] = '\0';
	if (take->finds)
		find(engine, take);
	else
		ask_topic(engine, take, looks(engine, take));
}

/* wait_on ends a round in which nothing was found. */
static void wait_on(struct engine *engine, struct take *take, dw_op *op)
{
	dw_usec steady = engine_steady(engine), now = engine_now(engine);
	dw_usec every = driven_look_every(engine->store);

	if (take->is_wrong) {
		finish(engine, take, op, DW_ENOENT);
		return;
	}
	if (steady >= take->until || engine->drive.closing) {
		finish(engine, take, op, engine->drive.closing ? DW_ECLOSED : DW_OK);
		return;
	}
	take->has_looked = true;
	take->again = usec_min(take->until, usec_add(steady, every ? every : LOOK_EVERY));
	if (take->comes != DW_NEVER)
		take->again = usec_min(take->again,
				       usec_add(steady, usec_max(usec_sub(take->comes, now), 0)));
}

/* ask_on asks the next topic, or finds more of them, or ends the round. */
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

/* ---- All queues ---------------------------------------------------------------------------- */

static int by_age(const void *a, const void *b)
{
	const struct take_topic *left = a, *right = b;

	if (left->first_due != right->first_due)
		return left->first_due < right->first_due ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* keep_oldest keeps the topic if it is one of the first; count of them are there. */
static void keep_oldest(struct take *take, const struct take_topic *found)
{
	struct take_topic *last = &take->topics[DW_TAKE_TOPICS_MAX - 1];
	struct take_topic *place = last;

	if (take->count < DW_TAKE_TOPICS_MAX)
		place = &take->topics[take->count++];
	else if (by_age(found, last) >= 0)
		return;
	*place = *found;
	qsort(take->topics, take->count, sizeof *take->topics, by_age);
}

static bool is_candidate(const dw_row *row, const dw_topic_info *info)
{
	return row->status == DW_OK && !(info->settings.paused & DW_PAUSE_DELIVERY) &&
	       info->waiting + info->taken + info->later > 0;
}

/* find_topics finds the oldest queues that may hand something out, behind those that were asked. So
 * no number of queues that only hide messages keeps the others from their turn. */
static void find_topics(struct take *take, const dw_row *row)
{
	take->at = take->count = 0;
	for (; row; row = row->next) {
		dw_topic_info info = {.size = 0};
		struct take_topic found;

		info_read(&info, row->body, row->body_size);
		if (!is_candidate(row, &info))
			continue;
		found.first_due = info.oldest_message ? info.oldest_message : DW_NEVER;
		(void)snprintf(found.name, sizeof found.name, "%s",
			       row->id); /* checked when it was set */
		if (!take->last.name[0] || by_age(&found, &take->last) > 0)
			keep_oldest(take, &found);
	}
}

/* ---- Answers ------------------------------------------------------------------------------- */

static bool is_sound(const dw_row *row)
{
	struct record record;

	return row->status == DW_OK && record_decode(row->body, row->body_size, &record) == DW_OK;
}

/* words_of a message that is not sound. */
static const char *words_of(const dw_row *row)
{
	if (row->status == DW_ENEWER)
		return "is of a newer durawheel: left alone";
	return row->why ? row->why : "does not match its checksum: dropped";
}

/* tell_damaged tells of each damaged message, which the store has dropped, and leaves it out. */
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

/* pass_wrong: a topic is no queue. The others of the round are asked before the take fails. One
 * that was found has been dropped since, which is no failure. */
static void pass_wrong(struct engine *engine, struct take *take, dw_op *op)
{
	if (!take->is_wrong)
		take->wrong = take->at;
	take->is_wrong = !take->finds;
	take->at++;
	ask_on(engine, take, op);
}

void takes_answered(struct engine *engine, dw_op *op)
{
	struct take *take = take_of(ticket_of(op)->call);

	take->is_asked = false;
	if (op->status == DW_ENOENT && op->kind == DW_OP_TAKE) {
		pass_wrong(engine, take, op);
	} else if (op->status != DW_OK) {
		finish(engine, take, op, op->status);
	} else if (op->kind == DW_OP_TOPIC_LIST) {
		find_topics(take, op->rows);
		rows_free(&engine->alloc, op->rows);
		op->rows = NULL;
		op->row_count = 0;
		ask_on(engine, take, op);
	} else if (op->row_count > 0) {
		tell_damaged(engine, take, op);
		takes_made_room(engine, op->topic);
		if (op->row_count > 0)
			finish(engine, take, op, DW_OK);
		else
			ask_topic(engine, take, false); /* they are dropped: behind them are more */
	} else if (op->flags & DW_OP_LOOK && op->count > 0) {
		ask_topic(engine, take, false);
	} else {
		take->comes = usec_min(take->comes, op->head.due);
		take->at++;
		ask_on(engine, take, op);
	}
}

void takes_made_room(struct engine *engine, const char *name)
{
	struct topic *topic = topics_find(&engine->topics, name, strlen(name));

	if (topic)
		topic_room(&engine->topics, topic);
}

void takes_ready(struct engine *engine)
{
	for (struct take *take = engine->calls.takes.first; take; take = take->next)
		take->again = 0;
}

void takes_round(struct engine *engine, dw_usec now)
{
	dw_usec steady = engine->calls.takes.first ? engine_steady(engine) : 0;
	struct take *next;

	(void)now;
	if (engine->calls.takes.first && driven_take_ready(engine->store))
		takes_ready(engine);
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
		status = arguments_topic(options->topics[i], engine->events.error);
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
	take = alloc_new(&engine->alloc, sizeof *take);
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
	take->count = options->topic_count;
	for (size_t i = 0; i < take->count; i++)
		(void)snprintf(take->topics[i].name, sizeof take->topics[i].name, "%s",
			       options->topics[i]); /* checked */
	join(&engine->calls.takes, take);
	begin(engine, take);
	engine_touch(engine);
	return DW_OK;
}

/* ---- Showing ------------------------------------------------------------------------------- */

struct shown_messages {
	struct alloc alloc;
	dw_message *messages;
	char (*tokens)[DW_TOKEN_SIZE];
};

static void free_shown_messages(struct shown_messages *shown)
{
	alloc_free(&shown->alloc, shown->messages);
	alloc_free(&shown->alloc, shown->tokens);
}

/* show_message fills in a message, which is sound. */
static void show_message(const struct take *take, const dw_row *row, dw_message *message,
			 char *token)
{
	const char *topic = take->topics[take->at].name;
	struct record record = {0};

	(void)record_decode(row->body, row->body_size, &record);
	(void)snprintf(token, DW_TOKEN_SIZE, "%s/%s", topic, row->token); /* always fits */
	*message = (dw_message){.size = sizeof *message,
				.id = row->id,
				.topic = topic,
				.due = row->head.due,
				.attempt = row->head.attempt,
				.data = record.data,
				.data_size = record.data_size,
				.token = token};
}

void takes_show(struct engine *engine, const struct call *call)
{
	struct shown_messages shown AT_END(free_shown_messages) = {.alloc = engine->alloc};
	const dw_op *op = call->op;
	size_t room = call->status == DW_OK && op ? op->row_count + 1 : 1;
	size_t count = 0;
	int status = call->status;

	if (status == DW_ENOENT)
		(void)engine_fail(engine, status, "%s is no queue",
				  take_of(call)->topics[take_of(call)->wrong].name);
	shown.messages = alloc_new(&engine->alloc, room * sizeof *shown.messages);
	shown.tokens = alloc_new(&engine->alloc, room * sizeof *shown.tokens);
	if (status == DW_OK && (!shown.messages || !shown.tokens))
		status = DW_ENOMEM; /* they come back when their time-out is over */
	for (const dw_row *row = status == DW_OK && op ? op->rows : NULL; row; row = row->next) {
		show_message(take_of(call), row, &shown.messages[count], shown.tokens[count]);
		count++;
	}
	call->on_taken(engine->env.handle, status, status == DW_OK ? shown.messages : NULL, count,
		       call->on_messages_user);
}
