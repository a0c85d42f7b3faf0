#include "store/sqlite/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "port/op.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/queue_ahead.h"
#include "timer/record.h"
#include "timer/transition.h"
#include "topic/message.h"
#include "topic/returns.h"
#include "topic/settings.h"

enum { WAITS, TAKEN, LATER };
enum { NUMBER, STATE, UNTIL, DELIVERY, GENERATION, DUE, ATTEMPT, RETRIES, BODY };

int sqlite_topic_find(struct sqlite_session *session, const char *name,
		      struct sqlite_topic *ret_topic)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_FIND);
	int code = bind_text(statement, 1, name);

	*ret_topic = (struct sqlite_topic){0};
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW) {
		ret_topic->number = sqlite3_column_int64(statement, 0);
		settings_read(&ret_topic->settings, (const char *)sqlite3_column_text(statement, 1),
			      (size_t)sqlite3_column_bytes(statement, 1));
		ret_topic->messages = sqlite3_column_int64(statement, 2);
	}
	return sqlite_db_finish(statement, code);
}

/* What an operation has changed in the counters of a topic. */
struct queue_tally {
	int64_t messages, dropped, expired;
};

static int write_tally(struct sqlite_session *session, const struct sqlite_topic *topic,
		       const struct queue_tally *tally)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TOPIC_TALLY);
	int code = sqlite3_bind_int64(statement, 1, topic->number);

	if (tally->messages == 0 && tally->dropped == 0 && tally->expired == 0)
		return code;
	session->changed = true;
	code = code ? code : sqlite3_bind_int64(statement, 2, tally->messages);
	code = code ? code : sqlite3_bind_int64(statement, 3, tally->dropped);
	code = code ? code : sqlite3_bind_int64(statement, 4, tally->expired);
	return run(statement, code);
}

static int delete_message(struct sqlite_session *session, sqlite3_int64 number,
			  struct queue_tally *tally)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_DELETE);

	tally->messages--;
	session->changed = true;
	return run(statement, sqlite3_bind_int64(statement, 1, number));
}

/* first finds the oldest message of a topic. It sets *ret_number to 0 if there is none. */
static int first(struct sqlite_session *session, const struct sqlite_topic *topic,
		 sqlite3_int64 *ret_number, dw_usec *ret_due)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_FIRST);
	int code = sqlite3_bind_int64(statement, 1, topic->number);

	*ret_number = 0;
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW) {
		*ret_number = sqlite3_column_int64(statement, 0);
		*ret_due = sqlite3_column_int64(statement, 1);
	}
	return sqlite_db_finish(statement, code);
}

/* ---- Push ---------------------------------------------------------------------------------- */

static int insert_message(struct sqlite_session *session, const struct sqlite_topic *topic,
			  const struct message *message)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_INSERT);
	uint64_t number = life_next(session->meta.generation, wall(session));
	const dw_head *head = &message->head;
	const sqlite3_int64 numbers[] = {
	    (sqlite3_int64)number,
	    topic->number,
	    (sqlite3_int64)(head->generation ? head->generation : number),
	    head->due,
	    head->attempt,
	    head->retries};
	int code = SQLITE_OK;

	session->meta.generation = number;
	for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers) && code == SQLITE_OK; i++)
		code = sqlite3_bind_int64(statement, i + 1, numbers[i]);
	code = code ? code
		    : sqlite3_bind_blob64(statement, 7, message->body, message->body_size,
					  SQLITE_STATIC);
	return run(statement, code);
}

static int drop_oldest(struct sqlite_session *session, const struct sqlite_topic *topic,
		       struct queue_tally *tally)
{
	int64_t most = settings_queue_max(&topic->settings);
	sqlite3_int64 number = 1;
	dw_usec due;
	int code = SQLITE_OK;

	while (code == SQLITE_OK && number && topic->messages + tally->messages > most) {
		code = first(session, topic, &number, &due);
		if (code == SQLITE_OK && number)
			code = delete_message(session, number, tally);
		tally->dropped += number != 0;
	}
	return code;
}

/* refusal returns DW_OK, or the reason why nothing may be pushed. */
static int refusal(const struct sqlite_topic *topic, const dw_op *op)
{
	int64_t count = (int64_t)message_count(op->body, op->body_size);

	if (topic->number == 0 || !topic->settings.queue)
		return DW_ENOENT;
	if (topic->settings.paused & DW_PAUSE_INTAKE && message_is_new(op->body, op->body_size))
		return DW_EPAUSED;
	return topic->settings.overflow == DW_REFUSE &&
		       topic->messages + count > settings_queue_max(&topic->settings)
		   ? DW_ELIMIT
		   : DW_OK;
}

