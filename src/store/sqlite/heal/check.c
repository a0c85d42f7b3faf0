#include "store/sqlite/heal/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "port/op.h"
#include "store/sqlite/row.h"
#include "store/sqlite/status.h"
#include "timer/ended.h"
#include "timer/record.h"
#include "topic/settings.h"

#define SET_AGAIN "write them again by durawheel topic set"

enum { COLUMN_REASON = 13 };

/* The queries read the tables and no index, because an index may be the damaged part. */
#define COLUMNS                                                                                    \
	"generation, id, topic, due, state, attempt, retries, crashes, open, claim, seal, body,"   \
	" why"

static const char integrity[] = "PRAGMA integrity_check(100)";
static const char timers[] = "SELECT " COLUMNS " FROM timer NOT INDEXED";
static const char letters[] = "SELECT " COLUMNS ", reason FROM dead NOT INDEXED";
static const char ends[] = "SELECT id, body FROM ended NOT INDEXED";
static const char messages[] = "SELECT topic.name, message.number, message.body, message.state"
			       " FROM message NOT INDEXED"
			       " LEFT JOIN topic ON topic.number = message.topic";
static const char queues[] =
    "SELECT name, messages,"
    " (SELECT count(*) FROM message WHERE message.topic = topic.number) AS counted"
    " FROM topic WHERE messages <> counted";
static const char topics[] = "SELECT name, settings, closed, keep FROM topic NOT INDEXED";

/* A check that is under way. */
struct file_check {
	struct sqlite_session *session;
	dw_op *op;
	dw_row **tail;
	int64_t pending, claimed, dead, ended;
};

/* flaw counts a flaw. It also adds the flaw to the answer, unless the answer already has
 * DW_FLAWS_MAX flaws. */
static void flaw(struct file_check *check, const char *id, uint64_t generation, const char *what)
{
	dw_op *op = check->op;
	const struct alloc *alloc = &check->session->alloc;
	dw_row *row;

	if (op->status != DW_OK || op->count++ >= DW_FLAWS_MAX)
		return;
	row = row_new(alloc, id ? id : "", what, strlen(what) + 1);
	if (row)
		row->head.generation = generation;
	(void)op_add_row(alloc, op, &check->tail, row); /* without memory, op->status says so */
}

static void check_file_row(struct file_check *check, sqlite3_stmt *statement)
{
	const char *text = (const char *)sqlite3_column_text(statement, 0);

	if (!text || strcmp(text, "ok") != 0)
		flaw(check, "", 0, text ? text : "it cannot be read");
}

/* flaw_damaged reports a damaged row. `what` is "the timer" or "the dead letter". */
static void flaw_damaged(struct file_check *check, const struct sqlite_row *row, const char *what)
{
	char words[RECORD_WORDS_SIZE] = "does not match its checksum";
	char line[2 * RECORD_WORDS_SIZE];

	(void)record_breaks_limit(row->body, row->body_size,
				  words); /* if no limit is broken, the checksum is wrong */
	(void)snprintf(line, sizeof line, "%s %s", what, words); /* the text always fits */
	flaw(check, row->id, row->record.head.generation, line);
}

static void check_timer_row(struct file_check *check, sqlite3_stmt *statement)
{
	struct sqlite_row row = sqlite_row_read(statement);
	const dw_head *head = &row.record.head;

	*(head->state == DW_PENDING ? &check->pending : &check->claimed) += 1;
	if (row.record.damaged)
		flaw_damaged(check, &row, "the timer");
	else if (row.record.newer)
		flaw(check, row.id, head->generation, "the timer is of a newer durawheel");
	else if ((head->state == DW_CLAIMED) != (row.record.claim != 0))
		flaw(check, row.id, head->generation,
		     "the timer is claimed by nobody, or pending"
		     " and claimed");
	else if (head->generation > check->session->meta.generation)
		flaw(check, row.id, head->generation,
		     "the timer's generation is beyond the last one given");
}

static void check_letter_row(struct file_check *check, sqlite3_stmt *statement)
{
	struct sqlite_row row = sqlite_row_read(statement);
	const char *reason = (const char *)sqlite3_column_text(statement, COLUMN_REASON);
	bool known = reason && strcmp(reason, dw_reason_name(DW_REASON_CORRUPT)) == 0;

	check->dead++;
	if (row.record.damaged && !known)
		flaw_damaged(check, &row, "the dead letter");
	else if (row.record.newer)
		flaw(check, row.id, row.record.head.generation,
		     "the dead letter is of a newer durawheel");
}

static void check_end_row(struct file_check *check, sqlite3_stmt *statement)
{
	struct ended_names names;
	dw_ended ended;

	check->ended++;
	if (!ended_read(sqlite3_column_blob(statement, 1),
			(size_t)sqlite3_column_bytes(statement, 1), &ended, &names))
		flaw(check, (const char *)sqlite3_column_text(statement, 0), 0,
		     "its end is damaged");
}

