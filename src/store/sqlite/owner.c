#include "store/sqlite/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/identity.h"
#include "store/sqlite/file/files.h"
#include "store/sqlite/heal/newer.h"
#include "store/sqlite/heal/rescue.h"

enum { LINE_SIZE = 160 };

/* The parts of the owner's row that a refusal names. */
struct holder {
	struct identity identity;
	int64_t since; /* when the process became the owner; 0 if there is no owner */
	char line[LINE_SIZE];
};

static const char *text_of(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

static int read_holder(struct sqlite_session *session, struct holder *ret_holder)
{
	sqlite3_stmt *statement = session->db.statements[SQL_OWNER_READ];
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW) {
		ret_holder->identity.pid = sqlite3_column_int64(statement, 1);
		ret_holder->identity.start = sqlite3_column_int64(statement, 2);
		ret_holder->since = sqlite3_column_int64(statement, 4);
		(void)snprintf(ret_holder->line, LINE_SIZE, "%s", text_of(statement, 0));
		(void)snprintf(ret_holder->identity.boot, IDENTITY_BOOT_SIZE, "%s",
			       text_of(statement, 3));
	}
	return sqlite_db_finish(statement, code);
}

static bool is_self(const struct holder *holder, const struct identity *self)
{
	return holder->since != 0 && holder->identity.pid == self->pid &&
	       holder->identity.start == self->start &&
	       strcmp(holder->identity.boot, self->boot) == 0;
}

static int refuse(const struct sqlite_owner *owner, const struct holder *holder, const char *who,
		  char *ret_message)
{
	const char *slash = strrchr(owner->path, '/');
	const char *name = slash ? slash + 1 : owner->path;
	int name_size = (int)(strlen(name) - strlen("-owner"));
	time_t seconds = (time_t)(holder->since / 1000000);
	char since[32] = "an unknown time";
	struct tm tm;

	if (holder->since && gmtime_r(&seconds, &tm))
		/* The text always fits. */
		(void)strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &tm);
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.*s is owned by %.100s since %s; stop it, or open with role DW_CLIENT",
		       name_size < 80 ? name_size : 80, name, who, since);
	return DW_EOWNED;
}

/* lock takes the lock on FILE-owner. Returns DW_OK, DW_EOWNED if another process has the lock,
 * DW_EFULL or DW_ESYS. */
static int lock(struct sqlite_owner *owner, char *ret_message)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = sqlite_files_open(owner->path, O_RDWR);
	int error;

	if (fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0) {
		owner->fd = fd;
		return DW_OK;
	}
	error = errno;
	if (fd >= 0)
		/* This process holds no lock on the file that close() could drop. */
		(void)close(fd);
	if (fd >= 0 && (error == EACCES || error == EAGAIN))
		return DW_EOWNED;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: %.100s", owner->path,
		       strerror(error));
	return error == ENOSPC ? DW_EFULL : DW_ESYS;
}

static int write_holder(struct sqlite_session *session, const struct identity *self)
{
	sqlite3_stmt *statement = session->db.statements[SQL_OWNER_WRITE];
	char line[LINE_SIZE];
	int code;

	identity_line(line, sizeof line);
	code = sqlite3_bind_text(statement, 1, line, -1, SQLITE_TRANSIENT);
	code = code ? code : sqlite3_bind_int64(statement, 2, self->pid);
	code = code ? code : sqlite3_bind_int64(statement, 3, self->start);
	code = code ? code : sqlite3_bind_text(statement, 4, self->boot, -1, SQLITE_TRANSIENT);
	code = code ? code : sqlite3_bind_int64(statement, 5, sqlite_hooks_now(session->hooks));
	return sqlite_db_finish(statement, code ? code : sqlite3_step(statement));
}

static int move_in(struct sqlite_session *session, const struct identity *self)
{
	int code = sqlite_meta_read(session);

	code = code ? code : sqlite_db_run(&session->db, SQL_INBOX_CLEAR);
	code = code ? code : write_holder(session, self);
	code = code ? code : sqlite_meta_write(session);
	return code ? code : sqlite_db_run(&session->db, SQL_COMMIT);
}

/* refuse_newer returns DW_ENEWER if the store has timers that only a newer version can deliver. It
 * ignores rows that cannot be read; sqlite_db_verify() finds them. */
