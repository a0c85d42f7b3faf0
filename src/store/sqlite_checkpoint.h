/* The write-ahead log is taken into the file by a thread and a connection of their own, so that no
 * claim waits behind it. The thread starts when there is something to do for the first time. */
#ifndef DW_STORE_SQLITE_CHECKPOINT_H
#define DW_STORE_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <stdbool.h>

#include "store/sqlite_db.h"

struct sqlite_checkpoint {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_t thread;
	const char *path;
	struct sqlite_patience patience;
	bool started;
	bool wanted;
	bool done; /* since the writer last asked */
	bool stopping;
};

void sqlite_checkpoint_init(struct sqlite_checkpoint *, const char *path);

/* sqlite_checkpoint_want never blocks. */
void sqlite_checkpoint_want(struct sqlite_checkpoint *);

/* sqlite_checkpoint_is_done: once for each that was finished. What was written meanwhile is little;
 * when the writer copies that itself, the log starts from its beginning again. */
bool sqlite_checkpoint_is_done(struct sqlite_checkpoint *);

/* sqlite_checkpoint_stop waits for the one under way. */
void sqlite_checkpoint_stop(struct sqlite_checkpoint *);

#endif
