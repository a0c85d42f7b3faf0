#include "store/sqlite/operations.h"

#include <assert.h>
#include <string.h>

#include "port/op.h"
#include "timer/transition.h"
#include "store/sqlite/check.h"
#include "store/sqlite/dead_letters.h"
#include "store/identity.h"
#include "store/sqlite/newer.h"
#include "store/sqlite/owner.h"
#include "store/sqlite/row.h"
#include "store/status.h"
#include "timer/record.h"

enum { COLUMN_NEWS_GENERATION = 12, COLUMN_NEWS_ID = 13 };
enum { COLUMN_PLACE_DUE = 12, COLUMN_PLACE_GENERATION = 13 };

/* ---- Meta ---- */

int sqlite_meta_read(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_READ);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		session->meta =
		    (struct sqlite_meta){.generation = (uint64_t)sqlite3_column_int64(statement, 0),
					 .batch = (uint64_t)sqlite3_column_int64(statement, 1),
					 .session = (uint64_t)sqlite3_column_int64(statement, 2),
					 .pending = sqlite3_column_int64(statement, 3),
					 .claimed = sqlite3_column_int64(statement, 4),
					 .dead = sqlite3_column_int64(statement, 5)};
	else if (code == SQLITE_DONE)
		code = SQLITE_CORRUPT; /* the row is never deleted */
	return sqlite_db_finish(statement, code);
}

int sqlite_meta_write(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_WRITE);
	struct sqlite_meta *meta = &session->meta;
	int code;

	meta->batch++;
	meta->session = session->env->token;
	code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)meta->generation);
	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)meta->batch);
	code = code ? code : sqlite3_bind_int64(statement, 3, (sqlite3_int64)meta->session);
	code = code ? code : sqlite3_bind_int64(statement, 4, meta->pending);
	code = code ? code : sqlite3_bind_int64(statement, 5, meta->claimed);
	code = code ? code : sqlite3_bind_int64(statement, 6, meta->dead);
	return run(statement, code);
}

int sqlite_meta_recount(struct sqlite_session *session)
{
	sqlite3_stmt *statement = statement_of(session, SQL_META_RECOUNT);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW) {
		session->meta.pending = sqlite3_column_int64(statement, 0);
		session->meta.claimed = sqlite3_column_int64(statement, 1);
		session->meta.dead = sqlite3_column_int64(statement, 2);
	}
	return sqlite_db_finish(statement, code);
}

static void count(struct sqlite_session *session, const struct life_record *record, int by)
{
	*(record->head.state == DW_PENDING ? &session->meta.pending : &session->meta.claimed) += by;
}

/* ---- One timer ---- */

/* The stored timer of an operation, while its statement holds it. */
struct found {
	sqlite3_stmt *statement; /* NULL: there is none */
	struct sqlite_row row;
};

static int find_by(struct sqlite_session *session, enum sqlite_sql which, const dw_op *op,
		   struct found *ret_found)
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
	return SQLITE_OK;
}

/* is_about: a damaged timer's generation says enough, which is its place in the table. Its id may
 * be what is damaged. */
static bool is_about(const struct found *found, const dw_op *op)
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
		return true;
	default:
		return false;
	}
}

/* find: an operation that names a generation finds its timer by that, which is one lookup less and
 * does not depend on the index of ids. */
static int find(struct sqlite_session *session, const dw_op *op, struct found *ret_found)
{
	int code;

	*ret_found = (struct found){0};
	if (names_generation(op)) {
		code = find_by(session, SQL_TIMER_BY_GENERATION, op, ret_found);
		if (code != SQLITE_OK || (ret_found->statement && is_about(ret_found, op)))
			return code;
		if (ret_found->statement)
			(void)sqlite3_reset(ret_found->statement); /* it had its row */
		*ret_found = (struct found){0};
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

static int write_news(struct sqlite_session *session, const char *id, bool open)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_WRITE);
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)session->meta.generation);

	code = code ? code : bind_text(statement, 2, id);
	return run(statement, code ? code : sqlite3_bind_int(statement, 3, open));
}

