#include "store/redis/queue/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/reason.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/core.h"
#include "store/redis/queue/message_row.h"
#include "timer/record.h"
#include "topic/message.h"

#define PUSH_WORDS 2400u           /* words of one command */
#define PUSH_BYTES BATCH_BYTES_MAX /* of the records of one command of several operations */
#define WORDS_A_MESSAGE 3u         /* of a PUSH: generation, head, data */
#define HEAD_SIZE 384u             /* id, and the numbers of a message as text */

/* add_keys adds the keys of a topic's queue, in the order of lua/common/queue.lua. */
static void add_keys(struct redis_store *store, const struct shard *shard, const char *topic,
		     struct queue_room *room)
{
	static const char *const ends[QUEUE_KEYS] = {
	    "t", "n", "q:", "qt:", "ql:", "qm:", "qc:", "qc:"};

	call_add_key(store, shard->keys.name[KEY_META]);
	for (size_t i = 0; i < QUEUE_KEYS; i++) {
		bool of_topic = ends[i][0] == 'q' && i + 1 < QUEUE_KEYS;

		(void)snprintf(room->keys[i], QUEUE_KEY_SIZE, "{%s:%02u}:%s%s", store->names.name,
			       shard->number, ends[i], of_topic ? topic : ""); /* always fits */
		call_add_key(store, room->keys[i]);
	}
}

static void begin_in(struct redis_store *store, enum redis_script_id script,
		     const struct shard *shard, const char *topic, struct queue_room *room)
{
	call_begin_bare(store, script, false);
	add_keys(store, shard, topic, room);
	command_text(&store->pipeline.words, topic);
}

static void begin(struct redis_store *store, enum redis_script_id script, const dw_op *op,
		  struct queue_room *room)
{
	begin_in(store, script, shard_of(store, op->topic), op->topic, room);
}

/* give_back puts operations in front of those that wait. */
static void give_back(struct redis_store *store, struct op_queue *ops)
{
	struct op_queue *waiting = &store->later.topics.waiting;
	dw_op *rest = op_queue_take(waiting);

	op_queue_append(waiting, op_queue_take(ops));
	op_queue_append(waiting, rest);
}

/* failed answers the operations of a command that was not applied, or lets them wait again. */
static void failed(struct redis_store *store, struct op_queue *ops, enum failure failure)
{
	if (failure == FAILURE_AGAIN)
		give_back(store, ops);
	else
		answer_all(store, ops, failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE);
}

/* is_applied: false: the command was not applied, and its operations are taken care of. */
static bool is_applied(struct redis_store *store, struct op_queue *ops, enum failure failure,
		       const struct reply *reply)
{
	if (failure != FAILURE_NONE) {
		failed(store, ops, failure);
		return false;
	}
	if (!reply_is(&reply->items[0], "TYPE"))
		return true;
	complain_of_key(store, reply);
	answer_all(store, ops, DW_ECORRUPT);
	return false;
}

/* ---- Push ---------------------------------------------------------------------------------- */

/* The codes of push.lua. */
static int push_status(int64_t code)
{
	static const int statuses[] = {DW_OK, DW_ELIMIT, DW_ENOENT, DW_EPAUSED};

	return code >= 0 && code < 4 ? statuses[code] : DW_ESTORE;
}

static void push_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	enum failure failure = call_failed(store, request, reply);
	struct op_queue ops = request->ops;
	size_t i = 1;
	dw_op *op;

	request->ops = (struct op_queue){0};
	request_free(store, request);
	if (!is_applied(store, &ops, failure, reply))
		return;
	suspect_push_done(store, ops.first);
	while ((op = op_queue_pop(&ops))) {
		op->count = (uint64_t)reply_number(&reply->items[i + 1]);
		answer(store, op, push_status(reply_number(&reply->items[i])));
		i += 2;
	}
}

static void push_lost(struct redis_store *store, struct redis_request *request)
{
	suspect_push_lost(store, request);
	answer_all(store, &request->ops, DW_EUNKNOWN);
	request_free(store, request);
}

