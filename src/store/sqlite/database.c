#include "store/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/usec.h"
#include "port/clock.h"
#include "store/sqlite/file/denied.h"
#include "store/sqlite/file/files.h"

enum { PATH_SIZE = 4096 };

#ifndef RENAME_NOREPLACE /* musl has no renameat2 */
#define RENAME_NOREPLACE 1
#endif

/* ---- The file ---- */

static int refuse(char *ret_message, const char *path, const char *why)
{
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: %.120s", path, why);
	return DW_ESTORE;
}

static int refuse_error(char *ret_message, const char *path, int error)
{
	if (error != EACCES)
		return refuse(ret_message, path, strerror(error));
	sqlite_denied(path, ret_message);
	return DW_ESTORE;
}

static int refuse_full(char *ret_message, const char *path)
{
	/* The caller returns DW_EFULL, not the code of refuse(). */
	(void)refuse(ret_message, path, "the disk is full");
	return DW_EFULL;
}

/* rename_new renames a file unless another file has the new name; then it returns EEXIST. */
static int rename_new(const char *from, const char *to)
{
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* This file system cannot do this in one step. So for a moment the file has two names, and
	 * a process that opens it then is refused (check_names). */
	if (link(from, to) != 0)
		return errno;
	(void)unlink(from); /* remove the temporary name */
	return 0;
}

/* make_beside makes an empty file under a temporary name, closes it, and then renames it to `path`.
 * This process must not close a descriptor of a file that it also has open as a database, because
 * the kernel would drop the locks of that connection. */
static int make_beside(const char *path)
{
	char beside[PATH_SIZE];
	int written =
	    snprintf(beside, sizeof beside, "%s-new-%016llx", path, (unsigned long long)rng_seed());
	int error;
	int fd;

	if (written < 0 || (size_t)written >= sizeof beside)
		return ENAMETOOLONG;
	fd = sqlite_files_open(beside, O_WRONLY | O_EXCL);
	if (fd < 0)
		return errno;
	(void)close(fd); /* the file is empty, so nothing can be lost */
	error = rename_new(beside, path);
	if (error)
		/* Another process has made the file first, or there is an error. */
		(void)unlink(beside);
	return error == EEXIST ? 0 : error;
}

/* has_log returns true if FILE-wal has changes of the database. */
static bool has_log(const char *path)
{
	char real[PATH_SIZE], log[PATH_SIZE + sizeof "-wal"];
	struct stat status;

	(void)snprintf(log, sizeof log, "%s-wal", /* a longer path is refused when it is opened */
		       realpath(path, real) ? real : path);
	return stat(log, &status) == 0 && status.st_size > 0;
}

int sqlite_db_make(const char *path, char *ret_message)
{
	struct stat status = {.st_size = 0};
	bool is_there;
	int error;

	if (!*path)
		return refuse(ret_message, "sqlite:", "a file name must follow");
	is_there = stat(path, &status) == 0;
	if (is_there && !S_ISREG(status.st_mode))
		return refuse(ret_message, path, "is not a file");
	if (!is_there && errno != ENOENT)
		return refuse_error(ret_message, path, errno);
	/* SQLite would delete the log of an empty file, and with it the last timers. */
	if (status.st_size == 0 && has_log(path))
		return refuse(ret_message, path,
			      "is missing or empty, and its -wal has timers of it: move the file "
			      "back, or delete the -wal");
	if (is_there)
		return DW_OK;
	error = make_beside(path);
	if (error == ENOENT)
		return refuse(ret_message, path, "there is no such folder");
	if (error == ENOSPC || error == EDQUOT)
		return refuse_full(ret_message, path);
	return error ? refuse_error(ret_message, path, error) : DW_OK;
}

int sqlite_db_find(const char *path, enum sqlite_kind kind, char *ret_message)
{
	struct stat status;

	if (stat(path, &status) == 0) {
		if (!S_ISREG(status.st_mode))
			return refuse(ret_message, path, "is not a file");
		if (status.st_size > 0)
			return DW_OK;
		(void)refuse(ret_message, path,
			     "is empty: it is no store"); /* the caller returns the code */
		return DW_ENOENT;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return refuse_error(ret_message, path, errno);
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no such %s: %.200s",
		       kind == SQLITE_KIND_JOURNAL ? "journal" : "store", path);
	return DW_ENOENT;
}

/* ---- Waiting for another process ---- */

