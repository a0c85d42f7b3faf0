#include "store/redis/queue/values.h"

#include <string.h>

#include "durawheel/topic.h"
#include "store/redis/core.h"
#include "store/redis/queue/message_row.h"
#include "store/redis/queue/queue_call.h"

/* ---- Rows ----------------------------------------------------------------------------------- */

dw_row *values_first_left(const dw_op *op)
{
	dw_row *row = op->rows;

	while (row && !values_left(row))
		row = row->next;
	return row;
}

dw_row *values_left_row(struct alloc *alloc, const char *token, uint64_t size)
{
	size_t token_size = strlen(token) + 1;
	dw_row *row = row_new(alloc, "", NULL, token_size);

	if (!row)
		return NULL;
	row->token = memcpy(row_room(row), token, token_size);
	row->body = NULL;
	row->body_size = size;
	return row;
}

void values_fail(dw_row *row, int status)
{
	row->status = status;
	row->gone = 0;
	row->body_size = 0;
}

/* ---- What the server does not send ---------------------------------------------------------- */

bool values_refused(const struct redis_store *store, const dw_row *row)
{
	return values_left(row) && suspect_reply_is_large(store, row->body_size);
}

unsigned values_judge(struct redis_store *store, dw_op *op)
{
	unsigned closings = suspect_closings(store, op);
	const dw_row *left = values_first_left(op);

	if (closings < CLOSINGS_MAX || !left)
		return closings;
	suspect_learn_reply(store, left->body_size);
	suspect_tell(store, "",
		     "queue %s: the server has closed the connection %u times on the reply with a "
		     "message of %zu bytes alone: the message stays in the queue; raise the "
		     "server's client-output-buffer-limit normal",
		     op->topic, CLOSINGS_MAX, left->body_size);
	place_of(op)->closings = 0;
	return 0;
}

/* ---- Pages ---------------------------------------------------------------------------------- */

/* take_value replaces the row at *link by a row with the value. Returns false without memory. */
static bool take_value(struct redis_store *store, dw_op *op, dw_row **link,
		       const struct reply *bytes)
{
	dw_row *row = *link, *value;

	if (bytes->kind != REPLY_BULK) {
		values_fail(row, DW_ESTALE);
		return true;
	}
	value = message_row(&store->alloc, row->token, bytes, op->topic);
	if (!value)
		return false;
	value->gone = row->gone && value->status == DW_OK;
	value->number = row->number;
	value->next = row->next;
	row->next = NULL;
	rows_free(&store->alloc, row);
	*link = value;
	return true;
}

/* take_values puts the values of a page into its rows. Returns false without memory. */
static bool take_values(struct redis_store *store, dw_op *op, const struct reply *reply)
{
	dw_row **link = &op->rows;
	size_t i = 0;

	for (; *link && i < reply->count; link = &(*link)->next)
		if (values_left(*link) && !take_value(store, op, link, &reply->items[i++]))
			return false;
	return true;
}

int values_answered(struct redis_store *store, struct redis_request *request,
		    const struct reply *reply)
{
	dw_op *op = request->context;

	request_free(&store->alloc, request);
	place_of(op)->closings = 0;
	if (reply->kind == REPLY_ERROR)
		return DW_ESTORE;
	return take_values(store, op, reply) ? DW_OK : DW_ENOMEM;
}

static size_t page_rows(struct redis_store *store, const dw_row *row)
{
	size_t rows = suspect_rows(store, DW_TAKE_MAX), count = 0, bytes = 0;

	for (; row && count < rows; row = row->next) {
		if (!values_left(row))
			continue;
		bytes += row->body_size;
		if (count > 0 && bytes > BATCH_BYTES_MAX)
			break;
		count++;
	}
	return count;
}

static void values_lost(struct redis_store *store, struct redis_request *request)
{
	dw_op *op = request->context;

	suspect_reply_lost(store, op, request, (size_t)place_of(op)->floor);
	request_free(&store->alloc, request);
	op_queue_push(&store->later.topics.waiting, op);
}

/* values_read keeps the number of rows of the page in place->floor, because the operation needs no
 * version. */
int values_read(struct redis_store *store, dw_op *op, request_answered *answered)
{
	const dw_row *row = values_first_left(op);
	size_t rows = page_rows(store, row);
	char key[QUEUE_KEY_SIZE];

	place_of(op)->floor = rows;
	queue_call_key(store, op->topic, "qm:", key);
	command_begin(&store->draft, COMMAND_HMGET);
	command_text(&store->draft.words, key);
	for (; rows > 0; row = row->next) {
		if (!values_left(row))
			continue;
		command_bytes(&store->draft.words, row->token, strcspn(row->token, "-"));
		rows--;
	}
	return request_post(store, NULL, answered, values_lost, op);
}
