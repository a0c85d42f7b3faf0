/* Rescues a damaged database file. It copies the rows of the tables one by one into a new database.
 * Then it replaces the content of the damaged file by that of the new database, in one transaction.
 * So damage outside of rows (in an index, in the list of free pages) loses nothing.
 *
 * The rows are read in the order of the pages, because a flipped bit in a key breaks the order of
 * the keys. After the first row that cannot be read, the remaining rows are found by their keys. */
#include "store/sqlite/heal/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite/file/files.h"
#include "store/sqlite/heal/rescue_topics.h"
#include "store/sqlite/row.h"

#define PATH_SIZE 4200

#define COLUMNS                                                                                    \
	"generation, id, topic, due, state, attempt, retries, crashes, open, claim, seal, body,"   \
	" why"
#define PLACES "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

enum {
	COLUMN_ID = 1,
	COLUMN_TOPIC = 2,
	COLUMN_BODY = 11,
	COLUMN_WHY = 12,
	COLUMN_REASON = 13,
	COLUMN_AT = 14
};

/* How to copy the rows of a table. `key` is the number of its key column. */
struct copied {
	const char *all;    /* SQL query for all rows, in the order of the pages */
	const char *next;   /* SQL query for the next key */
	const char *read;   /* SQL query for the row with a key */
	const char *insert; /* SQL statement that inserts a row into the new database */
	int columns;
	int key;
};

static const struct copied timers = {
    .all = "SELECT " COLUMNS " FROM timer NOT INDEXED",
    .next = "SELECT min(generation) FROM timer NOT INDEXED WHERE generation > ?",
    .read = "SELECT " COLUMNS " FROM timer NOT INDEXED WHERE generation = ?",
    .insert = "INSERT INTO timer(" COLUMNS ") VALUES(" PLACES ")",
    .columns = 13,
    .key = 0};

static const struct copied letters = {
    .all = "SELECT " COLUMNS ", reason, at, number FROM dead NOT INDEXED",
    .next = "SELECT min(number) FROM dead NOT INDEXED WHERE number > ?",
    .read = "SELECT " COLUMNS ", reason, at, number FROM dead NOT INDEXED WHERE number = ?",
    .insert = "INSERT INTO dead(" COLUMNS ", reason, at, number) VALUES(" PLACES ", ?, ?, ?)",
    .columns = 16,
    .key = 15};

struct rescue {
	struct sqlite_session *session;
	sqlite3 *from, *to;
	sqlite3_stmt *all, *next, *read, *insert;
	const struct copied *table;
	int64_t copied;     /* how many rows of this table were copied */
	int64_t unreadable; /* how many rows and parts of tables could not be read */
	sqlite3_int64 last; /* the key of the last row that was copied */
};

/* ---- Rows ---------------------------------------------------------------------------------- */

static bool is_text(const struct copied *table, int column)
{
	return column == COLUMN_ID || column == COLUMN_TOPIC || column == COLUMN_WHY ||
	       (table == &letters && column == COLUMN_REASON);
}

/* bind_column converts a value to the type of its column. In a damaged row the value may have a
 * wrong type, which the table would refuse. */
static int bind_column(struct rescue *rescue, sqlite3_stmt *from, int column)
{
	sqlite3_stmt *to = rescue->insert;

	if (is_text(rescue->table, column)) {
		const char *text = (const char *)sqlite3_column_text(from, column);

		return sqlite3_bind_text(to, column + 1, text ? text : "",
					 sqlite3_column_bytes(from, column), SQLITE_TRANSIENT);
	}
	if (column == COLUMN_WHY && sqlite3_column_type(from, column) == SQLITE_NULL)
		return sqlite3_bind_null(to, column + 1);
	if (column == COLUMN_BODY) {
		const void *bytes = sqlite3_column_blob(from, column);

		return sqlite3_bind_blob(to, column + 1, bytes ? bytes : "",
					 sqlite3_column_bytes(from, column), SQLITE_TRANSIENT);
	}
	return sqlite3_bind_int64(to, column + 1, sqlite3_column_int64(from, column));
}

