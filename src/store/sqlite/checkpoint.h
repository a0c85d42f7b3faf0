/* The write-ahead log is taken into the file by a thread and a connection of their own, so that no
 * claim waits behind it. The thread starts when there is something to do for the first time. */
#ifndef DW_STORE_SQLITE_CHECKPOINT_H
#define DW_STORE_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <stdbool.h>

#include "store/sqlite/meta.h"

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

	/* The writer's: the pages of the log, and how many there were when it last asked. */
	int log_pages;
	int log_asked;
};

void sqlite_checkpoint_init(struct sqlite_checkpoint *, const char *path);

/* sqlite_checkpoint_tend keeps the log short; the writer calls it after each batch. It never waits
 * for the other thread. */
void sqlite_checkpoint_tend(struct sqlite_checkpoint *, struct sqlite_session *);

/* sqlite_checkpoint_stop waits for the one under way. */
void sqlite_checkpoint_stop(struct sqlite_checkpoint *);

#endif
