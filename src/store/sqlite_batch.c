#include "store/sqlite_batch.h"

#include <assert.h>
#include <errno.h>

#include "port/op.h"

enum outcome {
	DONE,
	NOT_DONE, /* session.code says why */
	UNKNOWN
};

enum {
	ATTEMPTS_MAX = 16,     /* with all of the reserve, piece by piece */
	HARD_FAILURES_MAX = 3, /* in a row, then the rest of a batch is not tried */
};

/* A part of the batch: the operations of one transaction. */
struct part {
	size_t first;
	size_t count;
};

void sqlite_batch_add(struct sqlite_batch *batch, dw_op *op)
{
	assert(batch->count < SQLITE_BATCH_MAX);
	batch->asked[batch->count] = op->head;
	batch->ops[batch->count++] = op;
}

static bool writes(const struct sqlite_batch *batch, struct part part)
{
	for (size_t i = 0; i < part.count; i++)
		if (sqlite_ops_writes(batch->ops[part.first + i]))
			return true;
	return false;
}

static bool has_put(const struct sqlite_batch *batch, struct part part)
{
	for (size_t i = 0; i < part.count; i++)
		if (batch->ops[part.first + i]->kind == DW_OP_PUT)
			return true;
	return false;
}

/* forget_answers: each operation is again as it was submitted. */
static void forget_answers(struct sqlite_batch *batch, struct part part)
{
	for (size_t i = part.first; i < part.first + part.count; i++) {
		dw_op *op = batch->ops[i];

		rows_free(&batch->session.alloc, op->rows);
		alloc_free(&batch->session.alloc, op->store_status);
		op->rows = NULL;
		op->row_count = 0;
		op->store_status = NULL;
		op->head = batch->asked[i];
		op->status = DW_OK;
	}
}

static void answer_all(struct sqlite_batch *batch, struct part part, int status)
{
	forget_answers(batch, part);
	for (size_t i = part.first; i < part.first + part.count; i++)
		batch->ops[i]->status = status;
}

/* ---- One transaction ---- */

static int reopen(struct sqlite_batch *batch)
{
	struct sqlite_session *session = &batch->session;
	char message[DW_MESSAGE_SIZE];
	int status;

	if (session->db.handle)
		return SQLITE_OK;
	status = sqlite_db_open(&session->db, batch->path, &session->patience, message);
	if (status == DW_OK)
		return SQLITE_OK;
	if (status == DW_EFULL)
		return SQLITE_FULL;
	sqlite_outlet_log(session->outlet, DW_LOG_ERROR, "%s", message);
	return SQLITE_CANTOPEN;
}

/* note_foreign: every transaction that writes counts; a gap is another process's. */
static void note_foreign(struct sqlite_batch *batch)
{
	if (batch->session.meta.batch != batch->seen)
		batch->foreign = true;
	batch->seen = batch->session.meta.batch;
}

/* begin: *ret_batch is the number of the last transaction before this one. */
static int begin(struct sqlite_batch *batch, struct part part, uint64_t *ret_batch)
{
	struct sqlite_session *session = &batch->session;
	enum sqlite_sql how = writes(batch, part) ? SQL_BEGIN_WRITE : SQL_BEGIN_READ;
	int code = reopen(batch);

	session->changed = false;
	code = code ? code : sqlite_db_run(&session->db, how);
	code = code ? code : sqlite_meta_read(session);
	if (code == SQLITE_OK)
		note_foreign(batch);
	*ret_batch = session->meta.batch;
	return code;
}

static enum outcome not_done(struct sqlite_batch *batch, int code)
{
	struct sqlite_db *db = &batch->session.db;

	batch->session.code = code;
	if (db->handle && !sqlite3_get_autocommit(db->handle))
		(void)sqlite_db_run(db, SQL_ROLLBACK); /* looked at in the next line */
	if (db->handle && !sqlite3_get_autocommit(db->handle))
		sqlite_db_close(db, false);
	return NOT_DONE;
}

/* look_up: a COMMIT failed, and perhaps it is done nevertheless. A new connection sees what is
 * true; transactions of this session and of others are numbered in one row, so the one after
 * `before` is either this one or another's. What was done is copied into the file with an fsync of
 * its own: the failed one is not trusted. */
static enum outcome look_up(struct sqlite_batch *batch, uint64_t before, int code)
{
	struct sqlite_session *session = &batch->session;
	bool all = false;

	session->code = code;
	if (code != SQLITE_FULL) /* of which make_room tells */
		sqlite_outlet_log(session->outlet, DW_LOG_ERROR,
				  "COMMIT failed (%s): the file is opened again to see whether it"
				  " is done",
				  sqlite3_errstr(code));
	sqlite_db_close(&session->db, false);
	if (reopen(batch) != SQLITE_OK || sqlite_meta_read(session) != SQLITE_OK)
		return UNKNOWN;
	if (session->meta.batch == before)
		return NOT_DONE;
	if (session->meta.batch != before + 1)
		return UNKNOWN;
	if (session->meta.session != session->env->token)
		return NOT_DONE;
	batch->seen = session->meta.batch;
	(void)sqlite_db_checkpoint(session->db.handle, SQLITE_CHECKPOINT_PASSIVE, &all);
	return all ? DONE : UNKNOWN;
}

static enum outcome transact(struct sqlite_batch *batch, struct part part)
{
	struct sqlite_session *session = &batch->session;
	uint64_t before;
	int code;

