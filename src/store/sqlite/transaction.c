#include "store/sqlite/transaction.h"

#include <assert.h>
#include <errno.h>

#include "port/clock.h"
#include "port/op.h"
#include "store/sqlite/ends.h"
#include "store/sqlite/file/fate.h"
#include "store/sqlite/heal/index.h"

enum outcome {
	DONE,
	NOT_DONE, /* the transaction was not done; session.code says why */
	UNKNOWN
};

enum {
	ATTEMPTS_MAX = 16, /* enough attempts to give up the whole reserve piece by piece */
	/* After this number of failures in a row the rest of the batch is not tried. */
	HARD_FAILURES_MAX = 3,
};

/* A part of the batch: the operations of one transaction. */
struct part {
	size_t first;
	size_t count;
};

void sqlite_batch_add(struct sqlite_batch *batch, dw_op *op)
{
	assert(batch->count < SQLITE_BATCH_MAX);
	batch->asked[batch->count] = (struct sqlite_asked){op->head, op->after};
	batch->ops[batch->count++] = op;
}

static bool writes(const struct sqlite_batch *batch, struct part part)
{
	for (size_t i = 0; i < part.count; i++)
		if (sqlite_ops_writes(batch->ops[part.first + i]))
			return true;
	return batch->forgets;
}

static bool has_put(const struct sqlite_batch *batch, struct part part)
{
	for (size_t i = 0; i < part.count; i++)
		if (batch->ops[part.first + i]->kind == DW_OP_PUT)
			return true;
	return false;
}

/* forget_answers resets each operation to the state in which it was submitted. */
static void forget_answers(struct sqlite_batch *batch, struct part part)
{
	for (size_t i = part.first; i < part.first + part.count; i++) {
		dw_op *op = batch->ops[i];

		rows_free(&batch->session.alloc, op->rows);
		alloc_free(&batch->session.alloc, op->store_status);
		op->rows = NULL;
		op->row_count = 0;
		op->count = 0;
		op->store_status = NULL;
		op->head = batch->asked[i].head;
		op->after = batch->asked[i].after;
		op->status = DW_OK;
		if (op->message)
			op->message->status = DW_OK;
	}
}

static void answer_all(struct sqlite_batch *batch, struct part part, int status)
{
	forget_answers(batch, part);
	for (size_t i = part.first; i < part.first + part.count; i++)
		batch->ops[i]->status = status;
}

/* ---- The file ---- */

static void find_again(struct sqlite_batch *batch)
{
	if (batch->gone)
		sqlite_hooks_log(batch->session.hooks, DW_LOG_WARN, "%s is back",
				 batch->files.path[FILE_DATABASE]);
	batch->gone = false;
	batch->foreign = true; /* others may have written while the file was closed */
}

/* can_mend returns true if only files that SQLite makes itself are missing. If another file has the
 * name of the log, it belongs to another database and lacks what is in our log. */
static bool can_mend(const struct sqlite_files *files)
{
	enum sqlite_file_state log = sqlite_files_look(files, FILE_LOG);
	enum sqlite_file_state memory = sqlite_files_look(files, FILE_MEMORY);

	return sqlite_files_look(files, FILE_DATABASE) == FILE_IS_SAME &&
	       sqlite_files_look(files, FILE_OWNER) == FILE_IS_SAME && log != FILE_IS_ANOTHER &&
	       (log == FILE_IS_SAME || memory != FILE_IS_ANOTHER);
}

/* mend closes a database whose log or memory file has lost its name, after it has copied the log
 * into the file. Returns true if all that was committed is in the file. If another memory file has
 * the name, other processes use that one and know nothing of our locks. Then nothing is copied,
 * because the log still has its name and keeps everything. */