/* left_open: only a client that finds no timer asks; the owner knows its own claims. */
static int left_open(struct sqlite_session *session, const dw_op *op, bool *ret_open)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_IS_OPEN);
	int code = bind_text(statement, 1, op->id);

	code = code ? code : sqlite3_step(statement);
	*ret_open = code == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
	return sqlite_db_finish(statement, code);
}

static int bury(struct sqlite_session *session, dw_op *op, const struct life_record *record)
{
	int code = sqlite_dead_add(session, op, record);

	code = code ? code : delete_timer(session, record);
	return code ? code : sqlite_dead_forget(session, op);
}

/* ---- Timers ---- */

static int carry_out(struct sqlite_session *session, dw_op *op, const struct found *found,
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
	case LIFE_UPDATE:
		code = update_timer(session, &found->row.record, &step->record, seal);
		break;
	case LIFE_DELETE:
		code = delete_timer(session, &found->row.record);
		break;
	case LIFE_BURY:
		code = bury(session, op, &found->row.record);
		break;
	}
	return code == SQLITE_OK && step->news ? write_news(session, op->id, step->open_news)
					       : code;
}

/* show puts the timer into the answer, as it is after the step; false: no memory. */
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
	*ret_who = who;
	return code;
}

static int apply_to_timer(struct sqlite_session *session, dw_op *op)
{
	struct life_caller who;
	struct life_step step;
	struct found found;
	uint32_t seal = 0;
	int code = find(session, op, &found);

	code = code ? code : know_caller(session, op, found.statement == NULL, &who);
	if (code != SQLITE_OK)
		return code;
	step = life_take(op, found.statement ? &found.row.record : NULL, &who);
	op->status = step.status;
	if (step.show && !show(session, op, &found.row, &step))
		step.effect = LIFE_KEEP;
	if (step.effect == LIFE_UPDATE)
		seal = record_seal(&step.record.head, step.record.claim, found.row.body);
	if (found.statement)
		(void)sqlite3_reset(found.statement); /* it had its row */
	if (life_renews(&step, &who))
		session->meta.generation = who.generation;
	code = carry_out(session, op, &found, &step, seal);
	if (op->status == DW_OK)
		op->head = step.record.head;
	return code;
}

/* revive makes a timer of a dead letter. */
static int revive(struct sqlite_session *session, const dw_op *op, const struct sqlite_dead *dead,
		  const struct life_step *step, uint32_t seal)
{
	int code = sqlite_dead_revive(session, dead->number, &step->record, seal);

	session->meta.generation = step->record.head.generation;
	return code == SQLITE_OK && step->news ? write_news(session, op->id, step->open_news)
					       : code;
}

static int requeue(struct sqlite_session *session, dw_op *op)
{
	struct life_caller who;
	struct life_step step;
	struct sqlite_dead dead;
	struct found found;
	uint32_t seal = 0;
	bool taken;
	int code = find(session, op, &found);

	taken = found.statement != NULL;
	if (taken)
		(void)sqlite3_reset(found.statement); /* it had its row */
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
		(void)sqlite3_reset(dead.statement); /* it had its row */
	if (step.effect != LIFE_STORE)
		return SQLITE_OK;
	op->head = step.record.head;
	return revive(session, op, &dead, &step, seal);
}

/* ---- Pages ---- */

static dw_row *copy_timer(struct sqlite_session *session, sqlite3_stmt *statement)
{
	struct sqlite_row row = sqlite_row_read(statement);

	return sqlite_row_copy(&session->alloc, &row);
}

static bool is_behind(const dw_cursor *at, const dw_cursor *before)
{
	return !before->started || at->due > before->due ||
	       (at->due == before->due && at->generation > before->generation);
}

/* scan_by_due: the cursor is a place in the index. A damaged index that leads back would let pages
 * follow each other for ever. */