static int refuse_newer(struct sqlite_session *session, char *ret_message)
{
	int status = DW_OK;

	(void)sqlite_newer_store(session, &status);
	if (status != DW_OK)
		(void)snprintf(ret_message, DW_MESSAGE_SIZE,
			       "%.120s has timers of a newer durawheel, which this version cannot "
			       "deliver: run the newer one",
			       sqlite3_db_filename(session->db.handle, "main"));
	return status;
}

/* take makes the session the owner, inside a transaction: it reads the row, takes the lock, and
 * writes the row. */
static int take(struct sqlite_owner *owner, struct sqlite_session *session, int *ret_code,
		char *ret_message)
{
	struct identity self = identity_of_process();
	struct holder holder = {0};
	char who[LINE_SIZE + 16];
	int status;

	*ret_code = read_holder(session, &holder);
	if (*ret_code != SQLITE_OK)
		return DW_ESTORE;
	if (is_self(&holder, &self))
		return refuse(owner, &holder, "this process itself", ret_message);
	status = owner->fd < 0 ? lock(owner, ret_message) : DW_OK;
	if (status == DW_EOWNED) {
		(void)snprintf(who, sizeof who, "%s", *holder.line ? holder.line : "another");
		return refuse(owner, &holder, who, ret_message);
	}
	if (status == DW_OK)
		status = refuse_newer(session, ret_message);
	if (status != DW_OK)
		return status;
	*ret_code = move_in(session, &self);
	return *ret_code == SQLITE_OK ? DW_OK : DW_ESTORE;
}

/* try_to_take runs take() in a transaction. The transaction has ended when it returns. */
static int try_to_take(struct sqlite_owner *owner, struct sqlite_session *session, int *ret_code,
		       char *ret_message)
{
	int status = DW_ESTORE;

	errno = 0;
	*ret_code = sqlite_db_run(&session->db, SQL_BEGIN_WRITE);
	if (*ret_code == SQLITE_OK)
		status = take(owner, session, ret_code, ret_message);
	if (!sqlite3_get_autocommit(session->db.handle))
		/* The transaction has failed anyway. */
		(void)sqlite_db_run(&session->db, SQL_ROLLBACK);
	return status;
}

/* rescue takes the lock and rescues the file. A damaged file cannot say who owns it, so the lock
 * alone decides. */
static int rescue(struct sqlite_owner *owner, struct sqlite_session *session, char *ret_message)
{
	int status = owner->fd < 0 ? lock(owner, ret_message) : DW_OK;

	if (status == DW_OK) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: damaged",
			       sqlite3_db_filename(session->db.handle, "main"));
		status = sqlite_rescue(session, ret_message);
	}
	return status;
}

int sqlite_owner_take(struct sqlite_owner *owner, struct sqlite_session *session, char *ret_message)
{
	int code;
	int status;

	errno = 0;
	status = try_to_take(owner, session, &code, ret_message);
	if (sqlite_db_is_damage(code)) {
		status = rescue(owner, session, ret_message);
		code = SQLITE_OK;
		if (status == DW_OK)
			status = try_to_take(owner, session, &code, ret_message);
	}
	if (status == DW_OK)
		return DW_OK;
	code = sqlite_db_cause(code);
	if (code != SQLITE_OK)
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.150s: %.90s",
			       sqlite3_db_filename(session->db.handle, "main"),
			       (code & 0xff) == SQLITE_BUSY ? "is locked by another process"
			       : code == SQLITE_FULL        ? "the disk is full"
							    : sqlite3_errstr(code));
	sqlite_owner_unlock(owner);
	return code == SQLITE_FULL ? (int)DW_EFULL : status;
}

void sqlite_owner_leave(struct sqlite_owner *owner, struct sqlite_session *session)
{
	char leave[160];

	/* Clear the row only if it names this process: without its lock file there may be another
	 * owner by now. If this fails, the row names a process whose lock is free, and the next
	 * owner takes over. */
	(void)snprintf(leave, sizeof leave,
		       "UPDATE owner SET line = '', pid = 0, start = 0, boot = '', since = 0,"
		       " seen = 0, report = '' WHERE pid = %ld",
		       (long)getpid()); /* the text always fits */
	if (owner->fd >= 0 && session->db.handle)
		(void)sqlite3_exec(session->db.handle, leave, NULL, NULL, NULL);
}

void sqlite_owner_unlock(struct sqlite_owner *owner)
{
	if (owner->fd >= 0)
		(void)close(owner->fd); /* close() frees the lock, whatever it returns */
	owner->fd = -1;
}
