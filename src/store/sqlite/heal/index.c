#include "store/sqlite/heal/index.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "store/sqlite/row.h"
#include "store/sqlite/bind.h"

/* Each query reads either the table itself, or a single index. */
static const char by_table[] = "SELECT generation, due, id, state FROM timer NOT INDEXED";
static const char by_due[] =
    "SELECT generation, due FROM timer INDEXED BY timer_due ORDER BY due, generation";
static const char by_id[] = "SELECT generation, id FROM timer INDEXED BY sqlite_autoindex_timer_1"
			    " ORDER BY id";
static const char letters[] = "SELECT count(*) FROM dead NOT INDEXED";
static const char ends[] = "SELECT count(*) FROM ended";
static const char queues[] = "SELECT count(*) FROM topic WHERE messages <>"
			     " (SELECT count(*) FROM message WHERE message.topic = topic.number)";
static const char damaged[] =
    "SELECT generation, id, topic, due, state, attempt, retries, crashes, open, claim, seal, body,"
    " why FROM timer NOT INDEXED";
static const char rename_one[] =
    "UPDATE timer SET id = 'damaged-' || generation WHERE generation = ?";

/* What was read from the table or from its indexes. The values are sums over all rows, so that the
 * order of the rows does not matter. */
struct tally {
	uint64_t dues;
	uint64_t ids;
	int64_t pending;
	int64_t claimed;
	int64_t dead;
	int64_t ended;
	int64_t miscounted; /* how many queues have wrong counters */
	bool disordered;

	/* The following fields are the row before the current row, if `any` is true. */
	bool any;
	int64_t due;
	int64_t generation;
	char id[DW_ID_MAX + 1];
	size_t id_size;
};

/* ---- Reading ---- */

static uint64_t mark_of_due(sqlite3_int64 due, sqlite3_int64 generation)
{
	return hash_bytes((uint64_t)generation, &due, sizeof due);
}

static uint64_t mark_of_id(sqlite3_stmt *statement, int column, sqlite3_int64 generation)
{
	const void *id = sqlite3_column_text(statement, column);

	return hash_bytes((uint64_t)generation, id ? id : "",
			  (size_t)sqlite3_column_bytes(statement, column));
}

static void add_timer(struct tally *tally, sqlite3_stmt *statement)
{
	sqlite3_int64 generation = sqlite3_column_int64(statement, 0);

	tally->dues += mark_of_due(sqlite3_column_int64(statement, 1), generation);
	tally->ids += mark_of_id(statement, 2, generation);
	*(sqlite3_column_int64(statement, 3) == DW_PENDING ? &tally->pending : &tally->claimed) +=
	    1;
}

/* compare_due compares the previous row with this row's place in the index. The result is below,
 * equal to or above 0, as for memcmp(). */
static int compare_due(const struct tally *tally, int64_t due, int64_t generation)
{
	if (tally->due != due)
		return tally->due < due ? -1 : 1;
	return tally->generation < generation ? -1 : 1;
}

/* compare_text compares the id of the previous row with this id. An id that is too long is damage.
 * Then the result is 1, so that the index counts as disordered. */
static int compare_text(const struct tally *tally, const void *text, size_t size)
{
	size_t common = size < tally->id_size ? size : tally->id_size;
	int order = text && size <= DW_ID_MAX ? memcmp(tally->id, text, common) : 1;

	if (order != 0 || tally->id_size == size)
		return order;
	return tally->id_size < size ? -1 : 1;
}

static void keep_due(struct tally *tally, int64_t due, int64_t generation)
{
	tally->any = true;
	tally->due = due;
	tally->generation = generation;
}

static void keep_text(struct tally *tally, const void *text, size_t size)
{
	tally->any = true;
	tally->id_size = size <= DW_ID_MAX && text ? size : 0;
	memcpy(tally->id, text ? text : "", tally->id_size);
}

/* add_due adds a row of the index of deadlines. It counts the index as disordered if the row does
 * not come after the previous row. A look-up finds all entries only if the index is in order. */
static void add_due(struct tally *tally, sqlite3_stmt *statement)
{
	int64_t generation = sqlite3_column_int64(statement, 0);
	int64_t due = sqlite3_column_int64(statement, 1);

	if (tally->any && compare_due(tally, due, generation) >= 0)
		tally->disordered = true;
	keep_due(tally, due, generation);
	tally->dues += mark_of_due(due, generation);
}

static void add_id(struct tally *tally, sqlite3_stmt *statement)
{
	const void *id = sqlite3_column_text(statement, 1);
	size_t size = (size_t)sqlite3_column_bytes(statement, 1);

	if (size > DW_ID_MAX || (tally->any && compare_text(tally, id, size) >= 0))
		tally->disordered = true;
	keep_text(tally, id, size);
	tally->ids += mark_of_id(statement, 1, sqlite3_column_int64(statement, 0));
}

static void add_letters(struct tally *tally, sqlite3_stmt *statement)
{
	tally->dead = sqlite3_column_int64(statement, 0);
}

static void add_ends(struct tally *tally, sqlite3_stmt *statement)
{
	tally->ended = sqlite3_column_int64(statement, 0);
}

static void add_queues(struct tally *tally, sqlite3_stmt *statement)
{
	tally->miscounted = sqlite3_column_int64(statement, 0);
}