static int scan_by_due(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_SCAN);
	dw_cursor last = op->after;
	dw_row **tail = &op->rows;
	int code = sqlite3_bind_int64(statement, 1, last.started ? last.due : INT64_MIN);

	code = code ? code
		    : sqlite3_bind_int64(statement, 2,
					 last.started ? (sqlite3_int64)last.generation : INT64_MIN);
	code = code ? code : bind_text(statement, 3, op->topic);
	code = code ? code : sqlite3_bind_int64(statement, 4, limit_of(op));
	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		dw_cursor at = {.due = sqlite3_column_int64(statement, COLUMN_PLACE_DUE),
				.generation = (uint64_t)sqlite3_column_int64(
				    statement, COLUMN_PLACE_GENERATION),
				.started = 1};

		code = is_behind(&at, &last) ? SQLITE_OK : SQLITE_CORRUPT_INDEX;
		last = at;
		if (code == SQLITE_OK &&
		    !op_add_row(&session->alloc, op, &tail, copy_timer(session, statement)))
			break;
	}
	op->after = last;
	return sqlite_db_finish(statement, code);
}

static int scan_by_generation(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_TIMER_LOAD);
	int64_t after = op->after.started ? (int64_t)op->after.generation : INT64_MIN;
	dw_row **tail = &op->rows;
	int code = sqlite3_bind_int64(statement, 1, after);

	code = code ? code : sqlite3_bind_int64(statement, 2, limit_of(op));
	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		code = SQLITE_OK;
		op->after = (dw_cursor){.generation = (uint64_t)sqlite3_column_int64(statement, 0),
					.started = 1};
		if (!op_add_row(&session->alloc, op, &tail, copy_timer(session, statement)))
			break;
	}
	return sqlite_db_finish(statement, code);
}

static int scan(struct sqlite_session *session, dw_op *op)
{
	return op->flags & DW_OP_BY_GENERATION ? scan_by_generation(session, op)
					       : scan_by_due(session, op);
}

/* news_row: the timer as it is now, or that there is none any more. */
static dw_row *news_row(struct sqlite_session *session, sqlite3_stmt *statement)
{
	dw_row *row;

	if (sqlite3_column_type(statement, 0) != SQLITE_NULL) {
		struct sqlite_row timer = sqlite_row_read(statement);

		return sqlite_row_copy(&session->alloc, &timer);
	}
	row = row_new(&session->alloc, (const char *)sqlite3_column_text(statement, COLUMN_NEWS_ID),
		      NULL, 0);
	if (!row)
		return NULL;
	row->gone = 1;
	row->head.generation = (uint64_t)sqlite3_column_int64(statement, COLUMN_NEWS_GENERATION);
	return row;
}

static int read_inbox(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_READ);
	uint64_t after = op->after.started ? op->after.generation : 0;
	dw_row **tail = &op->rows;
	int code = sqlite3_bind_int64(statement, 1, (sqlite3_int64)after);

	code = code ? code : sqlite3_bind_int64(statement, 2, limit_of(op));
	if (code != SQLITE_OK)
		return code;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		if (!op_add_row(&session->alloc, op, &tail, news_row(session, statement)))
			break;
	return sqlite_db_finish(statement, code);
}

static int acknowledge(struct sqlite_session *session, const dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_INBOX_ACK);
	int code = bind_text(statement, 1, op->id);

	code = code ? code : sqlite3_bind_int64(statement, 2, (sqlite3_int64)op->head.generation);
	code = run(statement, code);
	if (sqlite3_changes(session->db.handle) > 0)
		session->changed = true;
	return code;
}

/* ---- Status ---- */

static int read_one(struct sqlite_session *session, enum sqlite_sql which, int64_t *ret_number)
{
	sqlite3_stmt *statement = statement_of(session, which);
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	return sqlite_db_finish(statement, code);
}