int sqlite_queue_asks(struct sqlite_session *session, dw_op *op)
{
	struct sqlite_topic topic;
	int code = sqlite_topic_find(session, op->topic, &topic);

	if (code == SQLITE_OK)
		op->status = refusal(&topic, op);
	return code;
}

int sqlite_queue_push(struct sqlite_session *session, dw_op *op)
{
	const unsigned char *at = op->body;
	const unsigned char *end = at + op->body_size;
	struct sqlite_topic topic;
	struct message message;
	struct queue_tally tally = {0};
	int code = sqlite_topic_find(session, op->topic, &topic);

	if (code != SQLITE_OK)
		return code;
	op->status = refusal(&topic, op);
	if (op->status != DW_OK)
		return SQLITE_OK;
	while (code == SQLITE_OK && message_next(&at, end, &message)) {
		code = insert_message(session, &topic, &message);
		tally.messages++;
	}
	code = code ? code : drop_oldest(session, &topic, &tally);
	op->count = (uint64_t)tally.dropped;
	return code ? code : write_tally(session, &topic, &tally);
}

/* ---- Take ---------------------------------------------------------------------------------- */

static bool is_expired(const struct sqlite_topic *topic, dw_usec due, dw_usec now)
{
	return topic->settings.expire_us > 0 && usec_sub(now, due) > topic->settings.expire_us;
}

static int expire(struct sqlite_session *session, const struct sqlite_topic *topic, dw_usec now,
		  struct queue_tally *tally)
{
	sqlite3_int64 number = 1;
	dw_usec due;
	int code = SQLITE_OK;

	while (topic->settings.expire_us > 0 && code == SQLITE_OK && number) {
		code = first(session, topic, &number, &due);
		if (code != SQLITE_OK || !number || !is_expired(topic, due, now))
			return code;
		code = delete_message(session, number, tally);
		tally->expired++;
	}
	return code;
}

static dw_row *row_of(struct sqlite_session *session, sqlite3_stmt *statement, int64_t delivery)
{
	const void *body = sqlite3_column_blob(statement, BODY);
	size_t size = (size_t)sqlite3_column_bytes(statement, BODY);
	char id[DW_ID_MAX + 1] = "", token[MESSAGE_TOKEN_SIZE];
	struct record record;
	int status = record_decode(body, size, &record);
	size_t token_size =
	    (size_t)snprintf(token, sizeof token, "%" PRId64 "/%" PRId64,
			     (int64_t)sqlite3_column_int64(statement, NUMBER), delivery) +
	    1;
	unsigned char *room;
	dw_row *row;

	if (status == DW_OK)
		memcpy(id, record.id, record.id_size);
	row = row_new(&session->alloc, id, NULL, size + token_size);
	if (!row)
		return NULL;
	room = row_room(row);
	if (size)
		memcpy(room, body, size);
	row->token = memcpy(room + size, token, token_size);
	row->body_size = size;
	row->status = status;
	row->number = (uint64_t)sqlite3_column_int64(statement, NUMBER);
	row->head.generation = (uint64_t)sqlite3_column_int64(statement, GENERATION);
	row->head.due = sqlite3_column_int64(statement, DUE);
	row->head.attempt =
	    (uint32_t)(sqlite3_column_int64(statement, ATTEMPT) + (sqlite3_int64)delivery);
	row->head.retries = (uint32_t)sqlite3_column_int64(statement, RETRIES);
	return row;
}

/* read_ready reads the messages that may be handed out, and leaves them as they are. */
static int read_ready(struct sqlite_session *session, const struct sqlite_topic *topic, dw_op *op,
		      sqlite3_int64 limit)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_READY);
	dw_row **tail = &op->rows;
	size_t bytes = 0;
	int code = sqlite3_bind_int64(statement, 1, topic->number);

	code = code ? code : sqlite3_bind_int64(statement, 2, wall(session));
	code = code ? code : sqlite3_bind_int64(statement, 3, limit);
	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t delivery = sqlite3_column_int64(statement, DELIVERY) + 1;
		size_t size = (size_t)sqlite3_column_bytes(statement, BODY);

		code = SQLITE_OK;
		if (!message_fits(bytes, size))
			break;
		bytes += size;
		if (!op_add_row(&session->alloc, op, &tail, row_of(session, statement, delivery)))
			break;
	}
	return sqlite_db_finish(statement, code);
}

