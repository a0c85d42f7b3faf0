#include "store/redis/queue/taken.h"

#include <string.h>

#include "base/bytes.h"
#include "durawheel/topic.h"
#include "store/redis/core.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/queue/message_row.h"
#include "store/redis/queue/queue_call.h"
#include "store/redis/queue/values.h"

#define SHOWN_BYTES (64u << 10)
#define ASIDE_FOR DW_MINUTES(1)

/* ---- Rows: messages that are hidden for this TAKE ------------------------------------------- */

/* drop_row removes the row at *link and frees it. */
static void drop_row(struct alloc *alloc, dw_op *op, dw_row **link)
{
	dw_row *row = *link;

	*link = row->next;
	row->next = NULL;
	rows_free(alloc, row);
	op->row_count--;
}

static bool is_stale(const struct redis_store *store, const dw_row *row)
{
	(void)store;
	return row->status == DW_ESTALE; /* another consumer has the message, or it is done */
}

/* is_unsure returns true if the message must not be handed out; it comes back later. A message with
 * `gone` must be deleted before it is handed out. */
static bool is_unsure(const struct redis_store *store, const dw_row *row)
{
	return values_left(row) || row->gone || is_stale(store, row);
}

static void drop_rows(struct redis_store *store, dw_op *op,
		      bool (*drops)(const struct redis_store *, const dw_row *))
{
	dw_row **link = &op->rows;

	while (*link)
		if (drops(store, *link))
			drop_row(&store->alloc, op, link);
		else
			link = &(*link)->next;
}

void taken_give_up(struct redis_store *store, dw_op *op, int status)
{
	drop_rows(store, op, is_unsure);
	op->count = 0;
	answer(store, op, op->rows ? DW_OK : status);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* finish answers the TAKE. Without a row, the answer is DW_ELIMIT if the server refuses to send the
 * messages of the queue, and DW_EUNKNOWN if a reply that may have had messages was lost. */
static void finish(struct redis_store *store, dw_op *op)
{
	answer(store, op,
	       op->rows                      ? DW_OK
	       : place_of(op)->is_suspect    ? DW_ELIMIT
	       : (op->flags & OP_REPLY_LOST) ? DW_EUNKNOWN
					     : DW_OK);
}

static void drop_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	request_free(&store->alloc, request);
	finish(store, op);
}

static void drop_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	/* If it fails, these messages come back and are found again. */
	(void)call_failed(store, request, reply);
	drop_lost(store, request);
}

static void begin_verdict(struct redis_store *store, const dw_op *op, const char *verdict,
			  dw_usec back, struct queue_room *room)
{
	queue_call_begin_rare(store, SCRIPT_ANSWER, op, room);
	command_text(&store->draft.words, verdict);
	command_number(&store->draft.words, back);
	command_number(&store->draft.words, 0);
}

/* drop_damaged drops messages whose damage the script could not see, and then answers. Returns
 * false if there are none, or if they cannot be dropped now. In the latter case they come back and
 * are found again. */
static bool drop_damaged(struct redis_store *store, dw_op *op)
{
	struct queue_room room;
	size_t count = 0;

	for (const dw_row *row = op->rows; row; row = row->next) {
		if (row->status != DW_ECORRUPT || row->deleted)
			continue;
		if (count++ == 0)
			begin_verdict(store, op, "damaged", 0, &room);
		command_text(&store->draft.words, row->token);
	}
	return count > 0 && request_post(store, NULL, drop_answered, drop_lost, op) == DW_OK;
}

/* ---- What the server does not send ---------------------------------------------------------- */

static void aside_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request); /* these messages come back sooner */
}

static void aside_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	(void)call_failed(store, request, reply);
	aside_lost(store, request);
}

/* set_aside hides for a while the messages that the server does not send, so that the messages
 * behind them can be taken. */
static void set_aside(struct redis_store *store, dw_op *op)
{
	dw_usec back = usec_add(store->env.now(store->env.now_user), ASIDE_FOR);
	struct queue_room room;
	size_t count = 0;

	for (dw_row *row = op->rows; row; row = row->next) {
		if (!values_refused(store, row))
			continue;
		if (count++ == 0)
			begin_verdict(store, op, "hold", back, &room);
		command_text(&store->draft.words, row->token);
	}
	if (count == 0)
		return;
	(void)request_post(store, NULL, aside_answered, aside_lost, NULL);
	drop_rows(store, op, values_refused);
	op->count += count;
	place_of(op)->is_suspect = true;
}

/* judge checks whether the server closed the connection because of the last command of the TAKE. */
static int judge(struct redis_store *store, dw_op *op)
{
	struct op_place *place = place_of(op);
	bool was_suspect = place->is_suspect;
	unsigned closings = values_judge(store, op);

	if (!op->rows && place->is_suspect && !was_suspect)
		suspect_tell(store, "",
			     "queue %s: the server has closed the connection on the reply to a "
			     "take: its messages come back, or are lost if the topic hides none; "
			     "raise the server's client-output-buffer-limit normal",
			     op->topic);
	return closings < CLOSINGS_MAX ? DW_OK : DW_ELIMIT;
}

/* ---- Values --------------------------------------------------------------------------------- */

static int go_on(struct redis_store *, dw_op *);

