#include "store/sqlite/operations.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/bind.h"
#include "store/sqlite/heal/check.h"
#include "store/sqlite/dead_letters.h"
#include "store/sqlite/ends.h"
#include "store/sqlite/heal/newer.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/row.h"
#include "store/sqlite/status.h"
#include "store/sqlite/topics.h"
#include "timer/record.h"
#include "timer/same.h"
#include "timer/transition.h"

static void count(struct sqlite_session *session, const struct life_record *record, int by)
{
	*(record->head.state == DW_PENDING ? &session->meta.pending : &session->meta.claimed) += by;
}

/* ---- One timer ---- */

/* The stored timer that an operation concerns. It is valid until its statement is stepped or
 * reset. */
struct stored {
	sqlite3_stmt *statement; /* NULL if there is no timer */
	struct sqlite_row row;
	bool had_why;
};

static int find_by(struct sqlite_session *session, enum sqlite_sql which, const dw_op *op,
		   struct stored *ret_found)
{
	sqlite3_stmt *statement = statement_of(session, which);
	int code = which == SQL_TIMER_BY_ID
		       ? bind_text(statement, 1, op->id)
		       : sqlite3_bind_int64(statement, 1, (sqlite3_int64)op->head.generation);

	code = code ? code : sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return sqlite_db_finish(statement, code);
	ret_found->statement = statement;
	ret_found->row = sqlite_row_read(statement);
	ret_found->had_why = ret_found->row.why.text != NULL;
	return SQLITE_OK;
}

/* is_about returns true if the row found by its generation is the operation's timer. If the row is
 * damaged, the id is not compared, because it may be wrong. */
static bool is_about(const struct stored *found, const dw_op *op)
{
	if (found->row.record.damaged)
		return true;
	return found->row.id && found->row.id_size == strlen(op->id) &&
	       memcmp(found->row.id, op->id, found->row.id_size) == 0;
}

static bool names_generation(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_NEXT:
		return true;
	default:
		return false;
	}
}

/* find finds the operation's timer by its generation, if the operation names one, or else by its
 * id. A search by generation needs one look-up less, and does not need the index of ids. */
static int find(struct sqlite_session *session, const dw_op *op, struct stored *ret_found)
{
	int code;

	*ret_found = (struct stored){0};
	if (names_generation(op)) {
		code = find_by(session, SQL_TIMER_BY_GENERATION, op, ret_found);
		if (code != SQLITE_OK || (ret_found->statement && is_about(ret_found, op)))
			return code;
		if (ret_found->statement)
			(void)sqlite3_reset(ret_found->statement); /* its row was read before */
		*ret_found = (struct stored){0};
	}
	return find_by(session, SQL_TIMER_BY_ID, op, ret_found);
}

static int delete_timer(struct sqlite_session *session, const struct life_record *record)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_DELETE);

	count(session, record, -1);
	return run(statement,
		   sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->head.generation));
}

static int insert_timer(struct sqlite_session *session, const dw_op *op,
			const struct life_record *record)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_INSERT);
	uint32_t seal = record_seal(&record->head, record->claim, op->body);
	int code = sqlite_row_bind(statement, record, seal);

	assert(op->body_size >= RECORD_HEADER_SIZE && op->topic);
	code = code ? code : bind_text(statement, 10, op->id);
	code = code ? code : bind_text(statement, 11, op->topic);
	code = code ? code
		    : sqlite3_bind_blob64(statement, 12, op->body, op->body_size, SQLITE_STATIC);
	count(session, record, 1);
	return run(statement, code);
}

static int update_timer(struct sqlite_session *session, const struct life_record *before,
			const struct life_record *after, uint32_t seal)
{
	bool renewed = before->head.generation != after->head.generation;
	bool moved = before->head.due != after->head.due;
	enum sqlite_sql which = renewed ? SQL_TIMER_RENEW
				: moved ? SQL_TIMER_MOVE
					: SQL_TIMER_UPDATE;
	sqlite3_stmt *statement = statement_of(session, which);
	int code = sqlite_row_bind(statement, after, seal);

	if (renewed && code == SQLITE_OK)
		code = sqlite3_bind_int64(statement, 10, (sqlite3_int64)before->head.generation);
	count(session, before, -1);
	count(session, after, 1);
	return run(statement, code);
}