static int place(struct sqlite_session *session, const dw_row *row, int state, dw_usec until)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_PLACE);
	uint64_t number, delivery;
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)row->number);

	/* The store itself has made the token, so it is valid. */
	(void)token_numbers(row->token, &number, &delivery);
	session->changed = true;
	code = code ? code : sqlite3_bind_int(statement, 2, state);
	code = code ? code : sqlite3_bind_int64(statement, 3, until);
	code = code ? code : sqlite3_bind_int64(statement, 4, (sqlite3_int64)delivery);
	code = code ? code : sqlite3_bind_int64(statement, 5, row->head.retries);
	return run(statement, code);
}

/* hand_out hides the messages of the answer, drops those that are damaged, and leaves out those
 * that are expired. */
static int hand_out(struct sqlite_session *session, const struct sqlite_topic *topic, dw_op *op,
		    dw_usec now, struct queue_tally *tally)
{
	bool once = topic->settings.hide_us == DW_AT_MOST_ONCE;
	dw_usec until = usec_add(now, settings_hide(&topic->settings));
	dw_row **link = &op->rows;
	int code = SQLITE_OK;

	while (code == SQLITE_OK && *link) {
		dw_row *row = *link;
		bool expired = row->status == DW_OK && is_expired(topic, row->head.due, now);

		if (expired || (once && row->status == DW_OK) || row->status == DW_ECORRUPT)
			code = delete_message(session, (sqlite3_int64)row->number, tally);
		else
			code = place(session, row, TAKEN, until);
		if (!expired) {
			tally->dropped += row->status == DW_ECORRUPT;
			link = &row->next;
			continue;
		}
		tally->expired++;
		*link = row->next;
		row->next = NULL;
		rows_free(&session->alloc, row);
		op->row_count--;
	}
	return code;
}

/* take_some hands out messages that are ready. If all messages that it has read were expired, it
 * reads on, because there may be more. */
static int take_some(struct sqlite_session *session, const struct sqlite_topic *topic, dw_op *op,
		     dw_usec now, struct queue_tally *tally)
{
	int64_t expired;
	int code;

	do {
		expired = tally->expired;
		code = read_ready(session, topic, op, limit_of(op));
		code = code ? code : hand_out(session, topic, op, now, tally);
	} while (code == SQLITE_OK && op->row_count == 0 && tally->expired > expired);
	return code;
}

/* comes_back reads when the first hidden message is handed out again. */
static int comes_back(struct sqlite_session *session, const struct sqlite_topic *topic,
		      dw_usec *ret_time)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_COMES);
	int code = sqlite3_bind_int64(statement, 1, topic->number);

	code = code ? code : sqlite3_bind_int64(statement, 2, DW_NEVER);
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret_time = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

static void free_rows(struct sqlite_session *session, dw_op *op)
{
	rows_free(&session->alloc, op->rows);
	op->rows = NULL;
	op->row_count = 0;
}

/* look finds out whether a TAKE would have something to do, and sets op->count. */
static int look(struct sqlite_session *session, const struct sqlite_topic *topic, dw_op *op,
		dw_usec now)
{
	bool is_ahead = false;
	int code = read_ready(session, topic, op, 1);

	op->count = op->row_count;
	free_rows(session, op);
	if (code != SQLITE_OK || op->count > 0)
		return code;
	code = sqlite_queue_is_ahead(session, topic, now, &is_ahead);
	op->count = is_ahead;
	return code;
}

int sqlite_queue_take(struct sqlite_session *session, dw_op *op)
{
	struct sqlite_topic topic;
	struct queue_tally tally = {0};
	dw_usec now = wall(session);
	int code = sqlite_topic_find(session, op->topic, &topic);

	op->head.due = DW_NEVER;
	if (code == SQLITE_OK && topic.number == 0)
		op->status = DW_ENOENT;
	if (code != SQLITE_OK || topic.number == 0 || topic.settings.paused & DW_PAUSE_DELIVERY)
		return code;
	if (op->flags & DW_OP_LOOK) {
		code = look(session, &topic, op, now);
	} else {
		code = sqlite_queue_bring_forward(session, &topic, now);
		code = code ? code : expire(session, &topic, now, &tally);
		code = code ? code : take_some(session, &topic, op, now, &tally);
		code = code ? code : write_tally(session, &topic, &tally);
		if (code != SQLITE_OK)
			free_rows(session, op);
	}
	return code ? code : comes_back(session, &topic, &op->head.due);
}

