#include "store/sqlite/heal/rescue.h"
#include "store/sqlite/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/sqlite/heal/index.h"
#include "store/sqlite/file/mount.h"

/* name_files makes the names of all files, and hands them to the parts that use them. */
static int name_files(struct sqlite_batch *batch, struct sqlite_owner *owner, const char *path,
		      char *ret_message)
{
	struct sqlite_files *files = &batch->files;
	int status = sqlite_files_name(files, &batch->session.alloc, path, ret_message);

	owner->path = files->path[FILE_OWNER];
	batch->reserve.path = files->path[FILE_RESERVE];
	batch->session.standby = files->path[FILE_STANDBY];
	return status;
}

/* note_files remembers which files are open, and fails if one was removed or moved since it was
 * opened. Otherwise the first commit would not notice this. */
static int note_files(struct sqlite_batch *batch, char *ret_message)
{
	struct sqlite_files *files = &batch->files;
	int last = batch->session.env->role == DW_OWNER ? FILE_OWNER : FILE_MEMORY;
	int moved = 0;

	for (int which = FILE_DATABASE; which <= last; which++)
		if (!sqlite_files_note(files, which))
			moved = 1;
	if (!moved)
		(void)sqlite3_file_control(batch->session.db.handle, "main", SQLITE_FCNTL_HAS_MOVED,
					   /* If this fails, the file counts as not moved. */
					   &moved);
	if (!moved)
		return DW_OK;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.150s was deleted or moved while it was opened",
		       files->path[FILE_DATABASE]);
	return DW_ESTORE;
}

/* check_names refuses a file with several names: a file with hard links, or a file that is mounted
 * by itself and so has a second name in the file system from which it comes. Log and lock belong to
 * a name, and not to the file. So a second owner under a second name would write a log that the
 * first owner does not know. */
static int check_names(struct sqlite_batch *batch, char *ret_message)
{
	const char *path = batch->files.path[FILE_DATABASE];
	struct stat status;

	if (sqlite_mount_is_file(path)) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE,
			       "%.120s is a file that is mounted alone, so the log and lock beside "
			       "it are not those of its other name: mount its folder",
			       path);
		return DW_ESTORE;
	}
	if (stat(path, &status) != 0 || status.st_nlink <= 1)
		return DW_OK;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.150s has %lu names (hard links): remove all but one", path,
		       (unsigned long)status.st_nlink);
	return DW_ESTORE;
}

static int enter(struct sqlite_batch *batch, struct sqlite_owner *owner, char *ret_message)
{
	struct sqlite_session *session = &batch->session;
	int status = sqlite_db_open(&session->db, batch->files.path[FILE_DATABASE],
				    sqlite_kind_of(session), &session->patience, ret_message);

	bool all;

	if (status != DW_OK || batch->session.env->role != DW_OWNER)
		return status;
	status = sqlite_owner_take(owner, session, ret_message);
	if (status != DW_EFULL)
		return status;
	/* The disk is full, perhaps because of the log of a killed owner. After the log is copied
	 * into the file, its space can be used again. */
	(void)sqlite_db_checkpoint(session->db.handle, SQLITE_CHECKPOINT_PASSIVE, &all);
	return sqlite_owner_take(owner, session, ret_message);
}

/* take_reserve makes the reserve if this process is an owner. It always tries, because a copy of
 * the store may have a reserve of full size but without disk space. A client only looks whether the
 * reserve is whole. */
static void take_reserve(struct sqlite_batch *batch)
{
	struct sqlite_reserve *reserve = &batch->reserve;
	bool is_owner = batch->session.env->role == DW_OWNER;

	if (is_owner)
		batch->session.full = !sqlite_reserve_take(reserve);
	sqlite_batch_look_for_space(batch);
	if (is_owner && reserve->refused)
		sqlite_hooks_log(batch->session.hooks, DW_LOG_WARN,
				 "%s cannot be made (%s): on a full disk no timer can be settled",
				 reserve->path, strerror(reserve->refused));
}

/* warn_of_others warns if everybody may write the file, because whoever can do that can run any
 * handler with any data. */