static bool mend(struct sqlite_batch *batch, enum sqlite_file which)
{
	struct sqlite_db *db = &batch->session.db;
	bool shared = sqlite_files_look(&batch->files, FILE_MEMORY) == FILE_IS_ANOTHER;
	bool all = false;

	if (!shared &&
	    (sqlite_db_checkpoint(db->handle, SQLITE_CHECKPOINT_PASSIVE, &all) != SQLITE_OK ||
	     !all)) {
		(void)sqlite_fate_lose(batch, which);
		return false;
	}
	sqlite_hooks_log(batch->session.hooks, DW_LOG_WARN,
			 "%s was deleted while it was open: opening the database again",
			 batch->files.path[which]);
	sqlite_db_close(db, false);
	return all;
}

static int reopen(struct sqlite_batch *batch)
{
	struct sqlite_session *session = &batch->session;
	char message[DW_MESSAGE_SIZE];
	int status;

	if (session->db.handle)
		return SQLITE_OK;
	for (int which = FILE_DATABASE; which <= FILE_OWNER; which += FILE_OWNER - FILE_DATABASE)
		if (sqlite_files_look(&batch->files, which) != FILE_IS_SAME)
			return sqlite_fate_lose(batch, which);
	status = sqlite_db_open(&session->db, batch->files.path[FILE_DATABASE],
				sqlite_kind_of(session), &session->patience, message);
	if (status == DW_EFULL)
		return SQLITE_FULL;
	if (status != DW_OK) {
		sqlite_fate_tell(batch, "%s: nothing is stored until then", message);
		return SQLITE_CANTOPEN;
	}
	(void)sqlite_files_note(&batch->files,
				FILE_LOG); /* if this fails, the next look finds the log missing */
	(void)sqlite_files_note(&batch->files, FILE_MEMORY);
	find_again(batch);
	return SQLITE_OK;
}

/* find_file makes sure that the database is open, and that its name still leads to the open
 * file. */
static int find_file(struct sqlite_batch *batch)
{
	enum sqlite_file which;

	if (!batch->session.db.handle)
		return reopen(batch);
	which = sqlite_files_find(&batch->files);
	if (which == FILE_COUNT) {
		if (batch->gone)
			find_again(batch);
		return SQLITE_OK;
	}
	if (!can_mend(&batch->files))
		return sqlite_fate_lose(batch, which);
	(void)mend(batch, which);
	return batch->session.db.handle ? SQLITE_READONLY_DBMOVED : reopen(batch);
}

bool sqlite_batch_find_file(struct sqlite_batch *batch)
{
	return find_file(batch) == SQLITE_OK;
}

/* confirm is called when the commit is done. The commit counts only if it is in the file that other
 * processes find under this name. */
static enum outcome confirm(struct sqlite_batch *batch)
{
	enum sqlite_file which = sqlite_files_find(&batch->files);

	if (which == FILE_COUNT)
		return DONE;
	if (can_mend(&batch->files))
		return mend(batch, which) ? DONE : UNKNOWN;
	(void)sqlite_fate_lose(batch, which); /* the call only logs what happened */
	return UNKNOWN;
}

/* ---- One transaction ---- */

/* note_foreign notes whether another process has written. Every transaction that writes raises
 * meta.batch by 1, so a gap in this number shows that another process has written. */
static void note_foreign(struct sqlite_batch *batch)
{
	if (batch->session.meta.batch != batch->seen)
		batch->foreign = true;
	batch->seen = batch->session.meta.batch;
}

/* went_back refuses the file if it shows an earlier state than this session knows, because somebody
 * has put an old copy in its place. */
static int went_back(struct sqlite_batch *batch)
{
	sqlite_fate_tell(
	    batch,
	    "%s has lost stored timers (an older copy?): nothing is stored until the file is "
	    "as it was, or the program restarts",
	    batch->files.path[FILE_DATABASE]);
	return SQLITE_READONLY_DBMOVED;
}

/* begin begins the transaction. It sets *ret_batch to meta.batch, which is the number of the last
 * transaction that wrote before this one. */
