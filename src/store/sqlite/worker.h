/* The thread of the SQLite store: it takes what was submitted since its last turn and carries it
 * out as one transaction, because the fsync at its end costs the same for one operation as for a
 * thousand. Its idle turns look for changes of clients, and for a file that is gone. */
#ifndef DW_STORE_SQLITE_WORKER_H
#define DW_STORE_SQLITE_WORKER_H

#include <pthread.h>
#include <sys/types.h>

#include "port/op.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/session.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/wake.h"

/* Under the mutex: queue, answers, parked and the flags. Everything else belongs to the thread once
 * it runs. */
struct sqlite_store {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	pid_t pid; /* a forked child has no thread to speak to */

	pthread_mutex_t mutex;
	pthread_cond_t finished; /* for stop */
	struct op_queue queue;
	struct op_queue answers;
	dw_op *parked; /* the INBOX that waits for news */
	bool parked_is_new;
	bool parked_is_out; /* the thread looks into the inbox for it */
	bool asleep;
	bool stopping;
	bool ended;
	bool given_away;

	pthread_t thread;
	struct sqlite_hooks hooks;
	struct sqlite_checkpoint checkpoint;
	struct sqlite_owner owner;
	struct sqlite_batch batch;
	struct sqlite_wake wake;
	_Atomic dw_usec tick; /* between two looks for changes, if no client writes to the pipe */
	dw_usec looked;       /* for changes, on CLOCK_MONOTONIC */
	int64_t data_version;
	bool gone_told; /* what the last INBOX knew of the file */
};

/* sqlite_worker_open makes the ways to wake the thread. DW_OK, DW_ESYS: ret_message
 * (DW_MESSAGE_SIZE) says why. */
int sqlite_worker_open(struct sqlite_store *, char *ret_message);

/* sqlite_worker_start: DW_OK, DW_ESYS: ret_message says why. */
int sqlite_worker_start(struct sqlite_store *, char *ret_message);

/* sqlite_worker_wake: the queue has something; the caller has the mutex. */
void sqlite_worker_wake(struct sqlite_store *);

/* sqlite_worker_stop answers what has not begun with DW_ECLOSED and waits for the rest. DW_OK,
 * DW_ETIMEOUT. */
int sqlite_worker_stop(struct sqlite_store *, dw_usec patience);

/* sqlite_worker_give_away frees the store. If the thread hangs in an fsync, it frees the store
 * itself once it has ended. */
void sqlite_worker_give_away(struct sqlite_store *);

/* sqlite_worker_free frees a store whose thread was never started, or has ended. */
void sqlite_worker_free(struct sqlite_store *);

#endif