/* count_words returns the words of a PUSH, and adds the room for its texts. */
static size_t count_words(const dw_op *op, size_t *room)
{
	const unsigned char *at = op->body;
	const unsigned char *end = at + op->body_size;
	struct message message;
	size_t words = 1;

	while (message_next(&at, end, &message)) {
		words += WORDS_A_MESSAGE;
		*room += HEAD_SIZE;
	}
	return words;
}

/* gather moves the PUSHes of the first one's topic that fit into one command to ops. */
static size_t gather(dw_op *first, struct op_queue *behind, struct op_queue *ops)
{
	size_t room = 0, words = count_words(first, &room), bytes = first->body_size;
	dw_op *op = op_queue_take(behind);
	bool full = false;

	op_queue_push(ops, first);
	while (op) {
		dw_op *next = op->next;
		size_t more = 0;
		bool same = op->kind == DW_OP_PUSH && op->body_size > 0 &&
			    strcmp(op->topic, first->topic) == 0;
		size_t count = same && !full ? count_words(op, &more) : 0;

		full = full || op->kind == DW_OP_TOPIC_SET || op->kind == DW_OP_TOPIC_DROP ||
		       (same && (words + count > PUSH_WORDS || bytes + op->body_size > PUSH_BYTES));
		if (same && !full) {
			words += count;
			room += more;
			bytes += op->body_size;
			op_queue_push(ops, op);
		} else {
			op_queue_push(behind, op);
		}
		op = next;
	}
	return room;
}

/* add_message adds the words of a message; its head is written to *at. */
static void add_message(struct redis_store *store, const struct message *message, char **at)
{
	struct redis_command *words = &store->pipeline.words;
	struct record record;
	int size;

	(void)record_decode(message->body, message->body_size, &record); /* it is sound */
	size = snprintf(*at, HEAD_SIZE, "%" PRId64 " %" PRIu32 " %" PRIu32 " %.*s\n",
			message->head.due, message->head.attempt, record_crc(message->body),
			record.id_size, record.id); /* always fits */
	command_unsigned(words, message->head.generation);
	command_bytes(words, *at, (size_t)size);
	command_bytes(words, record.data, record.data_size);
	*at += size;
}

static void add_push(struct redis_store *store, const dw_op *op, char **at)
{
	const unsigned char *body = op->body;
	const unsigned char *end = body + op->body_size;
	size_t room = 0;
	struct message message;

	command_number(&store->pipeline.words, (int64_t)(count_words(op, &room) / WORDS_A_MESSAGE));
	while (message_next(&body, end, &message))
		add_message(store, &message, at);
}

static int send_push(struct redis_store *store, dw_op *op, struct op_queue *behind)
{
	struct redis_request *request = request_new(store, NULL, push_answered, push_lost);
	struct queue_room texts;
	char *at;
	size_t room;
	int status;

	if (!request)
		return DW_ENOMEM;
	room = gather(op, behind, &request->ops);
	if (batch_room(store, room) != DW_OK) {
		status = DW_ENOMEM;
	} else {
		at = (char *)store->batch.packed;
		begin(store, SCRIPT_PUSH, op, &texts);
		for (const dw_op *each = request->ops.first; each; each = each->next)
			add_push(store, each, &at);
		status = request_send(store, request);
	}
	if (status == DW_OK)
		return DW_OK;
	(void)op_queue_pop(&request->ops); /* the first one stays with the caller */
	answer_all(store, &request->ops, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
	request_free(store, request);
	return status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE;
}

/* ---- Take and answer ----------------------------------------------------------------------- */

static void op_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	request_free(store, request);
	answer(store, op, DW_EUNKNOWN);
}

/* rows_of returns how many messages a TAKE asks for. */
static size_t rows_of(struct redis_store *store, const dw_op *op)
{
	return suspect_rows(store, op->limit);
}

/* take_lost: it is asked again, as all reads are; for fewer messages if the server did not send so
 * many. Those that it has hidden come back. */
