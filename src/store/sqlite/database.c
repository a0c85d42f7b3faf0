#include "store/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/usec.h"
#include "port/clock.h"

enum {
	APPLICATION_ID = 0x44775431, /* "DwT1" */
	SCHEMA_VERSION = 1,
	PATH_SIZE = 4096,
};

/* The generation is the rowid: the order of insertion is the order of the table. pending, claimed
 * and dead in meta are kept by every write, so that nobody counts a million rows. */
static const char schema[] =
    "CREATE TABLE timer(generation INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " topic TEXT NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL, retries INTEGER NOT NULL, crashes INTEGER NOT NULL,"
    " open INTEGER NOT NULL, claim INTEGER NOT NULL, seal INTEGER NOT NULL,"
    " body BLOB NOT NULL) STRICT;"
    "CREATE INDEX timer_due ON timer(due, generation);"
    "CREATE TABLE inbox(generation INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " open INTEGER NOT NULL) STRICT;"
    "CREATE TABLE dead(number INTEGER PRIMARY KEY, reason TEXT NOT NULL, at INTEGER NOT NULL,"
    " generation INTEGER NOT NULL, id TEXT NOT NULL, topic TEXT NOT NULL, due INTEGER NOT NULL,"
    " state INTEGER NOT NULL, attempt INTEGER NOT NULL, retries INTEGER NOT NULL,"
    " crashes INTEGER NOT NULL, open INTEGER NOT NULL, claim INTEGER NOT NULL,"
    " seal INTEGER NOT NULL, body BLOB NOT NULL) STRICT;"
    "CREATE INDEX dead_id ON dead(id, generation);"
    "CREATE TABLE meta(one INTEGER PRIMARY KEY CHECK(one = 1), generation INTEGER NOT NULL,"
    " batch INTEGER NOT NULL, session INTEGER NOT NULL, pending INTEGER NOT NULL,"
    " claimed INTEGER NOT NULL, dead INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES(1, 0, 0, 0, 0, 0, 0);"
    "CREATE TABLE owner(one INTEGER PRIMARY KEY CHECK(one = 1), line TEXT NOT NULL,"
    " pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL,"
    " since INTEGER NOT NULL, seen INTEGER NOT NULL, report TEXT NOT NULL) STRICT;"
    "INSERT INTO owner VALUES(1, '', 0, 0, '', 0, 0, '');";

#define TIMER                                                                                      \
	"timer.generation, timer.id, timer.topic, timer.due, timer.state, timer.attempt,"          \
	" timer.retries, timer.crashes, timer.open, timer.claim, timer.seal, timer.body"

#define DEAD                                                                                       \
	"generation, id, topic, due, state, attempt, retries, crashes, open, claim, seal, body,"   \
	" number, reason, at"

