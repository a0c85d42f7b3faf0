/* The threads that run handlers of dw_on_worker(). The engine hands a job to them. The job comes
 * back through the queue of posts, behind the calls that its handler has posted.
 *
 * A handler may outlive its handle, because dw_close() does not wait for ever. Then the last thread
 * that leaves frees the rest of the handle. */
#ifndef DW_HANDLE_WORKER_POOL_H
#define DW_HANDLE_WORKER_POOL_H

#include "port/clock.h"
#include "handle/post_queue.h"

#define WORKERS_MAX 256u

struct workers;

struct workers_env {
	dw *handle; /* the handle that handlers get */
	struct alloc alloc;
	struct clock clock;
	struct posts *posts;
	/* Frees the handle, after workers_free() has returned false. */
	void (*last_out)(dw *handle);
};

/* workers_new starts count threads. DW_OK, DW_ENOMEM, DW_ESYS: errno says why. */
int workers_new(struct workers **ret_workers, const struct workers_env *env, size_t count);

/* workers_port returns the workers as the engine uses them; all zero for NULL. */
struct worker_port workers_port(struct workers *);

/* workers_job returns the job whose handler calls this. NULL: the caller is not a handler on one of
 * these threads. */
struct job *workers_job(struct workers *);

/* workers_stop: no handler starts any more. Jobs that were not started come back. */
void workers_stop(struct workers *);

/* workers_free comes after workers_stop. True: all threads have ended, and the workers are freed.
 * False: handlers still run; the last thread frees the workers and calls last_out. */
bool workers_free(struct workers *);

#endif