static void take_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	suspect_reply_lost(store, op, request, rows_of(store, op));
	request_free(store, request);
	op_queue_push(&store->later.topics.waiting, op);
}

/* begin_answer ends the request. False: it has failed, and the operation is taken care of. */
static bool begin_answer(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	enum failure failure = call_failed(store, request, reply);
	struct op_queue ops = {0};

	op_queue_push(&ops, request->context);
	request_free(store, request);
	return is_applied(store, &ops, failure, reply);
}

static void drop_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	request_free(store, request);
	answer(store, op, op->status);
}

static void drop_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	(void)call_failed(store, request, reply); /* they come back, and are found again */
	drop_lost(store, request);
}

/* drop_damaged drops messages of a TAKE whose damage the script could not see, and then answers it.
 * False: there are none, or they cannot be dropped now: they come back, and are found again. */
static bool drop_damaged(struct redis_store *store, dw_op *op, const struct reply *reply)
{
	struct redis_command *words = &store->pipeline.words;
	const dw_row *row = op->rows;
	struct queue_room room;
	size_t count = 0;

	for (size_t i = 2; row; row = row->next, i += 2) {
		if (row->status != DW_ECORRUPT || reply->items[i + 1].size == 0)
			continue;
		if (count++ == 0) {
			call_begin_bare(store, SCRIPT_ANSWER, true);
			add_keys(store, shard_of(store, op->topic), op->topic, &room);
			command_text(words, op->topic);
			command_text(words, "damaged");
			command_number(words, 0);
			command_number(words, 0);
		}
		command_text(words, row->token);
	}
	return count > 0 && request_post(store, NULL, drop_answered, drop_lost, op) == DW_OK;
}

static void take_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	dw_op *op = request->context;
	dw_row **tail = &op->rows;

	if (!begin_answer(store, request, reply))
		return;
	op->head.due = DW_NEVER;
	if (reply_is(&reply->items[0], "NONE")) {
		answer(store, op, DW_ENOENT);
		return;
	}
	/* Of an emptied server there is nothing to take until its owner has restored the topic. */
	if (reply->count > 1 && reply_number(&reply->items[1]) > 0)
		op->head.due = reply_number(&reply->items[1]);
	op->status = DW_OK;
	for (size_t i = 2; i < reply->count; i += 2)
		if (!op_add_row(
			&store->alloc, op, &tail,
			message_row(store, &reply->items[i], &reply->items[i + 1], op->topic)))
			break;
	if (!drop_damaged(store, op, reply))
		answer(store, op, op->status);
}

static void answer_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = request->context;
	dw_row **tail = &op->rows;

	if (!begin_answer(store, request, reply))
		return;
	op->status = DW_OK;
	for (size_t i = 1; i < reply->count; i++) {
		const struct reply *item = &reply->items[i];
		bool dead = item->kind == REPLY_ARRAY;
		dw_row *row;

		if (!dead && reply_number(item) == 0)
			continue;
		row = dead ? message_row(store, &item->items[0], &item->items[1], op->topic)
			   : row_new(&store->alloc, "", NULL, 0);
		if (!op_add_row(&store->alloc, op, &tail, row))
			break;
		row->status = dead ? DW_ELIMIT : DW_ESTALE;
		row->number = i - 1;
	}
	answer(store, op, op->status);
}

static const char *verdict_word(dw_verdict verdict)
{
	switch (verdict) {
	case DW_DONE:
		return "done";
	case DW_RETRY:
		return "retry";
	case DW_HOLD:
	case DW_HOLD_UNSTARTED: /* never sent to a store */
		return "hold";
	case DW_DEAD:
		break;
	}
	return "dead";
}

static void add_take(struct redis_store *store, const dw_op *op, struct queue_room *room)
{
	struct redis_command *words = &store->pipeline.words;

	command_number(words, (int64_t)rows_of(store, op));
	command_number(words, DW_TAKE_BYTES);
	command_text(words,
		     consumers_name(&store->later.consumers, op->head.generation, room->consumer));
}

