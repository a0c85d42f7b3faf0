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

/* The mutex protects queue, answers, parked and the flags. Everything else belongs to the thread
 * while it runs. */
struct sqlite_store {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	pid_t pid; /* the process of the thread; a forked child has none */

	pthread_mutex_t mutex;
	pthread_cond_t finished; /* sqlite_worker_stop waits for it */
	struct op_queue queue;
	struct op_queue answers;
	dw_op *parked; /* the INBOX that waits for news */
	bool parked_is_new;
	bool parked_is_out; /* the thread has taken it, to look into the inbox */
	bool asleep;
	bool stopping;
	bool ended;
	bool given_away;
	bool stands_by; /* FILE-standby may name this process */

	pthread_t thread;
	struct sqlite_hooks hooks;
	struct sqlite_checkpoint checkpoint;
	struct sqlite_owner owner;
	struct sqlite_batch batch;
	struct sqlite_wake wake;
	_Atomic dw_usec tick; /* how often to look for changes if no client writes to the pipe */
	dw_usec looked;       /* when it last looked for changes; CLOCK_MONOTONIC */
	dw_usec forgot;       /* when it last dropped old ends while it was idle; the same clock */
	int64_t data_version;
	bool gone_told; /* the file was gone when the last INBOX was answered */
};

/* sqlite_worker_open makes the descriptors that wake the thread. DW_OK, DW_ESYS: ret_message
 * (DW_MESSAGE_SIZE) says why. */
int sqlite_worker_open(struct sqlite_store *, char *ret_message);

/* sqlite_worker_start starts the thread. DW_OK, DW_ESYS: ret_message says why. */
int sqlite_worker_start(struct sqlite_store *, char *ret_message);

/* sqlite_worker_wake wakes the thread if it sleeps, because the queue has something. The caller has
 * the mutex. */
void sqlite_worker_wake(struct sqlite_store *);

/* sqlite_worker_stop answers the operations that have not begun with DW_ECLOSED, and waits for the
 * rest. DW_OK, DW_ETIMEOUT. */
int sqlite_worker_stop(struct sqlite_store *, dw_usec patience);

/* sqlite_worker_give_away frees the store. If the thread hangs in an fsync, the thread frees the
 * store itself when it ends. */
void sqlite_worker_give_away(struct sqlite_store *);

/* sqlite_worker_free frees a store whose thread was never started, or has ended. */
void sqlite_worker_free(struct sqlite_store *);

#endif
