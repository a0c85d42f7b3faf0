/* Copies the write-ahead log into the file (a checkpoint). A thread with its own connection does
 * this, so that no claim waits behind it. The thread starts when the log is long for the first
 * time. */
#ifndef DW_STORE_SQLITE_CHECKPOINT_H
#define DW_STORE_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <stdbool.h>

#include "store/sqlite/meta.h"

struct sqlite_checkpoint {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_t thread;
	const char *path, *log; /* the paths of FILE and FILE-wal */
	struct sqlite_patience patience;
	bool started;
	bool wanted;
	bool done; /* a run of the thread has ended since the writer last looked */
	bool stopping;

	/* How many pages the log has, and how many pages it had when the writer last woke the
	 * thread. Only the writer uses these two fields. */
	int log_pages;
	int log_asked;
	dw_usec shrink_at; /* when to look at the length of the log's file again (steady clock) */
};

void sqlite_checkpoint_init(struct sqlite_checkpoint *, const char *path, const char *log);

/* sqlite_checkpoint_tend keeps the log short. The writer calls it after each batch. The function
 * never waits for the thread. */
void sqlite_checkpoint_tend(struct sqlite_checkpoint *, struct sqlite_session *);

/* sqlite_checkpoint_stop waits for the run that is under way, and ends the thread. */
void sqlite_checkpoint_stop(struct sqlite_checkpoint *);

#endif