/* tell replaces the text of dw_set_why() by that of the operation. For most timers there is no old
 * text and no new one. */
static int tell(struct sqlite_session *session, const dw_op *op, const struct stored *found,
		const struct life_step *step)
{
	const char *text = op->kind == DW_OP_NEXT ? op_why(op) : op->body;
	size_t size = op->kind == DW_OP_NEXT ? op->limit : op->body_size;
	sqlite3_stmt *statement;
	int code;

	if (step->why != LIFE_WHY_REPLACED || (size == 0 && !found->had_why))
		return SQLITE_OK;
	statement = statement_of(session, SQL_TIMER_TELL);
	code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)found->row.record.head.generation);
	/* A NULL text is bound as NULL. */
	code = code ? code : sqlite3_bind_text(statement, 2, text, (int)size, SQLITE_STATIC);
	return run(statement, code);
}

static int write_inbox(struct sqlite_session *session, const char *id, bool open)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_WRITE);
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)session->meta.generation);

	code = code ? code : bind_text(statement, 2, id);
	return run(statement, code ? code : sqlite3_bind_int(statement, 3, open));
}

/* left_open reads whether the id has an unacknowledged deletion that has left a claim open. Only a
 * client that finds no timer needs this; the owner knows its own claims. */
static int left_open(struct sqlite_session *session, const dw_op *op, bool *ret_open)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_IS_OPEN);
	int code = bind_text(statement, 1, op->id);

	code = code ? code : sqlite3_step(statement);
	*ret_open = code == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
	return sqlite_db_finish(statement, code);
}

static int dead_letter(struct sqlite_session *session, dw_op *op, const struct life_record *record)
{
	int code = sqlite_dead_add(session, op, record);

	code = code ? code : delete_timer(session, record);
	return code ? code : sqlite_dead_forget(session, op);
}

/* ---- Timers ---- */

static int carry_out(struct sqlite_session *session, dw_op *op, const struct stored *found,
		     const struct life_step *step, uint32_t seal)
{
	int code = SQLITE_OK;

	session->changed = session->changed || step->effect != LIFE_KEEP;
	switch (step->effect) {
	case LIFE_KEEP:
		break;
	case LIFE_STORE:
		if (found->statement)
			code = delete_timer(session, &found->row.record);
		code = code ? code : insert_timer(session, op, &step->record);
		break;
	case LIFE_RENEW:
		code = tell(session, op, found, step);
		code = code ? code : dead_letter(session, op, &found->row.record);
		code = code ? code : insert_timer(session, op, &step->record);
		break;
	case LIFE_UPDATE:
		code = update_timer(session, &found->row.record, &step->record, seal);
		code = code ? code : tell(session, op, found, step);
		break;
	case LIFE_DELETE:
		code = delete_timer(session, &found->row.record);
		break;
	case LIFE_BURY:
		code = tell(session, op, found, step);
		code = code ? code : dead_letter(session, op, &found->row.record);
		break;
	}
	return code == SQLITE_OK && step->news ? write_inbox(session, op->id, step->open_news)
					       : code;
}

/* show puts the timer, as it is after the step, into the answer. Returns false without memory. */
static bool show(struct sqlite_session *session, dw_op *op, const struct sqlite_row *row,
		 const struct life_step *step)
{
	op->rows = sqlite_row_copy(&session->alloc, row);
	if (!op->rows) {
		op->status = DW_ENOMEM;
		return false;
	}
	op->rows->head = step->record.head;
	op->row_count = 1;
	return true;
}

static int know_caller(struct sqlite_session *session, const dw_op *op, bool absent,
		       struct life_caller *ret_who)
{
	struct life_caller who = {.token = session->env->token,
				  .role = session->env->role,
				  .generation = life_next(session->meta.generation, wall(session))};
	int code = SQLITE_OK;

	if (absent && who.role == DW_CLIENT)
		code = left_open(session, op, &who.left_open);
	if (code == SQLITE_OK && op->flags & DW_OP_ONCE)
		code = sqlite_end_exists(session, op->id, &who.ended);
	*ret_who = who;
	return code;
}