static void warn_of_others(struct sqlite_batch *batch)
{
	const char *path = batch->files.path[FILE_DATABASE];
	struct stat status;

	if (batch->session.env->role == DW_OWNER && stat(path, &status) == 0 &&
	    status.st_mode & S_IWOTH)
		sqlite_hooks_log(batch->session.hooks, DW_LOG_WARN,
				 "%s may be written by everybody (mode %04o): chmod 600 it", path,
				 status.st_mode & 07777u);
}

/* verify reads and repairs the whole file, which takes time. So only an owner does this, after it
 * has taken the ownership. */
static int verify(struct sqlite_batch *batch, char *ret_message)
{
	struct sqlite_session *session = &batch->session;
	int status = sqlite_db_verify(&session->db, ret_message);

	if (status == DW_ECORRUPT)
		status = sqlite_rescue(session, ret_message);
	while (status == DW_EFULL && sqlite_reserve_spend(&batch->reserve))
		status = sqlite_rescue(session, ret_message);
	if (status == DW_OK)
		status = sqlite_index_verify(session, ret_message);
	while (status == DW_EFULL && sqlite_reserve_spend(&batch->reserve))
		status = sqlite_index_verify(session, ret_message);
	batch->seen = session->meta.batch;
	return status;
}

int sqlite_session_open(struct sqlite_batch *batch, struct sqlite_owner *owner, const char *path,
			char *ret_message)
{
	const dw_store_env *env = batch->session.env;
	enum sqlite_kind kind = env->is_journal ? SQLITE_KIND_JOURNAL : SQLITE_KIND_TIMERS;
	int status = env->existing ? sqlite_db_find(path, kind, ret_message)
				   : sqlite_db_make(path, ret_message);

	if (status == DW_OK)
		status = name_files(batch, owner, path, ret_message);
	if (status == DW_OK)
		status = check_names(batch, ret_message);
	if (status == DW_OK)
		status = enter(batch, owner, ret_message);
	while (status == DW_EFULL && sqlite_reserve_spend(&batch->reserve)) {
		sqlite_db_close(&batch->session.db, false);
		status = enter(batch, owner, ret_message);
	}
	if (status == DW_OK && batch->session.env->role == DW_OWNER)
		status = verify(batch, ret_message);
	if (status == DW_OK)
		status = note_files(batch, ret_message);
	if (status != DW_OK)
		return status;
	warn_of_others(batch);
	take_reserve(batch);
	return DW_OK;
}

int sqlite_session_take_over(struct sqlite_batch *batch, struct sqlite_owner *owner,
			     char *ret_message)
{
	int status = sqlite_owner_take(owner, &batch->session, ret_message);

	while (status == DW_EFULL && sqlite_reserve_spend(&batch->reserve))
		status = sqlite_owner_take(owner, &batch->session, ret_message);
	if (status == DW_OK)
		status = verify(batch, ret_message);
	if (status == DW_OK)
		status = note_files(batch, ret_message);
	if (status != DW_OK) {
		sqlite_owner_leave(owner, &batch->session);
		sqlite_owner_unlock(owner);
		return status;
	}
	warn_of_others(batch);
	take_reserve(batch);
	return DW_OK;
}

void sqlite_session_give_way(struct sqlite_batch *batch, struct sqlite_owner *owner)
{
	if (sqlite_batch_find_file(batch))
		sqlite_owner_leave(owner, &batch->session);
	sqlite_owner_unlock(owner);
}

void sqlite_session_close(struct sqlite_batch *batch, struct sqlite_owner *owner)
{
	struct sqlite_db *db = &batch->session.db;
	/* If the file is not found, its name may lead to another file, which is not ours. */
	bool tidy = db->handle && sqlite_batch_find_file(batch);
	bool all;

	if (tidy || sqlite_files_find(&batch->files) == FILE_OWNER)
		sqlite_owner_leave(owner, &batch->session);
	if (tidy && owner->fd >= 0)
		(void)sqlite_db_checkpoint(db->handle, SQLITE_CHECKPOINT_TRUNCATE, &all);
	sqlite_db_close(db, tidy);
	if (batch->session.full && sqlite_files_look(&batch->files, FILE_LOG) == FILE_IS_MISSING)
		sqlite_reserve_take_part(&batch->reserve);
	sqlite_owner_unlock(owner);
}