static int insert(struct rescue *rescue)
{
	int code = sqlite3_step(rescue->insert);

	(void)sqlite3_reset(rescue->insert); /* returns the code again */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* insert_as inserts the row under an id that no timer has. A flipped bit may give several rows the
 * same key, so the id may need a number. */
static int insert_as(struct rescue *rescue, const char *what, sqlite3_int64 key)
{
	char id[80];
	int code = SQLITE_CONSTRAINT_UNIQUE;
	int size = snprintf(id, sizeof id, "%s-%" PRId64, what, (int64_t)key); /* it always fits */

	for (int64_t number = 2; code == SQLITE_CONSTRAINT_UNIQUE; number++) {
		(void)sqlite3_bind_text(rescue->insert, COLUMN_ID + 1, id, -1, SQLITE_TRANSIENT);
		code = insert(rescue);
		(void)snprintf(id + size, sizeof id - (size_t)size, "-%" PRId64, number);
	}
	return code;
}

/* spare_key returns a key that no row has. The generations of timers are times, and the numbers of
 * letters count from 1. */
static sqlite3_int64 spare_key(const struct rescue *rescue)
{
	return 1 + rescue->copied + (rescue->table == &letters ? INT64_MAX / 4 : 0);
}

/* make_way gives another key and id to the copied timer that has this key. Of the two timers with
 * the key, the copied one is damaged. */
static int make_way(struct rescue *rescue, sqlite3_int64 key)
{
	sqlite3_int64 spare = spare_key(rescue);
	char line[160];

	(void)snprintf(line, sizeof line,
		       "UPDATE timer SET generation = %" PRId64 ", id = 'damaged-%" PRId64
		       "-%" PRId64 "' WHERE generation = %" PRId64,
		       (int64_t)spare, (int64_t)key, (int64_t)spare, (int64_t)key); /* it fits */
	return sqlite3_exec(rescue->to, line, NULL, NULL, NULL);
}

/* insert_double inserts a row whose key another row has, too. A flipped bit has changed the key of
 * one of the two. */
static int insert_double(struct rescue *rescue, sqlite3_int64 key)
{
	int code;

	if (rescue->table == &timers && !sqlite_row_read(rescue->all).record.damaged) {
		code = make_way(rescue, key);
		code = code ? code : insert(rescue);
		return code == SQLITE_CONSTRAINT_UNIQUE ? insert_as(rescue, "damaged", key) : code;
	}
	(void)sqlite3_bind_int64(rescue->insert, rescue->table->key + 1, spare_key(rescue));
	return insert_as(rescue, "damaged", key);
}

/* insert_unreadable inserts a damaged row in place of a row that cannot be read. Its id is made of
 * `what` and `name`. */
static int insert_unreadable(struct rescue *rescue, sqlite3_int64 key, const char *what,
			     sqlite3_int64 name)
{
	const struct copied *table = rescue->table;
	sqlite3_stmt *to = rescue->insert;
	int code = SQLITE_OK;

	rescue->unreadable++;
	for (int i = 0; code == SQLITE_OK && i < table->columns; i++) {
		if (i == COLUMN_BODY)
			code = sqlite3_bind_zeroblob(to, i + 1, 0);
		else if (is_text(table, i))
			code = sqlite3_bind_text(to, i + 1, "CORRUPT", -1, SQLITE_STATIC);
		else
			code = sqlite3_bind_int64(to, i + 1, i == table->key ? key : 0);
	}
	return code ? code : insert_as(rescue, what, name);
}

/* copy_row copies the row that the statement has. If another timer already has the same id, the row
 * gets a new id. */
static int copy_row(struct rescue *rescue, sqlite3_stmt *from, sqlite3_int64 key)
{
	int code = SQLITE_OK;

	for (int i = 0; code == SQLITE_OK && i < rescue->table->columns; i++)
		code = bind_column(rescue, from, i);
	code = code ? code : insert(rescue);
	if (code == SQLITE_CONSTRAINT_UNIQUE)
		code = insert_as(rescue, "damaged", key);
	return code;
}

/* ---- A table ------------------------------------------------------------------------------- */

/* next_key finds the next key. It returns SQLITE_DONE if there is none. A key that is not behind
 * the last one is damage. */
static int next_key(struct rescue *rescue, sqlite3_int64 after, sqlite3_int64 *ret_key)
{
	int code = sqlite3_bind_int64(rescue->next, 1, after);

	code = code ? code : sqlite3_step(rescue->next);
	if (code == SQLITE_ROW && sqlite3_column_type(rescue->next, 0) == SQLITE_NULL)
		code = SQLITE_DONE;
	if (code == SQLITE_ROW)
		*ret_key = sqlite3_column_int64(rescue->next, 0);
	(void)sqlite3_reset(rescue->next); /* its row has been read, so the code does not matter */
	return code == SQLITE_ROW && *ret_key <= after ? SQLITE_CORRUPT : code;
}

/* pass_damage finds the next key behind a part of the table that cannot be read. It doubles its
 * steps until a key can be read. Then it halves them to find the first such key. */
static int pass_damage(struct rescue *rescue, sqlite3_int64 after, sqlite3_int64 *ret_key)
{
	sqlite3_int64 bad = after;
	sqlite3_int64 good = after;
	sqlite3_int64 key = 0;
	int code = SQLITE_CORRUPT;

	for (sqlite3_int64 step = 1; sqlite_db_is_damage(code); step *= 2) {
		bad = good;
		if (good > INT64_MAX / 2 - step || step > INT64_MAX / 4)
			return SQLITE_DONE; /* the rest of the table cannot be read */
		good += step;
		code = next_key(rescue, good, &key);
	}
	while (good - bad > 1 && (code == SQLITE_ROW || code == SQLITE_DONE)) {
		sqlite3_int64 middle = bad + (good - bad) / 2;

		code = next_key(rescue, middle, &key);
		if (sqlite_db_is_damage(code)) {
			bad = middle;
			code = SQLITE_ROW;
		} else {
			good = middle;
		}
	}
	return code == SQLITE_ROW || code == SQLITE_DONE ? next_key(rescue, good, ret_key) : code;
}

/* copy_key copies the row with that key. */
static int copy_key(struct rescue *rescue, sqlite3_int64 key)
{
	int code = sqlite3_bind_int64(rescue->read, 1, key);

	code = code ? code : sqlite3_step(rescue->read);
	if (code == SQLITE_ROW)
		code = copy_row(rescue, rescue->read, key);
	(void)sqlite3_reset(rescue->read); /* its row has been read, so the code does not matter */
	if (sqlite_db_is_damage(code) || code == SQLITE_DONE)
		code = insert_unreadable(rescue, key, "unreadable", key);
	if (code == SQLITE_CONSTRAINT_PRIMARYKEY) /* the row was copied before */
		return SQLITE_OK;
	rescue->copied += code == SQLITE_OK;
	return code;
}

/* copy_keys copies the rows behind a row that cannot be read. It finds them by their keys. */
static int copy_keys(struct rescue *rescue)
{
	sqlite3_int64 key = 0;
	int code;

	while ((code = next_key(rescue, rescue->last, &key)) != SQLITE_DONE) {
		if (sqlite_db_is_damage(code)) {
			rescue->unreadable++;
			code = pass_damage(rescue, rescue->last, &key);
		}
		if (code == SQLITE_DONE)
			break;
		if (code == SQLITE_ROW)
			code = copy_key(rescue, key);
		if (code != SQLITE_OK)
			return code;
		rescue->last = key;
	}
	return SQLITE_OK;
}

static int copy_rows(struct rescue *rescue)
{
	int code;

	rescue->copied = 0;
	rescue->last = 0; /* all keys are above 0 */
	while ((code = sqlite3_step(rescue->all)) == SQLITE_ROW) {
		rescue->last = sqlite3_column_int64(rescue->all, rescue->table->key);
		code = copy_row(rescue, rescue->all, rescue->last);
		if (code == SQLITE_CONSTRAINT_PRIMARYKEY)
			code = insert_double(rescue, rescue->last);
		if (code != SQLITE_OK)
			return code;
		rescue->copied++;
	}
	return sqlite_db_is_damage(code) ? copy_keys(rescue)
	       : code == SQLITE_DONE     ? SQLITE_OK
					 : code;
}

/* miss adds one damaged row if the counters show that timers are missing. */
static int miss(struct rescue *rescue)
{
	const struct sqlite_meta *meta = &rescue->session->meta;
	int64_t missing = meta->pending + meta->claimed - rescue->copied;

	if (rescue->table != &timers || missing <= 0)
		return SQLITE_OK;
	return insert_unreadable(rescue, spare_key(rescue), "missing", missing);
}

static int copy_table(struct rescue *rescue, const struct copied *table)
{
	int code = sqlite3_prepare_v2(rescue->from, table->all, -1, &rescue->all, NULL);

	rescue->table = table;
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(rescue->from, table->next, -1, &rescue->next, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(rescue->from, table->read, -1, &rescue->read, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(rescue->to, table->insert, -1, &rescue->insert, NULL);
	if (code == SQLITE_OK)
		code = copy_rows(rescue);
	code = code ? code : miss(rescue);
	(void)sqlite3_finalize(rescue->all);
	(void)sqlite3_finalize(rescue->next);   /* returns an earlier error again */
	(void)sqlite3_finalize(rescue->read);   /* returns an earlier error again */
	(void)sqlite3_finalize(rescue->insert); /* returns an earlier error again */
	rescue->all = rescue->next = rescue->read = rescue->insert = NULL;
	return code;
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* copy_meta copies the counters. If they cannot be read, the present time becomes the last
 * generation, so that no generation is given twice. */
static int copy_meta(struct rescue *rescue)
{
	char line[256];

	if (sqlite_meta_read(rescue->session) != SQLITE_OK) {
		rescue->unreadable++;
		rescue->session->meta = (struct sqlite_meta){
		    .generation = (uint64_t)sqlite_hooks_now(rescue->session->hooks)};
	}
	(void)snprintf(
	    line, sizeof line,
	    "UPDATE meta SET generation = %" PRId64 ", batch = %" PRId64 ", session = %" PRId64,
	    (int64_t)rescue->session->meta.generation, (int64_t)rescue->session->meta.batch,
	    (int64_t)rescue->session->meta.session); /* the text always fits */
	return sqlite3_exec(rescue->to, line, NULL, NULL, NULL);
}

static int open_other(struct rescue *rescue)
{
	sqlite3_stmt *statement = NULL;
	const char *why = NULL;
	char line[64];
	int code = sqlite3_open("", &rescue->to); /* a temporary database file without a name */

	if (code == SQLITE_OK)
		code = sqlite3_extended_result_codes(rescue->to, 1);
	code = code ? code
		    : sqlite3_prepare_v2(rescue->from, "PRAGMA page_size", -1, &statement, NULL);
	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		(void)snprintf(line, sizeof line, "PRAGMA page_size = %d",
			       sqlite3_column_int(statement, 0)); /* the text always fits */
		code = sqlite3_exec(rescue->to, line, NULL, NULL, NULL);
	}
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	return code ? code : sqlite_schema_make(rescue->to, sqlite_kind_of(rescue->session), &why);
}

/* replace makes the content of `to` a copy of `from`. */
static int replace(sqlite3 *to, sqlite3 *from)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	int code;

	if (!backup)
		return sqlite3_errcode(to);
	while ((code = sqlite3_backup_step(backup, 1000)) == SQLITE_OK)
		;
	(void)sqlite3_backup_finish(backup); /* returns the code of step again */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* make_beside makes an empty file FILE-damaged-TIME. */
static int make_beside(struct rescue *rescue, const char *path, char *ret_name)
{
	int64_t seconds = sqlite_hooks_now(rescue->session->hooks) / 1000000;

	for (int i = 0; i < 100; i++) {
		int fd;

		(void)snprintf(ret_name, PATH_SIZE, "%s-damaged-%" PRId64, path, seconds + i);
		fd = sqlite_files_open(ret_name, O_WRONLY | O_EXCL);
		if (fd >= 0)
			return close(fd) == 0 ? SQLITE_OK : SQLITE_IOERR;
		if (errno != EEXIST)
			break;
	}
	return SQLITE_CANTOPEN;
}

/* keep copies the damaged file to FILE-damaged-TIME. */
static int keep(struct rescue *rescue, const char *path, char *ret_kept)
{
	sqlite3 *kept = NULL;
	int code = make_beside(rescue, path, ret_kept);

	if (code != SQLITE_OK)
		return code;
	code = sqlite3_open_v2(ret_kept, &kept, SQLITE_OPEN_READWRITE, NULL);
	code = code ? code : replace(kept, rescue->from);
	(void)sqlite3_close(kept); /* no statement is left open */
	if (code != SQLITE_OK)
		(void)unlink(ret_kept); /* a part of a copy is of no use */
	return code;
}

static int copy_all(struct rescue *rescue)
{
	int code = open_other(rescue);

	code = code ? code : sqlite3_exec(rescue->to, "BEGIN", NULL, NULL, NULL);
	code = code ? code : copy_meta(rescue);
	code = code ? code : copy_table(rescue, &timers);
	code = code ? code : copy_table(rescue, &letters);
	code = code ? code : sqlite_rescue_topics(rescue->from, rescue->to, &rescue->unreadable);
	return code ? code : sqlite3_exec(rescue->to, "COMMIT", NULL, NULL, NULL);
}

static void tell(const struct rescue *rescue, const char *path, const char *why, const char *kept)
{
	sqlite_hooks_log(rescue->session->hooks, DW_LOG_ERROR,
			 "%s is damaged (%s): it was rebuilt from its rows", path, why);
	if (rescue->unreadable > 0)
		sqlite_hooks_log(rescue->session->hooks, DW_LOG_ERROR,
				 "%" PRId64 " rows or pages of %s could not be read; the damaged"
				 " file is kept as %s",
				 rescue->unreadable, path, kept);
}

int sqlite_rescue(struct sqlite_session *session, char *ret_message)
{
	struct rescue rescue = {.session = session, .from = session->db.handle};
	const char *path = sqlite3_db_filename(rescue.from, "main");
	char kept[PATH_SIZE] = "";
	char why[128];
	int code;

	(void)snprintf(why, sizeof why, "%s", ret_message); /* long words are cut */
	errno = 0;
	code = copy_all(&rescue);
	if (code == SQLITE_OK && rescue.unreadable > 0)
		code = keep(&rescue, path, kept);
	code = code ? code : replace(rescue.from, rescue.to);
	(void)sqlite3_close(rescue.to); /* no statement is left open */
	code = sqlite_db_cause(code);
	if (code == SQLITE_OK) {
		session->mended = true;
		tell(&rescue, path, why, kept);
		return DW_OK;
	}
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.90s, and cannot be rebuilt (%.60s): restore a backup, or save what"
		       " is left with sqlite3 FILE .recover",
		       why, sqlite3_errstr(code));
	return code == SQLITE_FULL ? DW_EFULL : DW_ESTORE;
}
