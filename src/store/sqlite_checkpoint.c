#include "store/sqlite_checkpoint.h"

/* run_once: whether it worked shows in the length of the log, which the writer watches. The
 * connection lives only as long as the work, so that none is in the way when the store opens the
 * file again after a failure. */
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
	(void)sqlite3_close(handle); /* no statements are left */
}

static void *work(void *argument)
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

void sqlite_checkpoint_init(struct sqlite_checkpoint *checkpoint, const char *path)
{
	*checkpoint = (struct sqlite_checkpoint){.path = path};
	(void)pthread_mutex_init(&checkpoint->mutex, NULL); /* never fails without attributes */
	(void)pthread_cond_init(&checkpoint->cond, NULL);
}

void sqlite_checkpoint_want(struct sqlite_checkpoint *checkpoint)
{
	pthread_mutex_lock(&checkpoint->mutex);
	if (!checkpoint->started)
		checkpoint->started =
		    pthread_create(&checkpoint->thread, NULL, work, checkpoint) == 0;
	checkpoint->wanted = true;
	pthread_cond_signal(&checkpoint->cond);
	pthread_mutex_unlock(&checkpoint->mutex);
}

bool sqlite_checkpoint_is_done(struct sqlite_checkpoint *checkpoint)
{
	bool done;

	pthread_mutex_lock(&checkpoint->mutex);
	done = checkpoint->done;
	checkpoint->done = false;
	pthread_mutex_unlock(&checkpoint->mutex);
	return done;
}

void sqlite_checkpoint_stop(struct sqlite_checkpoint *checkpoint)
{
	pthread_mutex_lock(&checkpoint->mutex);
	checkpoint->stopping = true;
	pthread_cond_signal(&checkpoint->cond);
	pthread_mutex_unlock(&checkpoint->mutex);
	if (checkpoint->started)
		pthread_join(checkpoint->thread, NULL);
	(void)pthread_cond_destroy(&checkpoint->cond); /* nobody waits any more */
	(void)pthread_mutex_destroy(&checkpoint->mutex);
}
