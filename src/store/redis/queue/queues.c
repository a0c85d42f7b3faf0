#include "store/redis/queue/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/core.h"
#include "store/redis/queue/queue_call.h"
#include "store/redis/queue/taken.h"
#include "store/redis/queue/verdicts.h"
#include "timer/record.h"
#include "topic/message.h"

/* The most words of one command. */
#define PUSH_WORDS 2400u
/* The most bytes of records in one command of several operations. */
#define PUSH_BYTES BATCH_BYTES_MAX
/* The words of one message of a PUSH: generation, head, data. */
#define WORDS_A_MESSAGE 3u
/* Enough for an id, and for the numbers of a message as text. */
#define HEAD_SIZE 384u

/* ---- Push ---------------------------------------------------------------------------------- */

/* push_status turns a code of push.lua into a status. */
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
	request_free(&store->alloc, request);
	if (!queue_call_is_applied(store, &ops, failure, reply))
		return;
	suspect_push_done(&store->completion, ops.first);
	while ((op = op_queue_pop(&ops))) {
		op->count = (uint64_t)reply_number(&reply->items[i + 1]);
		held_answer_message(store, op, push_status(reply_number(&reply->items[i])));
		i += 2;
	}
}

static void push_lost(struct redis_store *store, struct redis_request *request)
{
	bool waits = queue_call_waits(store, request, &request->ops);
	bool is_refused = !waits && suspect_push_lost(store, request);
	dw_op *op;

	while ((op = op_queue_pop(&request->ops)))
		answer(store, op,
		       is_refused && op->id ? suspect_push_again(store, op) : DW_EUNKNOWN);
	request_free(&store->alloc, request);
}

/* count_words returns the number of words of a PUSH, and adds the size of its texts to *room. */
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

/* gather moves to `ops` the first PUSH, and the PUSHes of the same topic that fit into its
 * command. */
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

/* add_message adds the words of a message. It writes the head of the message to *at. */
static void add_message(struct redis_draft *draft, const struct message *message, char **at)
{
	struct redis_command *words = &draft->words;
	struct record record;
	int size;

	/* Cannot fail: the record was checked. */
	(void)record_decode(message->body, message->body_size, &record);
	size = snprintf(*at, HEAD_SIZE, "%" PRId64 " %" PRIu32 " %" PRIu32 " %.*s\n",
			message->head.due, message->head.attempt, record_crc(message->body),
			record.id_size, record.id); /* always fits */
	command_unsigned(words, message->head.generation);
	command_bytes(words, *at, (size_t)size);
	command_bytes(words, record.data, record.data_size);
	*at += size;
}

static void add_push(struct redis_draft *draft, const dw_op *op, char **at)
{
	const unsigned char *body = op->body;
	const unsigned char *end = body + op->body_size;
	size_t room = 0;
	struct message message;

	command_number(&draft->words, (int64_t)(count_words(op, &room) / WORDS_A_MESSAGE));
	while (message_next(&body, end, &message))
		add_message(draft, &message, at);
}

static int send_push(struct redis_store *store, dw_op *op, struct op_queue *behind)
{
	struct redis_request *request = request_new(&store->alloc, NULL, push_answered, push_lost);
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
		queue_call_begin(store, SCRIPT_PUSH, op, &texts);
		for (const dw_op *each = request->ops.first; each; each = each->next)
			add_push(&store->draft, each, &at);
		status = request_send(store, request);
	}
	if (status == DW_OK)
		return DW_OK;
	(void)op_queue_pop(&request->ops); /* the first operation stays the caller's */
	answer_all(store, &request->ops, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
	request_free(&store->alloc, request);
	return status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE;
}

/* ---- A call that is passed on ------------------------------------------------------------- */

static void passed_on(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	dw_op *op = request->context;

	if (queue_call_end(store, request, reply))
		answer(store, op, DW_OK);
}

/* pass_on sends a PUSH without messages, which calls the next waiting consumer. */
static int pass_on(struct redis_store *store, dw_op *op)
{
	struct queue_room room;

	queue_call_begin(store, SCRIPT_PUSH, op, &room);
	return request_post(store, NULL, passed_on, queue_call_lost, op);
}

/* ---- A letter ------------------------------------------------------------------------------ */

static void letter_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = request->context;

	if (queue_call_end(store, request, reply))
		answer(store, op, DW_OK);
}

static int send_letter(struct redis_store *store, dw_op *op)
{
	struct redis_command *words = &store->draft.words;
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
	call_begin(&store->draft, SCRIPT_LETTER, shard_of(store, op->id));
	command_text(words, op->id);
	command_unsigned(words, op->head.generation);
	command_number(words, op->reason);
	command_number(words, store->env.now(store->env.now_user));
	command_bytes(words, value, size);
	return request_post(store, NULL, letter_answered, queue_call_lost, op);
}

/* ---- All ----------------------------------------------------------------------------------- */

int queues_send(struct redis_store *store, dw_op *op, struct op_queue *behind)
{
	int status;

	if (op->kind == DW_OP_PUSH && op->body_size == 0)
		return pass_on(store, op) == DW_OK ? DW_OK : DW_ESTORE;
	if (op->kind == DW_OP_PUSH) {
		status = suspect_push(store, op);
		if (status == SUSPECT_WAITS)
			return DW_OK;
		return status == DW_OK ? send_push(store, op, behind) : status;
	}
	if (op->kind == DW_OP_LETTER)
		return send_letter(store, op) == DW_OK ? DW_OK : DW_ESTORE;
	if (op->kind == DW_OP_TAKE)
		return taken_send(store, op);
	return verdicts_send(store, op);
}

bool queues_has(const dw_op *op)
{
	return op->kind == DW_OP_PUSH || op->kind == DW_OP_TAKE || op->kind == DW_OP_ANSWER ||
	       op->kind == DW_OP_LETTER;
}

void queues_give_up(struct redis_store *store, dw_op *op, int status)
{
	if (op->kind == DW_OP_TAKE)
		taken_give_up(store, op, status);
	else if (op->kind == DW_OP_ANSWER)
		verdicts_give_up(store, op, status);
	else
		answer(store, op, status);
}