static const char *const sql[SQL_COUNT] = {
    [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [SQL_BEGIN_READ] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_META_READ] = "SELECT generation, batch, session, pending, claimed, dead FROM meta",
    [SQL_META_WRITE] = "UPDATE meta SET generation = ?, batch = ?, session = ?, pending = ?,"
		       " claimed = ?, dead = ?",
    [SQL_META_RECOUNT] = "SELECT (SELECT count(*) FROM timer WHERE state = 0),"
			 " (SELECT count(*) FROM timer WHERE state <> 0),"
			 " (SELECT count(*) FROM dead)",
    [SQL_TIMER_BY_ID] = "SELECT " TIMER " FROM timer WHERE id = ?",
    [SQL_TIMER_BY_GENERATION] = "SELECT " TIMER " FROM timer WHERE generation = ?",
    [SQL_TIMER_INSERT] = "INSERT INTO timer(due, state, attempt, retries, crashes, open, claim,"
			 " seal, generation, id, topic, body)"
			 " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_TIMER_UPDATE] = "UPDATE timer SET state = ?2, attempt = ?3, retries = ?4, crashes = ?5,"
			 " open = ?6, claim = ?7, seal = ?8 WHERE generation = ?9",
    [SQL_TIMER_MOVE] = "UPDATE timer SET due = ?1, state = ?2, attempt = ?3, retries = ?4,"
		       " crashes = ?5, open = ?6, claim = ?7, seal = ?8 WHERE generation = ?9",
    [SQL_TIMER_RENEW] = "UPDATE timer SET due = ?1, state = ?2, attempt = ?3, retries = ?4,"
			" crashes = ?5, open = ?6, claim = ?7, seal = ?8, generation = ?9"
			" WHERE generation = ?10",
    [SQL_TIMER_DELETE] = "DELETE FROM timer WHERE generation = ?",
    [SQL_TIMER_CLEAR] = "DELETE FROM timer",
    /* The index says only where: what a timer is stands in the table. */
    [SQL_TIMER_SCAN] = "SELECT " TIMER ", place.due, place.generation"
		       " FROM timer AS place INDEXED BY timer_due"
		       " CROSS JOIN timer ON timer.generation = place.generation"
		       " WHERE (place.due, place.generation) > (?1, ?2)"
		       " AND (?3 IS NULL OR timer.topic = ?3)"
		       " ORDER BY place.due, place.generation LIMIT ?4",
    [SQL_TIMER_LOAD] = "SELECT " TIMER " FROM timer NOT INDEXED WHERE generation > ?1"
		       " ORDER BY generation LIMIT ?2",
    [SQL_TIMER_NEXT_DUE] = "SELECT due FROM timer WHERE state = 0 ORDER BY due, generation LIMIT 1",
    /* The fourth byte of a body is its version. From the youngest: that it is, most likely. */
    [SQL_TIMER_NEWER] = "SELECT " TIMER " FROM timer WHERE substr(timer.body, 4, 1) > ?1"
			" ORDER BY timer.generation DESC",
    [SQL_INBOX_READ] = "SELECT " TIMER ", inbox.generation, inbox.id"
		       " FROM inbox LEFT JOIN timer ON timer.id = inbox.id"
		       " WHERE inbox.generation > ? ORDER BY inbox.generation LIMIT ?",
    [SQL_INBOX_WRITE] = "INSERT OR REPLACE INTO inbox(generation, id, open) VALUES(?, ?, ?)",
    [SQL_INBOX_IS_OPEN] = "SELECT open FROM inbox WHERE id = ?",
    [SQL_INBOX_ACK] = "DELETE FROM inbox WHERE id = ? AND generation <= ?",
    [SQL_INBOX_COUNT] = "SELECT count(*) FROM inbox",
    [SQL_INBOX_CLEAR] = "DELETE FROM inbox",
    [SQL_DEAD_INSERT] = "INSERT INTO dead(reason, at, generation, id, topic, due, state, attempt,"
			" retries, crashes, open, claim, seal, body) SELECT ?2, ?3, " TIMER
			" FROM timer WHERE generation = ?1",
    [SQL_DEAD_OLDEST] = "SELECT number, at FROM dead ORDER BY number LIMIT 1",
    [SQL_DEAD_DELETE] = "DELETE FROM dead WHERE number = ?",
    [SQL_DEAD_FIND] = "SELECT " DEAD " FROM dead WHERE id = ?1 AND (?2 = 0 OR generation = ?2)"
		      " ORDER BY generation DESC LIMIT 1",
    [SQL_DEAD_SCAN] = "SELECT " DEAD " FROM dead WHERE number > ?1"
		      " AND (?2 IS NULL OR topic = ?2) ORDER BY number LIMIT ?3",
    [SQL_DEAD_DROP] = "DELETE FROM dead WHERE (?1 IS NULL OR id = ?1)"
		      " AND (?2 = 0 OR generation = ?2)",
    [SQL_DEAD_CLEAR] = "DELETE FROM dead",
    [SQL_DEAD_NEWER] = "SELECT " DEAD " FROM dead WHERE substr(body, 4, 1) > ?1"
		       " AND (?2 IS NULL OR id = ?2) AND (?3 = 0 OR generation = ?3)",
    [SQL_TIMER_FROM_DEAD] = "INSERT INTO timer(due, state, attempt, retries, crashes, open, claim,"
			    " seal, generation, id, topic, body)"
			    " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, id, topic, body"
			    " FROM dead WHERE number = ?10",
    [SQL_OWNER_READ] = "SELECT line, pid, start, boot, since, seen, report FROM owner",
    [SQL_OWNER_WRITE] = "UPDATE owner SET line = ?, pid = ?, start = ?, boot = ?, since = ?5,"
			" seen = ?5, report = ''",
    [SQL_OWNER_REPORT] = "UPDATE owner SET seen = ?, report = ?",
    [SQL_DATA_VERSION] = "PRAGMA data_version",
    [SQL_SCHEMA_VERSION] = "PRAGMA user_version",
};

/* ---- The file ---- */

