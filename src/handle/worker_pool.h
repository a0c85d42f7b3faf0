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

/* workers_new starts count threads. It returns DW_OK, DW_ENOMEM or DW_ESYS. With DW_ESYS errno says
 * why. */
int workers_new(struct workers **ret_workers, const struct workers_env *env, size_t count);

/* workers_port returns the workers in the form that the engine uses. For NULL all its fields are
 * zero. */
struct worker_port workers_port(struct workers *);

/* workers_job returns the job whose handler makes this call, or NULL if the caller is not a handler
 * on one of these threads. */
struct job *workers_job(struct workers *);

/* workers_stop lets no handler start any more. Jobs that were not started come back. */
void workers_stop(struct workers *);

/* workers_free must be called after workers_stop. It returns true if all threads have ended, and
 * frees the workers. It returns false if handlers still run. Then the last thread frees the workers
 * and calls last_out. */
bool workers_free(struct workers *);

#endif