static int apply_to_timer(struct sqlite_session *session, dw_op *op)
{
	struct life_caller who;
	struct life_step step;
	struct stored found;
	struct sqlite_end end = {0};
	uint32_t seal = 0;
	int code = find(session, op, &found);

	code = code ? code : know_caller(session, op, found.statement == NULL, &who);
	if (code != SQLITE_OK)
		return code;
	if (found.statement && !found.row.record.damaged && !found.row.record.newer)
		same_note(&found.row.record, found.row.body, op);
	step = life_take(op, found.statement ? &found.row.record : NULL, &who);
	op->status = step.status;
	if (step.show && !show(session, op, &found.row, &step))
		step.effect = LIFE_KEEP;
	if (op->kind == DW_OP_PUT && step.show)
		op->flags |= DW_OP_DONE;
	if (step.effect == LIFE_UPDATE)
		seal = record_seal(&step.record.head, step.record.claim, found.row.body);
	if (found.statement) {
		code = sqlite_end_note(session, op, &found.row, &step, &end);
		(void)sqlite3_reset(found.statement); /* its row was read before */
	}
	if (life_renews(&step, &who))
		session->meta.generation = who.generation;
	code = code ? code : carry_out(session, op, &found, &step, seal);
	code = code ? code : sqlite_end_add(session, op->id, &end);
	if (op->status == DW_OK)
		op->head = step.record.head;
	return code;
}

/* revive makes a timer from a dead letter. */
static int revive(struct sqlite_session *session, const dw_op *op, const struct sqlite_dead *dead,
		  const struct life_step *step, uint32_t seal)
{
	int code = sqlite_dead_revive(session, dead->number, &step->record, seal);

	session->meta.generation = step->record.head.generation;
	return code == SQLITE_OK && step->news ? write_inbox(session, op->id, step->open_news)
					       : code;
}

static int requeue(struct sqlite_session *session, dw_op *op)
{
	struct life_caller who;
	struct life_step step;
	struct sqlite_dead dead;
	struct stored found;
	uint32_t seal = 0;
	bool taken;
	int code = find(session, op, &found);

	taken = found.statement != NULL;
	if (taken)
		(void)sqlite3_reset(found.statement); /* its row was read before */
	code = code ? code : know_caller(session, op, !taken, &who);
	code = code ? code : sqlite_dead_find(session, op, &dead);
	if (code != SQLITE_OK)
		return code;
	step = life_requeue(op, dead.statement ? &dead.row.record : NULL, taken, &who);
	op->status = step.status;
	if (step.show && !show(session, op, &dead.row, &step))
		step.effect = LIFE_KEEP;
	if (step.effect == LIFE_STORE)
		seal = record_seal(&step.record.head, step.record.claim, dead.row.body);
	if (dead.statement)
		(void)sqlite3_reset(dead.statement); /* its row was read before */
	if (step.effect != LIFE_STORE)
		return SQLITE_OK;
	op->head = step.record.head;
	return revive(session, op, &dead, &step, seal);
}

/* ---- Topics ---- */

/* tell_owner adds an entry to the inbox that tells the owner of changed settings of a topic. */
static int tell_owner(struct sqlite_session *session)
{
	if (session->env->role == DW_OWNER)
		return SQLITE_OK; /* the owner itself has made the change */
	session->meta.generation = life_next(session->meta.generation, wall(session));
	return write_inbox(session, "", false);
}

static int change_topic(struct sqlite_session *session, dw_op *op)
{
	bool changed = false;
	int code = (op->kind == DW_OP_TOPIC_SET ? sqlite_topics_set
						: sqlite_topics_drop)(session, op, &changed);

	session->changed = session->changed || changed;
	return code == SQLITE_OK && changed ? tell_owner(session) : code;
}

static int put(struct sqlite_session *session, dw_op *op)
{
	bool closed;
	int code = sqlite_topics_closed(session, op->topic, &closed);

	if (code == SQLITE_OK && !closed)
		return apply_to_timer(session, op);
	op->status = DW_EPAUSED;
	return code;
}

/* end_timer ends a delivery, and pushes the message into which the timer turns. Either both are
 * done, or neither is done. */
static int end_timer(struct sqlite_session *session, dw_op *op)
{
	int code;

	if (!op->message)
		return apply_to_timer(session, op);
	code = sqlite_queue_asks(session, op->message);
	if (code != SQLITE_OK)
		return code;
	if (op->message->status != DW_OK) {
		op->status = DW_EBUSY;
		return SQLITE_OK;
	}
	code = apply_to_timer(session, op);
	return code == SQLITE_OK && op->status == DW_OK ? sqlite_queue_push(session, op->message)
							: code;
}