static int refuse(char *ret_message, const char *path, const char *why)
{
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: %.120s", path, why);
	return DW_ESTORE;
}

static int refuse_full(char *ret_message, const char *path)
{
	(void)refuse(ret_message, path, "the disk is full"); /* the code is another one */
	return DW_EFULL;
}

/* rename_new gives a file its name unless another file has it. EEXIST: it has. */
static int rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* A file system without it. For a moment the file has two names, and who opens it then is
	 * refused (check_names). */
	if (link(from, to) != 0)
		return errno;
	(void)unlink(from); /* our own name of a moment ago */
	return 0;
}

/* make_beside makes an empty file under another name and then gives it its own: whoever finds it
 * there finds it closed. Closing a descriptor of a database file drops the locks that another
 * connection of this process has on it. */
static int make_beside(const char *path)
{
	char beside[PATH_SIZE];
	int written =
	    snprintf(beside, sizeof beside, "%s-new-%016llx", path, (unsigned long long)rng_seed());
	int error;
	int fd;

	if (written < 0 || (size_t)written >= sizeof beside)
		return ENAMETOOLONG;
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	(void)close(fd); /* empty: there is nothing to lose */
	error = rename_new(beside, path);
	if (error)
		(void)unlink(beside); /* another process was first, or nobody can */
	return error == EEXIST ? 0 : error;
}

int sqlite_db_make(const char *path, char *ret_message)
{
	struct stat status;
	int error;

	if (!*path)
		return refuse(ret_message, "sqlite:", "a file name must follow");
	if (stat(path, &status) == 0)
		return S_ISREG(status.st_mode) ? DW_OK : refuse(ret_message, path, "is not a file");
	if (errno != ENOENT)
		return refuse(ret_message, path, strerror(errno));
	error = make_beside(path);
	if (error == ENOENT)
		return refuse(ret_message, path, "there is no such folder");
	if (error == ENOSPC || error == EDQUOT)
		return refuse_full(ret_message, path);
	return error ? refuse(ret_message, path, strerror(error)) : DW_OK;
}

int sqlite_db_find(const char *path, char *ret_message)
{
	struct stat status;

	if (stat(path, &status) == 0) {
		if (!S_ISREG(status.st_mode))
			return refuse(ret_message, path, "is not a file");
		if (status.st_size > 0)
			return DW_OK;
		(void)refuse(ret_message, path, "is empty: it is no store"); /* the code says it */
		return DW_ENOENT;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return refuse(ret_message, path, strerror(errno));
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no such store: %.200s", path);
	return DW_ENOENT;
}

/* ---- Waiting for another process ---- */

/* wait_for_other is called by SQLite while another connection holds the write lock. Soon at first:
 * most transactions take a fraction of a millisecond. */
static int wait_for_other(void *user, int count)
{
	struct sqlite_patience *patience = user;
	struct clock clock = clock_system();
	dw_usec now = clock.steady(clock.user);
	long pause_us = count < 4 ? 200 : count < 16 ? 1000 : 5000;
	struct timespec pause = {.tv_nsec = pause_us * 1000};

	if (count == 0)
		patience->began = now;
	if (atomic_load(&patience->over) || usec_sub(now, patience->began) >= patience->most)
		return 0;
	(void)nanosleep(&pause, NULL); /* woken early it asks again early */
	return 1;
}

/* ---- Opening ---- */

static int configure(sqlite3 *handle, int setting, int value)
{
	return sqlite3_db_config(handle, setting, value, NULL);
}

int sqlite_db_set(sqlite3 *handle, struct sqlite_patience *patience)
{
	int code = sqlite3_extended_result_codes(handle, 1);

	code = code ? code : sqlite3_busy_handler(handle, wait_for_other, patience);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DQS_DDL, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DQS_DML, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0); /* answers the former limit */
	return code ? code
		    : sqlite3_exec(handle,
				   "PRAGMA cache_size = -16000; PRAGMA mmap_size = 0; PRAGMA "
				   "cell_size_check = ON;"
				   "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;",
				   NULL, NULL, NULL);
}

static int read_number(sqlite3 *handle, const char *query, sqlite3_int64 *ret_number)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, query, -1, &statement, NULL);

	if (code != SQLITE_OK)
		return code;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	(void)sqlite3_finalize(statement); /* repeats what step said */
	return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* Why a database is refused with DW_ENEWER. */
static const char newer[] = "was written by a newer durawheel; use that version or later";

