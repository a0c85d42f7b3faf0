/* The thread of the SQLite store. It runs all operations that were submitted since its last turn as
 * one transaction, because the fsync at the end costs the same for one operation as for a thousand.
 * When it is idle, it looks for changes of clients, and for a file that is gone. */
#ifndef DW_STORE_SQLITE_WORKER_H
#define DW_STORE_SQLITE_WORKER_H

#include <pthread.h>
#include <sys/types.h>

#include "port/op.h"
#include "store/sqlite/file/checkpoint.h"
#include "store/sqlite/session.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/file/wake.h"

/* The mutex protects queue, answers, parked and the flags. Everything else belongs to the store's
 * thread while the thread runs. */
struct sqlite_store {
	dw_store store; /* the engine's view of the store; must be the first field */
	dw_store_env env;
	struct alloc alloc;
	pid_t pid; /* the process in which the thread runs; a forked child has no thread */

	pthread_mutex_t mutex;
	/* Signalled when the thread ends; sqlite_worker_stop waits for it. */
	pthread_cond_t finished;
	struct op_queue queue;
	struct op_queue answers;
	dw_op *parked; /* the INBOX operation that waits for news */
	bool parked_is_new;
	bool parked_is_out; /* the thread is looking into the inbox for the parked operation */
	bool asleep;
	bool stopping;
	bool ended;
	bool given_away;
	bool stands_by; /* this process may have written its name into FILE-standby */

	pthread_t thread;
	struct sqlite_hooks hooks;
	struct sqlite_checkpoint checkpoint;
	struct sqlite_owner owner;
	struct sqlite_batch batch;
	struct sqlite_wake wake;
	/* How often the thread looks for changes if no client writes to the pipe. */
	_Atomic dw_usec tick;
	dw_usec looked; /* when the thread last looked for changes (CLOCK_MONOTONIC) */
	dw_usec forgot; /* when the idle thread last dropped old ends (CLOCK_MONOTONIC) */
	int64_t data_version;
	bool gone_told; /* the answer to the last INBOX said that the file was gone */
};

/* sqlite_worker_open makes the descriptors that wake the thread. Returns DW_OK, or DW_ESYS; then
 * ret_message (DW_MESSAGE_SIZE bytes) says why. */
int sqlite_worker_open(struct sqlite_store *, char *ret_message);

/* sqlite_worker_start starts the thread. Returns DW_OK, or DW_ESYS; then ret_message says why. */
int sqlite_worker_start(struct sqlite_store *, char *ret_message);

/* sqlite_worker_wake wakes the thread if it sleeps, because the queue has something. The caller
 * must hold the mutex. */
void sqlite_worker_wake(struct sqlite_store *);

/* sqlite_worker_stop answers the operations that have not begun with DW_ECLOSED, and waits for the
 * others. Returns DW_OK or DW_ETIMEOUT. */
int sqlite_worker_stop(struct sqlite_store *, dw_usec patience);

/* sqlite_worker_give_away frees the store. If the thread hangs in an fsync, the thread frees the
 * store itself when it ends. */
void sqlite_worker_give_away(struct sqlite_store *);

/* sqlite_worker_free frees a store whose thread was never started, or has ended. */
void sqlite_worker_free(struct sqlite_store *);

#endif