static int read_all(struct sqlite_session *session, const char *query, struct tally *tally,
		    void (*add)(struct tally *, sqlite3_stmt *))
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(session->db.handle, query, -1, &statement, NULL);

	if (code == SQLITE_OK)
		while ((code = sqlite3_step(statement)) == SQLITE_ROW)
			add(tally, statement);
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* read_index reads an index. An index that cannot be read counts as disordered. */
static int read_index(struct sqlite_session *session, const char *query, struct tally *tally,
		      void (*add)(struct tally *, sqlite3_stmt *))
{
	int code;

	tally->any = false;
	code = read_all(session, query, tally, add);
	if (!sqlite_db_is_damage(code))
		return sqlite_db_cause(code);
	tally->disordered = true;
	return SQLITE_OK;
}

/* compare reads everything in one transaction, so all that it compares belongs to one moment. */
static int compare(struct sqlite_session *session, bool *ret_same, bool *ret_counted)
{
	const struct sqlite_meta *meta = &session->meta;
	struct tally table = {0};
	struct tally index = {0};
	int code = sqlite_db_run(&session->db, SQL_BEGIN_READ);

	code = code ? code : sqlite_meta_read(session);
	code = code ? code : read_all(session, by_table, &table, add_timer);
	code = code ? code : read_all(session, letters, &table, add_letters);
	code = code ? code : read_all(session, queues, &table, add_queues);
	code = code ? code : read_index(session, by_due, &index, add_due);
	code = code ? code : read_index(session, by_id, &index, add_id);
	code = code ? code : read_index(session, ends, &index, add_ends);
	if (!sqlite3_get_autocommit(session->db.handle))
		/* Nothing was written that could be lost. */
		(void)sqlite_db_run(&session->db, SQL_ROLLBACK);
	*ret_same = !index.disordered && table.dues == index.dues && table.ids == index.ids;
	*ret_counted = table.pending == meta->pending && table.claimed == meta->claimed &&
		       table.dead == meta->dead && index.ended == meta->ended &&
		       table.miscounted == 0;
	return code;
}

/* ---- Mending ---- */

static int rename_row(sqlite3 *handle, sqlite3_int64 generation)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, rename_one, -1, &statement, NULL);

	code = code ? code : sqlite3_bind_int64(statement, 1, generation);
	code = code ? code : sqlite3_step(statement);
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* rename_damaged gives damaged timers new ids. A flipped bit may turn an id into one that another
 * timer has, and then the index of the ids cannot be made. A damaged timer never fires, whatever
 * its id is. */
static int rename_damaged(sqlite3 *handle)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, damaged, -1, &statement, NULL);

	while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct sqlite_row row = sqlite_row_read(statement);

		code = row.record.damaged
			   ? rename_row(handle, (sqlite3_int64)row.record.head.generation)
			   : SQLITE_OK;
	}
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* reindex_ends makes the index of the ends again. If damage has made two ids equal, the index
 * cannot be made. Then all ends are forgotten, because they are worth little. */
static int reindex_ends(sqlite3 *handle)
{
	int code = sqlite3_exec(handle, "REINDEX ended", NULL, NULL, NULL);

	if ((code & 0xff) != SQLITE_CONSTRAINT)
		return code;
	return sqlite3_exec(handle, "DELETE FROM ended", NULL, NULL, NULL);
}

static int reindex(sqlite3 *handle)
{
	static const char all[] = "REINDEX timer; REINDEX dead;";
	int code = sqlite3_exec(handle, all, NULL, NULL, NULL);

	if ((code & 0xff) == SQLITE_CONSTRAINT) {
		code = rename_damaged(handle);
		code = code ? code : sqlite3_exec(handle, all, NULL, NULL, NULL);
	}
	return code ? code : reindex_ends(handle);
}

/* mend rebuilds the indexes if they need it, and counts the rows. It reads meta inside its own
 * transaction, because others may have committed since compare(). */
static int mend(struct sqlite_session *session, bool indexes)
{
	sqlite3 *handle = session->db.handle;
	int code;

	errno = 0;
	code = sqlite_db_run(&session->db, SQL_BEGIN_WRITE);
	if (code == SQLITE_OK && indexes)
		code = reindex(handle);
	code = code ? code : sqlite_meta_read(session);
	code = code ? code : sqlite_meta_recount(session);
	code = code ? code : sqlite_meta_write(session);
	code = code ? code : sqlite_db_run(&session->db, SQL_COMMIT);
	code = sqlite_db_cause(code);
	if (!sqlite3_get_autocommit(handle))
		/* The transaction has failed anyway. */
		(void)sqlite_db_run(&session->db, SQL_ROLLBACK);
	return code;
}

int sqlite_index_rebuild(struct sqlite_session *session)
{
	const char *path = sqlite3_db_filename(session->db.handle, "main");
	int code = mend(session, true);

	if (code == SQLITE_OK) {
		session->mended = true;
		sqlite_hooks_log(session->hooks, DW_LOG_WARN,
				 "%s is damaged: an index did not match its timers, and was"
				 " rebuilt from them",
				 path);
	} else {
		sqlite_hooks_log(session->hooks, DW_LOG_ERROR,
				 "%s is damaged: an index does not match its timers, and cannot"
				 " be rebuilt (%s)",
				 path, sqlite3_errstr(code));
	}
	return code;
}

int sqlite_index_verify(struct sqlite_session *session, char *ret_message)
{
	bool same = true;
	bool counted = true;
	int code = compare(session, &same, &counted);

	if (code == SQLITE_OK && !same)
		code = sqlite_index_rebuild(session);
	else if (code == SQLITE_OK && !counted)
		code = mend(session, false);
	if (code == SQLITE_OK)
		return DW_OK;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.150s cannot be verified: %.80s",
		       sqlite3_db_filename(session->db.handle, "main"), sqlite3_errstr(code));
	return code == SQLITE_FULL ? DW_EFULL : DW_ESTORE;
}