bool sqlite_db_is_newer(int64_t schema_version)
{
	return schema_version > SCHEMA_VERSION;
}

/* is_ours: SQLITE_OK and *ret_version, 0 for an empty database; a message for what is not ours. */
static int look(sqlite3 *handle, sqlite3_int64 *ret_version, const char **ret_why)
{
	sqlite3_int64 application = 0;
	sqlite3_int64 objects = 0;
	int code = read_number(handle, "PRAGMA application_id", &application);

	code = code ? code : read_number(handle, "PRAGMA user_version", ret_version);
	code = code ? code : read_number(handle, "SELECT count(*) FROM sqlite_schema", &objects);
	if (code != SQLITE_OK)
		return code;
	if (application == 0 && *ret_version == 0 && objects == 0)
		return SQLITE_OK;
	if (application != APPLICATION_ID)
		*ret_why = "is the database of another program";
	else if (sqlite_db_is_newer(*ret_version))
		*ret_why = newer;
	else if (*ret_version < 1)
		*ret_why = "is damaged: it has no schema version";
	return SQLITE_OK;
}

/* look_whole: in one transaction, or a schema that another process is making is seen half made. */
static int look_whole(sqlite3 *handle, sqlite3_int64 *ret_version, const char **ret_why)
{
	int code = sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL);

	code = code ? code : look(handle, ret_version, ret_why);
	if (!sqlite3_get_autocommit(handle))
		(void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
	return code;
}

static int make_schema(sqlite3 *handle)
{
	char numbers[96];
	int code = sqlite3_exec(handle, schema, NULL, NULL, NULL);

	(void)snprintf(numbers, sizeof numbers,
		       "PRAGMA application_id = %d;"
		       "PRAGMA user_version = %d;",
		       APPLICATION_ID, SCHEMA_VERSION);
	return code ? code : sqlite3_exec(handle, numbers, NULL, NULL, NULL);
}

/* adopt makes the schema unless another process has just done it. */
static int adopt(sqlite3 *handle, const char **ret_why)
{
	sqlite3_int64 version = 0;
	int code = sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	code = look(handle, &version, ret_why);
	if (code == SQLITE_OK && !*ret_why && version == 0)
		code = make_schema(handle);
	if (code == SQLITE_OK && !*ret_why)
		code = sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(handle))
		(void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL); /* it failed anyway */
	return code;
}

/* use_wal: the journal is a setting of the file; asking again costs nothing. */
static int use_wal(sqlite3 *handle)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
	bool wal = false;

	if (code != SQLITE_OK)
		return code;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		wal = strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
	(void)sqlite3_finalize(statement); /* repeats what step said */
	return code != SQLITE_ROW ? code : wal ? SQLITE_OK : SQLITE_READONLY;
}

static int prepare(struct sqlite_db *db)
{
	int code = SQLITE_OK;

	for (int i = 0; i < SQL_COUNT && code == SQLITE_OK; i++)
		code = sqlite3_prepare_v3(db->handle, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					  &db->statements[i], NULL);
	return code;
}

static int set_up(struct sqlite_db *db, struct sqlite_patience *patience, const char **ret_why)
{
	sqlite3_int64 version = 0;
	int code = sqlite_db_set(db->handle, patience);

	code = code ? code : look_whole(db->handle, &version, ret_why);
	if (code == SQLITE_OK && !*ret_why && sqlite3_db_readonly(db->handle, "main"))
		*ret_why = "cannot be written by this user";
	if (code != SQLITE_OK || *ret_why)
		return code;
	code = use_wal(db->handle);
	if (code == SQLITE_OK && version == 0)
		code = adopt(db->handle, ret_why);
	return code || *ret_why ? code : prepare(db);
}

/* explain: SQLite's words, or better ones where it has only few. */
static const char *explain(sqlite3 *handle, const char *path, int code)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return "is not a database";
	case SQLITE_BUSY:
		return "is locked by another process";
	case SQLITE_READONLY:
		return access(path, W_OK) == 0 ? "stands in a folder that this user cannot write"
					       : "cannot be written by this user";
	case SQLITE_CORRUPT:
		return "is damaged";
	case SQLITE_CANTOPEN:
		if (access(path, R_OK) != 0)
			return strerror(errno);
		return sqlite3_errmsg(handle);
	default:
		return handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
	}
}