static int begin(struct sqlite_batch *batch, struct part part, uint64_t *ret_batch)
{
	struct sqlite_session *session = &batch->session;
	enum sqlite_sql how = writes(batch, part) ? SQL_BEGIN_WRITE : SQL_BEGIN_READ;
	int code = find_file(batch);

	session->changed = false;
	code = code ? code : sqlite_db_run(&session->db, how);
	code = code ? code : sqlite_meta_read(session);
	if (code == SQLITE_OK && session->meta.batch < batch->seen)
		return went_back(batch);
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
		(void)sqlite_db_run(db, SQL_ROLLBACK); /* the next line looks whether it worked */
	if (db->handle && (!sqlite3_get_autocommit(db->handle) || code == SQLITE_IOERR_CORRUPTFS))
		sqlite_db_close(db, false); /* a new connection reads the file again */
	return NOT_DONE;
}

/* look_up finds out whether a COMMIT that failed was done nevertheless. It opens a new connection,
 * because a new connection sees what is stored. meta.batch numbers the transactions of all
 * sessions. So the transaction after number `before` is either this one, or a transaction of
 * another session. If this one was done, look_up copies the log into the file with an fsync of its
 * own, because the fsync that failed is not trusted. */
static enum outcome look_up(struct sqlite_batch *batch, uint64_t before, int code)
{
	struct sqlite_session *session = &batch->session;
	bool all = false;

	session->code = code;
	if (code != SQLITE_FULL) /* make_room reports a full disk */
		sqlite_hooks_log(session->hooks, DW_LOG_ERROR,
				 "COMMIT failed (%s): opening the file again to see whether it"
				 " was done",
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
	uint64_t before = 0;
	int code;

	forget_answers(batch, part);
	errno = 0;
	code = begin(batch, part, &before);
	for (size_t i = part.first; i < part.first + part.count && code == SQLITE_OK; i++)
		code = sqlite_ops_apply(session, batch->ops[i]);
	if (code == SQLITE_OK && batch->forgets)
		code = sqlite_end_forget(session);
	if (code == SQLITE_OK && session->changed)
		code = sqlite_meta_write(session);
	if (code != SQLITE_OK)
		return not_done(batch, sqlite_db_cause(code));
	/* A transaction that has only read is rolled back, because after damage SQLite refuses a
	 * COMMIT. */
	code = sqlite_db_run(&session->db, session->changed ? SQL_COMMIT : SQL_ROLLBACK);
	if (code == SQLITE_OK) {
		batch->seen = session->meta.batch;
		batch->wrote = batch->wrote || session->changed;
		return session->changed ? confirm(batch) : DONE;
	}
	code = sqlite_db_cause(code);
	if (!session->changed || (code & 0xff) == SQLITE_BUSY)
		return not_done(batch, code);
	return look_up(batch, before, code);
}

/* ---- A disk without space ---- */

/* tell logs when the disk becomes full, and when it has space again. Only an owner logs this; a
 * client's put gets DW_EFULL. */
static void tell(struct sqlite_batch *batch, bool full)
{
	struct sqlite_session *session = &batch->session;
	char words[SQLITE_SPACE_SIZE];

	if (session->env->role != DW_OWNER || batch->told == full)
		return;
	batch->told = full;
	sqlite_reserve_words(&batch->reserve, full, words);
	sqlite_hooks_log(session->hooks, full ? DW_LOG_ERROR : DW_LOG_WARN, "%s", words);
}

/* make_room returns true if another attempt makes sense. The second attempt leaves out the puts,
 * and comes after the log was copied into the file, so that the log needs no more space. Each later
 * attempt gives up a piece of the reserve. If the batch has only puts, the reserve is not given up,
 * because other programs would take the space that is freed. */
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

/* mend_index lets an owner rebuild an index that does not match its timers. Returns true if the
 * index was rebuilt. */
static bool mend_index(struct sqlite_batch *batch)
{
	return batch->session.code == SQLITE_CORRUPT_INDEX &&
	       batch->session.env->role == DW_OWNER &&
	       sqlite_index_rebuild(&batch->session) == SQLITE_OK;
}

/* attempt runs a transaction. It runs it again if that can help: after room was made, and once
 * after a COMMIT that was not done or an index that was rebuilt. */
static enum outcome attempt(struct sqlite_batch *batch, struct part part)
{
	enum outcome outcome = transact(batch, part);
	bool again = true;

