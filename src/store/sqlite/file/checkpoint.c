#include "store/sqlite/file/checkpoint.h"

#include <sys/stat.h>

#include "base/usec.h"
#include "port/clock.h"

enum {
	LOG_PAGES = 2000, /* when the log has this many pages, the thread copies it into the file */
	/* When the log has this many pages, the writer itself copies it, and operations wait. */
	LOG_PAGES_MAX = 8000,
	LOG_PAGES_FULL = 250, /* the same as LOG_PAGES_MAX, but on a full disk */
};

/* If the file of the log is longer than this, a reader of another program has kept the log from
 * being copied. */
#define LOG_BYTES_MAX (48LL * 1024 * 1024)
#define SHRINK_EVERY DW_SECONDS(1)

/* run_once copies the log into the file once. The writer sees by the length of the log whether this
 * has worked. The connection is closed after each copy, so that it is not in the way when the store
 * opens the file again after a failure. */
static void run_once(struct sqlite_checkpoint *checkpoint)
{
	sqlite3 *handle = NULL;
	bool all;
	int code = sqlite3_open_v2(checkpoint->path, &handle,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	code = code ? code : sqlite_db_set(handle, &checkpoint->patience);
	code = code ? code : sqlite3_exec(handle, "SELECT count(*) FROM meta", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		(void)sqlite_db_checkpoint(handle, SQLITE_CHECKPOINT_PASSIVE, &all);
	(void)sqlite3_close(handle); /* no statement is left */
}

static void *checkpoint_main(void *argument)
{
	struct sqlite_checkpoint *checkpoint = argument;

	pthread_mutex_lock(&checkpoint->mutex);
	while (!checkpoint->stopping) {
		if (!checkpoint->wanted) {
			pthread_cond_wait(&checkpoint->cond, &checkpoint->mutex);
			continue;
		}
		pthread_mutex_unlock(&checkpoint->mutex);
		run_once(checkpoint);
		pthread_mutex_lock(&checkpoint->mutex);
		checkpoint->wanted = false;
		checkpoint->done = true;
	}
	pthread_mutex_unlock(&checkpoint->mutex);
	return NULL;
}

void sqlite_checkpoint_init(struct sqlite_checkpoint *checkpoint, const char *path, const char *log)
{
	*checkpoint = (struct sqlite_checkpoint){.path = path, .log = log};
	(void)pthread_mutex_init(&checkpoint->mutex, NULL); /* never fails without attributes */
	(void)pthread_cond_init(&checkpoint->cond, NULL);
}

static void want(struct sqlite_checkpoint *checkpoint)
{
	pthread_mutex_lock(&checkpoint->mutex);
	if (!checkpoint->started)
		checkpoint->started =
		    pthread_create(&checkpoint->thread, NULL, checkpoint_main, checkpoint) == 0;
	checkpoint->wanted = true;
	pthread_cond_signal(&checkpoint->cond);
	pthread_mutex_unlock(&checkpoint->mutex);
}

/* is_done returns true once after each run of the thread. Then the writer itself copies the few
 * pages that were written during the run, so that the next write starts the log from its
 * beginning. */
static bool is_done(struct sqlite_checkpoint *checkpoint)
{
	bool done;

	pthread_mutex_lock(&checkpoint->mutex);
	done = checkpoint->done;
	checkpoint->done = false;
	pthread_mutex_unlock(&checkpoint->mutex);
	return done;
}

static int note_log(void *user, sqlite3 *handle, const char *name, int pages)
{
	struct sqlite_checkpoint *checkpoint = user;

	(void)handle;
	(void)name;
	checkpoint->log_pages = pages;
	return SQLITE_OK;
}

static bool is_long(const struct sqlite_checkpoint *checkpoint)
{
	struct stat status;

	return stat(checkpoint->log, &status) == 0 && status.st_size > LOG_BYTES_MAX;
}

/* shrink makes the file of the log short. Otherwise the file keeps the greatest length that it ever
 * had. It becomes short only if all of the log is copied and no process reads the log. The function
 * does not wait for this. */
static void shrink(const struct sqlite_checkpoint *checkpoint, struct sqlite_session *session)
{
	bool all;

	if (!is_long(checkpoint))
		return;
	(void)sqlite3_busy_handler(session->db.handle, NULL, NULL);
	(void)sqlite_db_checkpoint(session->db.handle, SQLITE_CHECKPOINT_TRUNCATE, &all);
	(void)sqlite_db_wait(session->db.handle, &session->patience);
}

/* look_at_length lets the thread copy a log that is still long, even if nothing is written. */
static void look_at_length(struct sqlite_checkpoint *checkpoint)
{
	struct clock clock = clock_system();
	dw_usec now = clock.steady(clock.user);

	if (now < checkpoint->shrink_at)
		return;
	checkpoint->shrink_at = usec_add(now, SHRINK_EVERY);
	if (is_long(checkpoint))
		want(checkpoint);
}

void sqlite_checkpoint_tend(struct sqlite_checkpoint *checkpoint, struct sqlite_session *session)
{
	int most = session->full ? LOG_PAGES_FULL : LOG_PAGES_MAX;
	bool done = is_done(checkpoint);
	bool all;

	if (!session->db.handle)
		return;
	(void)sqlite3_wal_hook(session->db.handle, note_log,
			       /* the store may have opened a new connection */
			       checkpoint);
	if (checkpoint->log_pages < checkpoint->log_asked)
		checkpoint->log_asked = 0;
	if (done || checkpoint->log_pages >= most) {
		(void)sqlite_db_checkpoint(session->db.handle, SQLITE_CHECKPOINT_PASSIVE, &all);
		checkpoint->log_pages = 0;
		if (done && all)
			shrink(checkpoint, session);
	} else if (checkpoint->log_pages >= checkpoint->log_asked + LOG_PAGES) {
		checkpoint->log_asked = checkpoint->log_pages;
		want(checkpoint);
	}
	look_at_length(checkpoint);
}

void sqlite_checkpoint_stop(struct sqlite_checkpoint *checkpoint)
{
	pthread_mutex_lock(&checkpoint->mutex);
	checkpoint->stopping = true;
	pthread_cond_signal(&checkpoint->cond);
	pthread_mutex_unlock(&checkpoint->mutex);
	if (checkpoint->started)
		pthread_join(checkpoint->thread, NULL);
	(void)pthread_cond_destroy(&checkpoint->cond); /* no thread waits any more */
	(void)pthread_mutex_destroy(&checkpoint->mutex);
}