/* SQLite calls wait_for_other while another connection holds the write lock. The first pauses are
 * short, because most transactions take a fraction of a millisecond. */
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
	(void)nanosleep(&pause, NULL); /* after a shorter sleep SQLite only asks sooner */
	return 1;
}

int sqlite_db_wait(sqlite3 *handle, struct sqlite_patience *patience)
{
	return sqlite3_busy_handler(handle, wait_for_other, patience);
}

/* ---- Opening ---- */

static int configure(sqlite3 *handle, int setting, int value)
{
	return sqlite3_db_config(handle, setting, value, NULL);
}

int sqlite_db_set(sqlite3 *handle, struct sqlite_patience *patience)
{
	int code = sqlite3_extended_result_codes(handle, 1);

	code = code ? code : sqlite_db_wait(handle, patience);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DQS_DDL, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_DQS_DML, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
	code = code ? code : configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
	/* The return value is the old limit. */
	(void)sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
	return code ? code
		    : sqlite3_exec(handle,
				   "PRAGMA cache_size = -16000; PRAGMA mmap_size = 0; PRAGMA "
				   "cell_size_check = ON;"
				   "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;",
				   NULL, NULL, NULL);
}

/* use_wal switches the file to a write-ahead log. The file keeps this setting, and setting it again
 * costs nothing. A copy by VACUUM INTO has another setting; the first read of the copy makes its
 * log. */
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
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	if (code != SQLITE_ROW || !wal)
		return code != SQLITE_ROW ? code : SQLITE_READONLY;
	return sqlite3_exec(handle, "PRAGMA user_version", NULL, NULL, NULL);
}

/* look_at_first_page refuses a file whose first page was changed by a flipped bit in a way that
 * SQLite does not notice: either SQLite would take each page for shorter than it is, or the text of
 * a table is changed. */
static int look_at_first_page(sqlite3 *handle, const char **ret_why)
{
	int reserved = -1; /* a negative number only asks for the value */
	bool whole = true;
	int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);

	code = code ? code : sqlite_schema_is_whole(handle, &whole);
	if (code == SQLITE_OK && (reserved > 0 || !whole))
		*ret_why = "is damaged in its first page: restore a backup, or save what is left "
			   "with sqlite3 FILE .recover";
	return code;
}

static int set_up(struct sqlite_db *db, struct sqlite_patience *patience, const char **ret_why)
{
	sqlite3_int64 version = 0;
	/* A connection that can only read is refused: SQLite would still make a log, and the file's
	 * owner could not write that log. */
	int code = SQLITE_READONLY;

	if (!sqlite3_db_readonly(db->handle, "main"))
		code = sqlite_db_set(db->handle, patience);
	code = code ? code : sqlite_schema_read(db->handle, db->kind, &version, ret_why);
	if (code == SQLITE_OK && !*ret_why && version > 0)
		code = look_at_first_page(db->handle, ret_why);
	if (code != SQLITE_OK || *ret_why)
		return code;
	code = use_wal(db->handle);
	if (code == SQLITE_OK && version == 0)
		code = sqlite_schema_make(db->handle, db->kind, ret_why);
	if (code != SQLITE_OK || *ret_why)
		return code;
	code = sqlite_schema_prepare(db->handle, db->statements);
	/* The tables that we read are not in the file. */
	return code == SQLITE_ERROR ? SQLITE_CORRUPT : code;
}

/* explain_read_only says why the file or its folder can only be read. The right to read is not
 * enough, because SQLite also writes beside a file that it reads. */
static const char *explain_read_only(const char *path)
{
	if (access(path, W_OK) == 0)
		return "stands in a folder that this user cannot write: run as the folder's user, "
		       "or let this one write it";
	if (errno == EROFS)
		return "is on a read-only file system: mount it writable, or copy the file and "
		       "its -wal to where they can be written";
	return "is read-only for this user: run as the file's user, or let this one write it";
}

/* explain returns words for the reason why SQLite failed. For common reasons they are clearer than
 * SQLite's own words. */
static const char *explain(sqlite3 *handle, const char *path, int code)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return "is not a database";
	case SQLITE_BUSY:
		return "is locked by another process";
	case SQLITE_READONLY:
		return explain_read_only(path);
	case SQLITE_IOERR:
		return code == SQLITE_IOERR_CORRUPTFS ? "a part of it cannot be read now: try again"
						      : sqlite3_errstr(code);
	case SQLITE_CANTOPEN:
		if (handle && sqlite3_system_errno(handle) == EMFILE)
			return "cannot be opened: this process has too many files open (ulimit -n)";
		return sqlite3_errstr(code);
	case SQLITE_CORRUPT:
		return "is damaged: restore a backup, or save what is left with sqlite3 FILE"
		       " .recover";
	default:
		return handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
	}
}