/* open_once: SQLITE_MISMATCH means DW_ENEWER. */
static int open_once(struct sqlite_db *ret_db, const char *path, struct sqlite_patience *patience,
		     char *ret_message)
{
	char plain[PATH_SIZE];
	const char *why = NULL;
	int code;
	int written = snprintf(plain, sizeof plain, "%s%s", *path == '/' ? "" : "./", path);

	/* With ./ before it no name means anything special to SQLite. */
	if (written < 0 || (size_t)written >= sizeof plain) {
		(void)refuse(ret_message, path, "the name is too long"); /* the code says it */
		return SQLITE_CANTOPEN;
	}
	errno = 0;
	code = sqlite3_open_v2(plain, &ret_db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			       NULL);

	code = code ? code : set_up(ret_db, patience, &why);
	if (code == SQLITE_OK && !why)
		return SQLITE_OK;
	code = sqlite_db_cause(code);
	if (code == SQLITE_FULL)
		(void)refuse_full(ret_message, path); /* the code says it */
	else
		(void)refuse(ret_message, path, why ? why : explain(ret_db->handle, path, code));
	sqlite_db_close(ret_db, false);
	return code ? code : why == newer ? SQLITE_MISMATCH : SQLITE_ERROR;
}

/* may_try_again: SQLITE_BUSY that SQLite did not wait for, because waiting might be a deadlock: two
 * processes that make the file's journal at the same moment. The loser begins anew. */
static bool may_try_again(const struct sqlite_patience *patience, dw_usec began)
{
	struct clock clock = clock_system();
	struct timespec pause = {.tv_nsec = 5000000};

	if (atomic_load(&patience->over) ||
	    usec_sub(clock.steady(clock.user), began) >= patience->most)
		return false;
	(void)nanosleep(&pause, NULL); /* woken early it asks again early */
	return true;
}

int sqlite_db_open(struct sqlite_db *ret_db, const char *path, struct sqlite_patience *patience,
		   char *ret_message)
{
	struct clock clock = clock_system();
	dw_usec began = clock.steady(clock.user);
	struct sqlite_db db = {0};
	int code;

	do
		code = open_once(&db, path, patience, ret_message);
	while ((code & 0xff) == SQLITE_BUSY && may_try_again(patience, began));
	if (code != SQLITE_OK)
		return code == SQLITE_FULL       ? DW_EFULL
		       : code == SQLITE_MISMATCH ? DW_ENEWER
						 : DW_ESTORE;
	*ret_db = db;
	return DW_OK;
}

void sqlite_db_close(struct sqlite_db *db, bool tidy)
{
	for (int i = 0; i < SQL_COUNT; i++)
		(void)sqlite3_finalize(db->statements[i]); /* repeats an earlier error */
	if (tidy && db->handle)
		(void)configure(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0); /* or not tidy */
	(void)sqlite3_close(db->handle); /* fails only with statements left */
	*db = (struct sqlite_db){0};
}

int sqlite_db_verify(struct sqlite_db *db, char *ret_message)
{
	sqlite3_stmt *statement = NULL;
	const char *path = sqlite3_db_filename(db->handle, "main");
	int code = sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &statement, NULL);
	char words[128] = "it cannot be read";
	bool sound = false;

	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		(void)snprintf(words, sizeof words, "damaged: %s", text ? text : "");
		sound = text && strcmp(text, "ok") == 0;
	}
	(void)sqlite3_finalize(statement); /* the words are copied */
	for (char *at = words; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	return sound ? DW_OK : refuse(ret_message, path, words);
}

/* ---- Using ---- */

/* errno is as the failed call left it; sqlite3_system_errno() is not told of a COMMIT. */
int sqlite_db_cause(int code)
{
	bool failed = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
	bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return (failed && is_full) || (code & 0xff) == SQLITE_FULL ? SQLITE_FULL : code;
}

int sqlite_db_finish(sqlite3_stmt *statement, int code)
{
	(void)sqlite3_reset(statement); /* repeats the code */
	return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

int sqlite_db_run(struct sqlite_db *db, enum sqlite_sql which)
{
	sqlite3_stmt *statement = db->statements[which];

	return sqlite_db_finish(statement, sqlite3_step(statement));
}

int sqlite_db_checkpoint(sqlite3 *handle, int mode, bool *ret_all)
{
	int logged = 0;
	int copied = 0;
	int code = sqlite3_wal_checkpoint_v2(handle, NULL, mode, &logged, &copied);

	*ret_all = code == SQLITE_OK && logged == copied;
	return code;
}