	for (int i = 1; i < ATTEMPTS_MAX && outcome == NOT_DONE && again; i++) {
		if (is(batch, SQLITE_FULL))
			again = make_room(batch, i);
		else
			again = i == 1 && (is(batch, SQLITE_IOERR) || mend_index(batch));
		if (again)
			outcome = transact(batch, part);
	}
	if (outcome == DONE && !batch->session.full && has_put(batch, part))
		tell(batch, false);
	return outcome;
}

static int status_of_failure(struct sqlite_batch *batch, const dw_op *op)
{
	struct clock clock = clock_system();

	if (batch->session.code == SQLITE_IOERR_CORRUPTFS &&
	    sqlite_suspects_add(&batch->suspects, op, clock.steady(clock.user)))
		return DW_ECORRUPT;
	return sqlite_ops_failed(op, batch->session.code);
}

/* finish answers the operations of a part after its attempts. Returns true if the part failed, and
 * neither because of a full disk nor because of damage. Then other parts would probably fail,
 * too. */
static bool finish(struct sqlite_batch *batch, struct part part, enum outcome outcome)
{
	struct sqlite_session *session = &batch->session;

	if (outcome == DONE) {
		sqlite_suspects_clear(&batch->suspects, batch->ops + part.first, part.count);
		return false;
	}
	if (outcome == UNKNOWN) {
		answer_all(batch, part, DW_EUNKNOWN);
		return true;
	}
	if (is(batch, SQLITE_BUSY) && atomic_load(&session->patience.over)) {
		answer_all(batch, part, DW_ECLOSED);
		return true;
	}
	if (!is(batch, SQLITE_FULL) && !batch->gone) /* these failures were logged already */
		sqlite_hooks_log(session->hooks, DW_LOG_ERROR, "the database refused a change: %s",
				 sqlite3_errstr(session->code));
	forget_answers(batch, part);
	for (size_t i = part.first; i < part.first + part.count; i++)
		batch->ops[i]->status = status_of_failure(batch, batch->ops[i]);
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

/* is_long returns true if the batch has a check, which reads the whole file. Then each operation
 * gets a transaction of its own, so that no write lock is held during the check. */
static bool is_long(const struct sqlite_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->ops[i]->kind == DW_OP_CHECK)
			return true;
	return false;
}

/* tell_mended sets DW_OP_MENDED in the next answer. */
static void tell_mended(struct sqlite_batch *batch)
{
	if (batch->session.mended)
		batch->ops[0]->flags |= DW_OP_MENDED;
	batch->session.mended = false;
}

static void run_all(struct sqlite_batch *batch)
{
	struct part all = {.first = 0, .count = batch->count};
	enum outcome outcome;

	if (batch->session.full || writes(batch, all))
		sqlite_batch_look_for_space(batch);
	if (is_long(batch)) {
		run_one_by_one(batch);
		return;
	}
	outcome = attempt(batch, all);
	if (outcome != NOT_DONE || all.count == 1 || is(batch, SQLITE_BUSY) ||
	    is(batch, SQLITE_CANTOPEN) || batch->session.code == SQLITE_READONLY_DBMOVED)
		(void)finish(batch, all, outcome); /* every operation of the batch has its answer */
	else
		run_one_by_one(batch);
}

void sqlite_batch_run(struct sqlite_batch *batch)
{
	if (batch->count == 0)
		return;
	run_all(batch);
	tell_mended(batch);
}

void sqlite_batch_forget(struct sqlite_batch *batch)
{
	struct part none = {.first = 0, .count = 0};

	batch->session.ends_left = false;
	batch->forgets = true;
	(void)transact(batch, none);
	batch->forgets = false;
}
