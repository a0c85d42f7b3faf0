#include "store/redis/queue/verdicts.h"

#include <string.h>

#include "store/redis/core.h"
#include "store/redis/queue/queue_call.h"
#include "store/redis/queue/values.h"

/* finish answers the operation. A row whose value was read is to become a dead letter: its status
 * is DW_ELIMIT. */
static void finish(struct redis_store *store, dw_op *op)
{
	for (dw_row *row = op->rows; row; row = row->next)
		if (row->status == DW_OK)
			row->status = DW_ELIMIT;
	held_answer_message(store, op, DW_OK);
}

/* fail_left sets this status in rows whose values were not read: in all of them, or only in those
 * that the server does not send. */
static void fail_left(struct redis_store *store, dw_op *op, int status, bool all)
{
	for (dw_row *row = op->rows; row; row = row->next)
		if (values_left(row) && (all || values_refused(store, row)))
			values_fail(row, status);
}

void verdicts_give_up(struct redis_store *store, dw_op *op, int status)
{
	if (!op->rows) {
		answer(store, op, status);
		return;
	}
	fail_left(store, op, status, true);
	finish(store, op);
}

/* next_step sends the next command, or lets the ANSWER wait until there is a connection. */
static void next_step(struct redis_store *store, dw_op *op)
{
	int status = verdicts_send(store, op);

	if (status == DW_ESTORE)
		op_queue_push(&store->later.topics.waiting, op);
	else if (status != DW_OK)
		verdicts_give_up(store, op, status);
}

static void letters_read(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	dw_op *op = request->context;
	int status = values_answered(store, request, reply);

	if (status == DW_OK)
		next_step(store, op);
	else
		verdicts_give_up(store, op, status);
}

/* verdict_row makes the row of a token from the code of the script. 3: the token is stale. Below 0:
 * the message is to become a dead letter, and has -code bytes. */
static dw_row *verdict_row(struct alloc *alloc, const char *token, int64_t code)
{
	dw_row *row =
	    code < 0 ? values_left_row(alloc, token, (uint64_t)-code) : row_new(alloc, "", NULL, 0);

	if (row && code >= 0)
		row->status = DW_ESTALE;
	return row;
}

/* verdicts_answered takes the reply of the script. Without memory for the rows, the answer has none
 * of them. */
static void verdicts_answered(struct redis_store *store, struct redis_request *request,
			      const struct reply *reply)
{
	dw_op *op = request->context;
	const char *token = op->body;
	dw_row **tail = &op->rows;

	if (!queue_call_end(store, request, reply))
		return;
	for (size_t i = 1; i < reply->count; i++, token += strlen(token) + 1) {
		int64_t code = reply_number(&reply->items[i]);
		dw_row *row;

		if (code == 0)
			continue;
		row = verdict_row(&store->alloc, token, code);
		if (!op_add_row(&store->alloc, op, &tail, row)) {
			answer(store, op, DW_ENOMEM);
			return;
		}
		row->number = i - 1;
	}
	if (op->rows)
		next_step(store, op);
	else
		held_answer_message(store, op, DW_OK);
}

static const char *verdict_word(dw_verdict verdict)
{
	switch (verdict) {
	case DW_DONE:
		return "done";
	case DW_RETRY:
		return "retry";
	case DW_HOLD:
	case DW_HOLD_UNSTARTED: /* the engine never sends it to a store */
		return "hold";
	case DW_DEAD:
		break;
	}
	return "dead";
}

static int send_verdicts(struct redis_store *store, dw_op *op)
{
	struct redis_command *words = &store->draft.words;
	const char *token = op->body;
	struct queue_room room;

	queue_call_begin(store, SCRIPT_ANSWER, op, &room);
	command_text(words, verdict_word(op->verdict));
	command_number(words, op->head.due);
	command_number(words, (int64_t)(op->head.generation % 4294967296));
	for (size_t i = 0; i < op->limit; i++, token += strlen(token) + 1)
		command_text(words, token);
	return request_post(store, NULL, verdicts_answered, queue_call_lost, op);
}

int verdicts_send(struct redis_store *store, dw_op *op)
{
	int status = DW_OK;

	(void)values_judge(store, op);
	fail_left(store, op, DW_ELIMIT, false);
	if (!op->rows)
		status = send_verdicts(store, op);
	else if (values_first_left(op))
		status = values_read(store, op, letters_read);
	else
		finish(store, op);
	return status == DW_OK || status == DW_ENOMEM ? status : DW_ESTORE;
}