static int tell_status(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *owner = statement_of(session, SQL_OWNER_READ);
	dw_store_status values = {.pending = (uint64_t)session->meta.pending,
				  .claimed = (uint64_t)session->meta.claimed,
				  .dead = (uint64_t)session->meta.dead,
				  .next_due = DW_NEVER};
	int64_t waiting = 0;
	int code = read_one(session, SQL_TIMER_NEXT_DUE, &values.next_due);

	code = code ? code : read_one(session, SQL_INBOX_COUNT, &waiting);
	if (code != SQLITE_OK)
		return code;
	values.inbox = (uint64_t)waiting;
	code = sqlite3_step(owner);
	if (code == SQLITE_ROW &&
	    !identity_lives(sqlite3_column_int64(owner, 1), sqlite3_column_int64(owner, 2),
			    (const char *)sqlite3_column_text(owner, 3))) {
		values.owner = values.owner_report = "";
		op->store_status = status_new(&session->alloc, &values);
		op->status = op->store_status ? DW_OK : DW_ENOMEM;
	} else if (code == SQLITE_ROW) {
		values.owner = (const char *)sqlite3_column_text(owner, 0);
		values.owner_since = sqlite3_column_int64(owner, 4);
		values.owner_seen = sqlite3_column_int64(owner, 5);
		values.owner_report = (const char *)sqlite3_column_text(owner, 6);
		op->store_status = status_new(&session->alloc, &values);
		op->status = op->store_status ? DW_OK : DW_ENOMEM;
	}
	return sqlite_db_finish(owner, code);
}

static int report(struct sqlite_session *session, dw_op *op)
{
	sqlite3_stmt *statement = statement_of(session, SQL_OWNER_REPORT);
	int code = sqlite3_bind_int64(statement, 1, wall(session));

	code = code ? code
		    : sqlite3_bind_text64(statement, 2, op->body_size ? op->body : "",
					  op->body_size, SQLITE_STATIC, SQLITE_UTF8);
	session->changed = true;
	code = run(statement, code);
	return code ? code : sqlite_dead_forget(session, op);
}

/* ---- The whole ---- */

/* purge keeps the generations: one that was given once is never given again. */
static int purge(struct sqlite_session *session, dw_op *op)
{
	struct sqlite_meta *meta = &session->meta;
	int code = sqlite_newer_any(session, op);

	if (code != SQLITE_OK || op->status != DW_OK)
		return code;
	code = sqlite_db_run(&session->db, SQL_TIMER_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_DEAD_CLEAR);
	code = code ? code : sqlite_db_run(&session->db, SQL_INBOX_CLEAR);
	op->count = (uint64_t)(meta->pending + meta->claimed + meta->dead);
	meta->pending = meta->claimed = meta->dead = 0;
	session->changed = true;
	return code;
}

static int check(struct sqlite_session *session, dw_op *op)
{
	int code = tell_status(session, op);

	return code || op->status != DW_OK ? code : sqlite_check(session, op);
}

/* ---- All ---- */

bool sqlite_ops_writes(const dw_op *op)
{
	return op->kind != DW_OP_GET && op->kind != DW_OP_SCAN && op->kind != DW_OP_STATUS &&
	       op->kind != DW_OP_INBOX && op->kind != DW_OP_DEAD_SCAN && op->kind != DW_OP_CHECK;
}

/* needs_space: it brings a new timer, and nothing is given for it. */
static bool needs_space(const dw_op *op)
{
	return op->kind == DW_OP_PUT || op->kind == DW_OP_REQUEUE;
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
		return scan(session, op);
	case DW_OP_INBOX:
		return read_inbox(session, op);
	case DW_OP_ACK:
		return acknowledge(session, op);
	case DW_OP_STATUS:
		return tell_status(session, op);
	case DW_OP_PURGE:
		return purge(session, op);
	case DW_OP_CHECK:
		return check(session, op);
	case DW_OP_REPORT:
		return report(session, op);
	case DW_OP_DEAD_SCAN:
		return sqlite_dead_scan(session, op);
	case DW_OP_DROP:
		return sqlite_dead_drop(session, op);
	case DW_OP_REQUEUE:
		return requeue(session, op);
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