	forget_answers(batch, part);
	errno = 0;
	code = begin(batch, part, &before);
	for (size_t i = part.first; i < part.first + part.count && code == SQLITE_OK; i++)
		code = sqlite_ops_apply(session, batch->ops[i]);
	if (code == SQLITE_OK && session->changed)
		code = sqlite_meta_write(session);
	if (code != SQLITE_OK)
		return not_done(batch, sqlite_db_cause(code));
	code = sqlite_db_run(&session->db, SQL_COMMIT);
	if (code == SQLITE_OK) {
		batch->seen = session->meta.batch;
		return DONE;
	}
	code = sqlite_db_cause(code);
	if (!session->changed || (code & 0xff) == SQLITE_BUSY)
		return not_done(batch, code);
	return look_up(batch, before, code);
}

/* ---- A disk without space ---- */

/* tell: a client says it with the answer to a put. */
static void tell(struct sqlite_batch *batch, bool full)
{
	struct sqlite_session *session = &batch->session;

	if (session->env->role != DW_OWNER || batch->told == full)
		return;
	batch->told = full;
	if (full)
		sqlite_outlet_log(session->outlet, DW_LOG_ERROR,
				  "the disk is full: no new timers until there is space; what is"
				  " stored fires, and is settled and cancelled on a reserve");
	else
		sqlite_outlet_log(session->outlet, DW_LOG_WARN,
				  "there is space again for new timers");
}

/* make_room: whether trying again makes sense. First without the puts, and with the log taken into
 * the file, so that it starts from its beginning again and needs no further space; then on the
 * reserve. A put alone never spends that: other programs would take what it frees. */
static bool make_room(struct sqlite_batch *batch, int attempts)
{
	struct sqlite_session *session = &batch->session;
	bool all;

	session->full = true;
	if (attempts == 1)
		sqlite_reserve_put_off(&batch->reserve);
	else if (!sqlite_reserve_spend(&batch->reserve))
		return false;
	if (session->db.handle)
		(void)sqlite_db_checkpoint(session->db.handle, SQLITE_CHECKPOINT_PASSIVE, &all);
	tell(batch, true);
	return true;
}

void sqlite_batch_look_for_space(struct sqlite_batch *batch)
{
	struct sqlite_session *session = &batch->session;

	if (!session->full && sqlite_reserve_is_whole(&batch->reserve))
		return;
	if (sqlite_reserve_is_due(&batch->reserve))
		session->full = !sqlite_reserve_take(&batch->reserve);
	else
		session->full = true;
	if (session->full)
		tell(batch, true);
}

/* ---- A batch ---- */

static bool is(const struct sqlite_batch *batch, int code)
{
	return (batch->session.code & 0xff) == code;
}

/* attempt tries a transaction again where that can help: after room was made, and once after a
 * COMMIT that was not done. */
static enum outcome attempt(struct sqlite_batch *batch, struct part part)
{
	enum outcome outcome = transact(batch, part);
	bool again = true;

	for (int i = 1; i < ATTEMPTS_MAX && outcome == NOT_DONE && again; i++) {
		if (is(batch, SQLITE_FULL))
			again = make_room(batch, i);
		else
			again = is(batch, SQLITE_IOERR) && i == 1;
		if (again)
			outcome = transact(batch, part);
	}
	if (outcome == DONE && !batch->session.full && has_put(batch, part))
		tell(batch, false);
	return outcome;
}

/* finish gives a part that was not done its answers; true: it was the disk or worse. */
static bool finish(struct sqlite_batch *batch, struct part part, enum outcome outcome)
{
	struct sqlite_session *session = &batch->session;

	if (outcome == DONE)
		return false;
	if (outcome == UNKNOWN) {
		answer_all(batch, part, DW_EUNKNOWN);
		return true;
	}
	if (is(batch, SQLITE_BUSY) && atomic_load(&session->patience.over)) {
		answer_all(batch, part, DW_ECLOSED);
		return true;
	}
	if (!is(batch, SQLITE_FULL)) /* told already */
		sqlite_outlet_log(session->outlet, DW_LOG_ERROR, "the database refused: %s",
				  sqlite3_errstr(session->code));
	forget_answers(batch, part);
	for (size_t i = part.first; i < part.first + part.count; i++)
		batch->ops[i]->status = sqlite_ops_failed(batch->ops[i], session->code);
	return !is(batch, SQLITE_FULL) && !is(batch, SQLITE_CORRUPT);
}

static void run_one_by_one(struct sqlite_batch *batch)
{
	int failures = 0;

	for (size_t i = 0; i < batch->count; i++) {
		struct part one = {.first = i, .count = 1};

		if (failures == HARD_FAILURES_MAX) {
			answer_all(batch, one, DW_ESTORE);
			continue;
		}
		failures = finish(batch, one, attempt(batch, one)) ? failures + 1 : 0;
	}
}

void sqlite_batch_run(struct sqlite_batch *batch)
{
	struct part all = {.first = 0, .count = batch->count};
	enum outcome outcome;

	if (all.count == 0)
		return;
	if (batch->session.full || has_put(batch, all))
		sqlite_batch_look_for_space(batch);
	outcome = attempt(batch, all);
	if (outcome != NOT_DONE || all.count == 1 || is(batch, SQLITE_BUSY) ||
	    is(batch, SQLITE_CANTOPEN))
		(void)finish(batch, all, outcome); /* there is nothing after it */
	else
		run_one_by_one(batch);
}