static void check_message_row(struct file_check *check, sqlite3_stmt *statement)
{
	const char *topic = (const char *)sqlite3_column_text(statement, 0);
	uint64_t number = (uint64_t)sqlite3_column_int64(statement, 1);
	int state = sqlite3_column_int(statement, 3);
	struct record record;
	int status = record_decode(sqlite3_column_blob(statement, 2),
				   (size_t)sqlite3_column_bytes(statement, 2), &record);

	if (!topic)
		flaw(check, "", number, "a message belongs to no topic");
	else if (status == DW_ENEWER)
		flaw(check, topic, number, "a message of its queue is of a newer durawheel");
	else if (status != DW_OK)
		flaw(check, topic, number,
		     "a message of its queue does not match its checksum: the next take drops it");
	else if (state < 0 || state > 2)
		flaw(check, topic, number, "a message of its queue neither waits nor is taken");
}

/* check_topic_row checks the row of a topic. Two of its settings also have columns of their own,
 * which must agree. */
static void check_topic_row(struct file_check *check, sqlite3_stmt *statement)
{
	const char *name = (const char *)sqlite3_column_text(statement, 0);
	/* NULL without memory */
	const char *text = (const char *)sqlite3_column_text(statement, 1);
	dw_topic_settings settings = {.size = 0};
	char words[DW_MESSAGE_SIZE], line[2 * DW_MESSAGE_SIZE];
	size_t size = (size_t)sqlite3_column_bytes(statement, 1);

	text = text ? text : "";
	settings_read(&settings, text, size);
	if (settings_check_text(text, size, words) != DW_OK)
		(void)snprintf(line, sizeof line, "its settings are damaged (%s): " SET_AGAIN,
			       words);
	else if (((settings.paused & DW_PAUSE_INTAKE) != 0) !=
		     (sqlite3_column_int(statement, 2) != 0) ||
		 settings.keep_us != sqlite3_column_int64(statement, 3))
		(void)snprintf(line, sizeof line,
			       "its settings differ from its columns closed and keep: " SET_AGAIN);
	else
		return;
	flaw(check, name, 0, line);
}

static void check_queue_row(struct file_check *check, sqlite3_stmt *statement)
{
	char words[128];

	(void)snprintf(words, sizeof words,
		       "its queue has %" PRId64 " messages, and its counter says %" PRId64
		       ": the next owner corrects it",
		       (int64_t)sqlite3_column_int64(statement, 2),
		       (int64_t)sqlite3_column_int64(statement, 1)); /* the text always fits */
	flaw(check, (const char *)sqlite3_column_text(statement, 0), 0, words);
}

/* look_through calls look with every row of a query. A part of the file that cannot be read is a
 * flaw, too. */
static int look_through(struct file_check *check, const char *query,
			void (*look)(struct file_check *, sqlite3_stmt *))
{
	sqlite3 *handle = check->session->db.handle;
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, query, -1, &statement, NULL);

	if (code == SQLITE_OK)
		while ((code = sqlite3_step(statement)) == SQLITE_ROW)
			look(check, statement);
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	if (sqlite_db_is_damage(code)) {
		flaw(check, "", 0, "a part of the file cannot be read: it is damaged");
		code = SQLITE_DONE;
	}
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void compare(struct file_check *check, const char *what, int64_t counted, int64_t kept)
{
	char words[128];

	if (counted == kept)
		return;
	(void)snprintf(words, sizeof words, "%" PRId64 " %s are stored, the counter says %" PRId64,
		       counted, what, kept); /* the text always fits */
	flaw(check, "", 0, words);
}

static int find_flaws(struct sqlite_session *session, dw_op *op)
{
	struct file_check check = {.session = session, .op = op, .tail = &op->rows};
	int code = look_through(&check, integrity, check_file_row);

	code = code ? code : look_through(&check, timers, check_timer_row);
	code = code ? code : look_through(&check, letters, check_letter_row);
	code = code ? code : look_through(&check, ends, check_end_row);
	code = code ? code : look_through(&check, messages, check_message_row);
	code = code ? code : look_through(&check, topics, check_topic_row);
	if (code != SQLITE_OK || op->count > 0)
		return code; /* in a damaged file the counts mean nothing */
	compare(&check, "pending timers", check.pending, session->meta.pending);
	compare(&check, "claimed timers", check.claimed, session->meta.claimed);
	compare(&check, "dead letters", check.dead, session->meta.dead);
	compare(&check, "ends", check.ended, session->meta.ended);
	return look_through(&check, queues, check_queue_row);
}

int sqlite_check(struct sqlite_session *session, dw_op *op)
{
	int code = sqlite_status_read(session, op);

	return code || op->status != DW_OK ? code : find_flaws(session, op);
}