/* next_step sends the next command, or lets the TAKE wait until there is a connection. */
static void next_step(struct redis_store *store, dw_op *op)
{
	int status = go_on(store, op);

	if (status == DW_ESTORE)
		op_queue_push(&store->later.topics.waiting, op);
	else if (status != DW_OK)
		taken_give_up(store, op, status);
}

static void values_came(struct redis_store *store, struct redis_request *request,
			const struct reply *reply)
{
	dw_op *op = request->context;
	int status = values_answered(store, request, reply);

	if (status == DW_OK)
		next_step(store, op);
	else
		taken_give_up(store, op, status);
}

/* ---- Messages of a topic that hides none ----------------------------------------------------- */

static void delete_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	request_free(&store->alloc, request);
	taken_give_up(store, op, DW_EUNKNOWN);
}

/* delete_answered takes the reply to the deletion. A message that was handed out again meanwhile
 * belongs to another consumer. */
static void delete_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = request->context;
	enum failure failure = call_failed(store, request, reply);
	size_t i = 1;

	request_free(&store->alloc, request);
	if (failure != FAILURE_NONE || reply_is(&reply->items[0], "TYPE")) {
		taken_give_up(store, op, DW_ESTORE);
		return;
	}
	for (dw_row *row = op->rows; row; row = row->next) {
		if (row->gone && i < reply->count && reply_number(&reply->items[i]) != 0)
			row->status = DW_ESTALE;
		i += row->gone != 0;
		row->gone = 0;
	}
	next_step(store, op);
}

/* delete_values deletes messages before they are handed out. Returns false if there are none to
 * delete. */
static bool delete_values(struct redis_store *store, dw_op *op, int *ret_status)
{
	struct queue_room room;
	size_t count = 0;

	for (const dw_row *row = op->rows; row; row = row->next) {
		if (!row->gone)
			continue;
		if (count++ == 0)
			begin_verdict(store, op, "done", 0, &room);
		command_text(&store->draft.words, row->token);
	}
	if (count > 0)
		*ret_status = request_post(store, NULL, delete_answered, delete_lost, op);
	return count > 0;
}

static int go_on(struct redis_store *store, dw_op *op)
{
	int status = DW_OK;

	set_aside(store, op);
	drop_rows(store, op, is_stale);
	if (values_first_left(op))
		return values_read(store, op, values_came);
	if (!delete_values(store, op, &status) && !drop_damaged(store, op))
		finish(store, op);
	return status;
}

/* ---- The take ------------------------------------------------------------------------------- */

/* take_lost lets the TAKE be sent again, like all reads. Messages that the script has hidden come
 * back. The next reply has no values. */
static void take_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	op->flags |= OP_REPLY_LOST;
	suspect_reply_lost(store, op, request, op->limit);
	request_free(&store->alloc, request);
	op_queue_push(&store->later.topics.waiting, op);
}

/* read_rows adds a row for each message of the reply. Returns DW_ENOMEM if some rows are
 * missing. */
static int read_rows(struct redis_store *store, dw_op *op, const struct reply *reply)
{
	dw_row **tail = &op->rows;

	for (size_t i = 2; i < reply->count; i += 2) {
		const char *token = reply->items[i].bytes;
		const struct reply *value = &reply->items[i + 1];
		int64_t size = is_number(value) ? reply_number(value) : 0;
		dw_row *row = size ? values_left_row(&store->alloc, token,
						     (uint64_t)(size < 0 ? -size : size))
				   : message_row(&store->alloc, token, value, op->topic);

		if (!op_add_row(&store->alloc, op, &tail, row))
			return DW_ENOMEM;
		row->gone = size < 0;
	}
	return DW_OK;
}

static void take_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	dw_op *op = request->context;

	if (!queue_call_end(store, request, reply))
		return;
	op->head.due = DW_NEVER;
	if (reply_is(&reply->items[0], "NONE")) {
		answer(store, op, DW_ENOENT);
		return;
	}
	/* If the server was emptied, there is nothing to take until its owner has restored the
	 * topic. */
	if (reply->count > 1 && reply_number(&reply->items[1]) > 0)
		op->head.due = reply_number(&reply->items[1]);
	if (read_rows(store, op, reply) != DW_OK)
		taken_give_up(store, op, DW_ENOMEM);
	else
		next_step(store, op);
}

static int send_take(struct redis_store *store, dw_op *op)
{
	struct redis_command *words = &store->draft.words;
	bool shows_none = op->flags & OP_REPLY_LOST || suspect_replies_are_small(store);
	struct queue_room room;

	queue_call_begin(store, SCRIPT_TAKE, op, &room);
	command_number(words, (int64_t)op->limit);
	command_number(words, DW_TAKE_BYTES);
	command_text(words,
		     consumers_name(&store->later.consumers, op->head.generation, room.consumer));
	command_number(words, shows_none ? 0 : SHOWN_BYTES);
	return request_post(store, NULL, take_answered, take_lost, op);
}

int taken_send(struct redis_store *store, dw_op *op)
{
	int status = judge(store, op);

	if (status != DW_OK)
		return status;
	status = op->rows ? go_on(store, op) : send_take(store, op);
	return status == DW_OK || status == DW_ENOMEM ? status : DW_ESTORE;
}