/* ---- Answer -------------------------------------------------------------------------------- */

/* held reads the message whose last delivery the token names. It sets *ret_row to NULL if the token
 * is stale, or without memory. */
static int held(struct sqlite_session *session, const struct sqlite_topic *topic, const char *token,
		dw_row **ret_row)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_FIND);
	uint64_t number, delivery;
	int code;

	*ret_row = NULL;
	if (!token_numbers(token, &number, &delivery))
		return SQLITE_OK;
	code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
	code = code ? code : sqlite3_bind_int64(statement, 2, topic->number);
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW && sqlite3_column_int(statement, STATE) == TAKEN &&
	    (uint64_t)sqlite3_column_int64(statement, DELIVERY) == delivery)
		*ret_row = row_of(session, statement, (int64_t)delivery);
	return sqlite_db_finish(statement, code);
}

/* judge applies the verdict, and sets the row's status. The status is DW_ELIMIT if the message has
 * no retries left. */
static int judge(struct sqlite_session *session, const struct sqlite_topic *topic, const dw_op *op,
		 dw_row *row, struct queue_tally *tally)
{
	row->status = DW_OK;
	switch (op->verdict) {
	case DW_DONE:
		return delete_message(session, (sqlite3_int64)row->number, tally);
	case DW_HOLD:
	case DW_HOLD_UNSTARTED: /* these verdicts are never sent to a store */
		return place(session, row, TAKEN,
			     usec_add(wall(session), settings_hide(&topic->settings)));
	case DW_RETRY:
		if (row->head.retries < settings_retries_max(&topic->settings)) {
			dw_usec back = returns_at(&topic->settings, &op->head, row->head.retries,
						  wall(session));

			row->head.retries++;
			return place(session, row, LATER, back);
		}
		row->status = DW_ELIMIT;
		return SQLITE_OK;
	case DW_DEAD:
	default:
		row->status = DW_ELIMIT;
		return SQLITE_OK;
	}
}

int sqlite_queue_answer(struct sqlite_session *session, dw_op *op)
{
	const char *token = op->body;
	struct sqlite_topic topic;
	struct queue_tally tally = {0};
	dw_row **tail = &op->rows;
	int code = sqlite_topic_find(session, op->topic, &topic);

	for (size_t i = 0; code == SQLITE_OK && i < op->limit; i++, token += strlen(token) + 1) {
		dw_row *row;

		code = held(session, &topic, token, &row);
		if (code == SQLITE_OK && row)
			code = judge(session, &topic, op, row, &tally);
		else if (code == SQLITE_OK && (row = row_new(&session->alloc, "", NULL, 0)))
			row->status = DW_ESTALE;
		if (code != SQLITE_OK || (row && row->status == DW_OK)) {
			rows_free(&session->alloc, row);
			continue;
		}
		if (!op_add_row(&session->alloc, op, &tail, row))
			return SQLITE_NOMEM;
		row->number = i;
	}
	return code ? code : write_tally(session, &topic, &tally);
}

/* ---- Numbers ------------------------------------------------------------------------------- */

int sqlite_queue_numbers(struct sqlite_session *session, const struct sqlite_topic *topic,
			 char *text, size_t size)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_COUNT);
	sqlite3_int64 number = 0;
	dw_usec due = 0;
	int code = first(session, topic, &number, &due);

	text[0] = '\0';
	code = code ? code : sqlite3_bind_int64(statement, 1, topic->number);
	code = code ? code : sqlite3_step(statement);
	if (code == SQLITE_ROW)
		(void)snprintf(text, size,
			       " waiting=%lld taken=%lld later=%lld dropped=%lld expired=%lld"
			       " first_due=%lld",
			       sqlite3_column_int64(statement, 0),
			       sqlite3_column_int64(statement, 1),
			       sqlite3_column_int64(statement, 2), (long long)topic->dropped,
			       /* The text always fits. */
			       (long long)topic->expired, (long long)(number ? due : 0));
	return sqlite_db_finish(statement, code);
}