/* ---- The whole ---- */

/* purge deletes everything but the counter of generations, so that no generation is given twice. */
static int purge(struct sqlite_session *session, dw_op *op)
{
	struct sqlite_meta *meta = &session->meta;
	int code = sqlite_newer_any(session, op);

	if (code != SQLITE_OK || op->status != DW_OK)
		return code;
	code = sqlite_db_run(&session->db, SQL_TIMER_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_DEAD_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_INBOX_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_MESSAGE_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_ENDED_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_TOPIC_EMPTY);
	op->count = (uint64_t)(meta->pending + meta->claimed + meta->dead);
	meta->pending = meta->claimed = meta->dead = meta->ended = 0;
	session->changed = true;
	return code;
}

/* ---- All ---- */

bool sqlite_ops_writes(const dw_op *op)
{
	return op->kind != DW_OP_GET && op->kind != DW_OP_SCAN && op->kind != DW_OP_STATUS &&
	       op->kind != DW_OP_INBOX && op->kind != DW_OP_DEAD_SCAN && op->kind != DW_OP_CHECK &&
	       op->kind != DW_OP_TOPIC_LIST && op->kind != DW_OP_ENDED && op->kind != DW_OP_DUE &&
	       !(op->kind == DW_OP_TAKE && op->flags & DW_OP_LOOK);
}

/* needs_space returns true if the operation adds a timer. A full disk refuses these operations, so
 * that settles and cancels still have space. */
static bool needs_space(const dw_op *op)
{
	return (op->kind == DW_OP_PUT && !(op->flags & DW_OP_VITAL)) || op->kind == DW_OP_REQUEUE ||
	       op->kind == DW_OP_PUSH || op->message;
}

int sqlite_ops_apply(struct sqlite_session *session, dw_op *op)
{
	op->status = life_permits(op, session->env->role);
	if (op->status == DW_OK && session->full && needs_space(op))
		op->status = DW_EFULL;
	if (op->status != DW_OK)
		return SQLITE_OK;
	switch (op->kind) {
	case DW_OP_SCAN:
		return sqlite_page_scan(session, op);
	case DW_OP_DUE:
		return sqlite_page_due(session, op);
	case DW_OP_INBOX:
		return sqlite_page_inbox(session, op);
	case DW_OP_ACK:
		return sqlite_page_ack(session, op);
	case DW_OP_STATUS:
		return sqlite_status_read(session, op);
	case DW_OP_PURGE:
		return purge(session, op);
	case DW_OP_CHECK:
		return sqlite_check(session, op);
	case DW_OP_REPORT:
		return sqlite_status_report(session, op);
	case DW_OP_DEAD_SCAN:
		return sqlite_dead_scan(session, op);
	case DW_OP_DROP:
		return sqlite_dead_drop(session, op);
	case DW_OP_REQUEUE:
		return requeue(session, op);
	case DW_OP_PUT:
		return put(session, op);
	case DW_OP_ENDED:
		return sqlite_end_show(session, op);
	case DW_OP_TOPIC_SET:
	case DW_OP_TOPIC_DROP:
		return change_topic(session, op);
	case DW_OP_TOPIC_LIST:
		return sqlite_topics_list(session, op);
	case DW_OP_TOPIC_COUNT:
		return sqlite_topics_count(session, op);
	case DW_OP_PUSH:
		return sqlite_queue_push(session, op);
	case DW_OP_TAKE:
		return sqlite_queue_take(session, op);
	case DW_OP_ANSWER:
		return sqlite_queue_answer(session, op);
	case DW_OP_LETTER:
		return sqlite_dead_letter(session, op);
	case DW_OP_SETTLE:
	case DW_OP_NEXT:
		return end_timer(session, op);
	default:
		return apply_to_timer(session, op);
	}
}

int sqlite_ops_failed(const dw_op *op, int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return DW_EFULL;
	case SQLITE_READONLY:
		return code == SQLITE_READONLY_DBMOVED ? DW_EGONE : DW_ESTORE;
	case SQLITE_TOOBIG:
		return needs_space(op) ? DW_ELIMIT : DW_ESTORE;
	case SQLITE_CORRUPT:
		return DW_ECORRUPT;
	case SQLITE_NOMEM:
		return DW_ENOMEM;
	default:
		return DW_ESTORE;
	}
}