/* open_once opens the file, and returns an SQLite result code; SQLITE_MISMATCH means DW_ENEWER. */
static int open_once(struct sqlite_db *ret_db, const char *path, struct sqlite_patience *patience,
		     char *ret_message)
{
	char plain[PATH_SIZE];
	const char *why = NULL;
	int code;
	int written = snprintf(plain, sizeof plain, "%s%s", *path == '/' ? "" : "./", path);

	/* With ./ in front, no file name has a special meaning for SQLite. */
	if (written < 0 || (size_t)written >= sizeof plain) {
		(void)refuse(ret_message, path,
			     "the name is too long"); /* the caller returns the code */
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
		(void)refuse_full(ret_message, path); /* the caller returns the code */
	else if (!why && (code & 0xff) == SQLITE_CANTOPEN && access(path, R_OK) != 0)
		(void)refuse_error(ret_message, path, errno); /* the caller returns the code */
	else
		(void)refuse(ret_message, path, why ? why : explain(ret_db->handle, path, code));
	sqlite_db_close(ret_db, false);
	return code ? code : SQLITE_ERROR;
}

/* may_try_again pauses before another attempt. Returns false if no time is left. SQLite itself does
 * not wait if waiting might be a deadlock, as when two processes switch the file to a write-ahead
 * log at the same moment. */
static bool may_try_again(const struct sqlite_patience *patience, dw_usec began)
{
	struct clock clock = clock_system();
	struct timespec pause = {.tv_nsec = 5000000};

	if (atomic_load(&patience->over) ||
	    usec_sub(clock.steady(clock.user), began) >= patience->most)
		return false;
	(void)nanosleep(&pause, NULL); /* after a shorter sleep the caller only tries sooner */
	return true;
}

int sqlite_db_open(struct sqlite_db *ret_db, const char *path, enum sqlite_kind kind,
		   struct sqlite_patience *patience, char *ret_message)
{
	struct clock clock = clock_system();
	dw_usec began = clock.steady(clock.user);
	struct sqlite_db db = {0};
	int code;

	do {
		db.kind = kind;
		code = open_once(&db, path, patience, ret_message);
	} while ((code & 0xff) == SQLITE_BUSY && may_try_again(patience, began));
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
		(void)sqlite3_finalize(db->statements[i]); /* returns an earlier error again */
	if (tidy && db->handle)
		(void)configure(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
				0);      /* if this fails, the log file stays */
	(void)sqlite3_close(db->handle); /* fails only if a statement is left */
	*db = (struct sqlite_db){0};
}

int sqlite_db_verify(struct sqlite_db *db, char *ret_message)
{
	sqlite3_stmt *statement = NULL;
	const char *path = sqlite3_db_filename(db->handle, "main");
	int code = sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &statement, NULL);
	char words[128] = "it cannot be read";
	bool sound = false;

	errno = 0;
	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		(void)snprintf(words, sizeof words, "damaged: %s", text ? text : "");
		sound = text && strcmp(text, "ok") == 0;
	}
	if (sqlite_db_cause(SQLITE_CORRUPT) != SQLITE_CORRUPT) {
		(void)sqlite3_finalize(statement);
		(void)refuse(ret_message, path, "a part of it cannot be read now: try again");
		return DW_ESTORE;
	}
	(void)sqlite3_finalize(statement); /* sqlite3_finalize returns an earlier error again */
	for (char *at = words; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	if (sound)
		return DW_OK;
	(void)refuse(ret_message, path, words);
	return DW_ECORRUPT;
}

/* ---- Using ---- */

/* sqlite_db_cause reads errno as the failed call has left it, because sqlite3_system_errno() is not
 * set by a COMMIT that fails. */
int sqlite_db_cause(int code)
{
	bool failed = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
	bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
	bool was_unread = errno == EIO || errno == ENXIO || errno == ERANGE;

	if ((failed && is_full) || (code & 0xff) == SQLITE_FULL)
		return SQLITE_FULL;
	return was_unread && (code & 0xff) == SQLITE_CORRUPT ? SQLITE_IOERR_CORRUPTFS : code;
}

bool sqlite_db_is_damage(int code)
{
	code = sqlite_db_cause(code);
	return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

int sqlite_db_finish(sqlite3_stmt *statement, int code)
{
	(void)sqlite3_reset(statement); /* returns the code again */
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