static void add_answer(struct redis_store *store, const dw_op *op)
{
	struct redis_command *words = &store->pipeline.words;
	const char *token = op->body;

	command_text(words, verdict_word(op->verdict));
	command_number(words, op->head.due);
	command_number(words, (int64_t)(op->head.generation % 4294967296));
	for (size_t i = 0; i < op->limit; i++, token += strlen(token) + 1)
		command_text(words, token);
}

/* ---- A call that is passed on ------------------------------------------------------------- */

static void passed_on(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	dw_op *op = request->context;

	if (begin_answer(store, request, reply))
		answer(store, op, DW_OK);
}

/* pass_on: a PUSH without messages calls the next consumer that waits. */
static int pass_on(struct redis_store *store, dw_op *op)
{
	struct queue_room room;

	begin(store, SCRIPT_PUSH, op, &room);
	return request_post(store, NULL, passed_on, op_lost, op);
}

void queues_begin_await(struct redis_store *store, const struct shard *shard, const dw_op *op,
			struct queue_room *room)
{
	struct redis_command *words = &store->pipeline.words;
	const char *prefix = op->body;
	const char *end = prefix + op->body_size;

	begin_in(store, SCRIPT_AWAIT, shard, "", room);
	command_text(words,
		     consumers_name(&store->later.consumers, op->head.generation, room->consumer));
	for (; prefix < end; prefix += strlen(prefix) + 1)
		command_text(words, prefix);
}

/* ---- A letter ------------------------------------------------------------------------------ */

static void letter_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = request->context;

	if (begin_answer(store, request, reply))
		answer(store, op, DW_OK);
}

static int send_letter(struct redis_store *store, dw_op *op)
{
	struct redis_command *words = &store->pipeline.words;
	unsigned char *value;
	dw_head head = op->head;
	size_t size;

	if (batch_room(store, VALUE_HEAD_SIZE + VALUE_BODY_MAX(op->body_size) + op->limit + 1) !=
	    DW_OK)
		return DW_ENOMEM;
	value = store->batch.packed;
	head.state = DW_PENDING;
	head.open = 0;
	size = value_pack(op->body, op->body_size, value + VALUE_HEAD_SIZE);
	value_head_write(value, &head, 0, record_crc(op->body));
	size = value_add_why(value, VALUE_HEAD_SIZE + size, op_why(op), op->limit);
	call_begin(store, SCRIPT_LETTER, shard_of(store, op->id));
	command_text(words, op->id);
	command_unsigned(words, op->head.generation);
	command_number(words, op->reason);
	command_number(words, store->env.now(store->env.now_user));
	command_bytes(words, value, size);
	return request_post(store, NULL, letter_answered, op_lost, op);
}

/* ---- All ----------------------------------------------------------------------------------- */

int queues_send(struct redis_store *store, dw_op *op, struct op_queue *behind)
{
	struct queue_room room;
	int status;

	if (op->kind == DW_OP_PUSH && op->body_size == 0)
		return pass_on(store, op) == DW_OK ? DW_OK : DW_ESTORE;
	if (op->kind == DW_OP_PUSH) {
		status = suspect_push(store, op);
		return status == DW_OK ? send_push(store, op, behind) : status;
	}
	if (op->kind == DW_OP_LETTER)
		return send_letter(store, op) == DW_OK ? DW_OK : DW_ESTORE;
	if (op->kind == DW_OP_TAKE && suspect_fails(store, op))
		return DW_ELIMIT;
	begin(store, op->kind == DW_OP_TAKE ? SCRIPT_TAKE : SCRIPT_ANSWER, op, &room);
	if (op->kind == DW_OP_TAKE)
		add_take(store, op, &room);
	else
		add_answer(store, op);
	status = op->kind == DW_OP_TAKE ? request_post(store, NULL, take_answered, take_lost, op)
					: request_post(store, NULL, answer_answered, op_lost, op);
	return status == DW_OK || status == DW_ENOMEM ? status : DW_ESTORE;
}
