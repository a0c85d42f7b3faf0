/* The threads that run handlers of dw_on_worker(). A job is handed to them by the engine and comes
 * back through the queue of the posts, behind what its handler has posted.
 *
 * A handler may outlive its handle: dw_close() does not wait for it for ever. Then the last thread
 * that leaves frees what is left of the handle. */
#ifndef DW_HANDLE_WORKER_POOL_H
#define DW_HANDLE_WORKER_POOL_H

#include "port/clock.h"
#include "handle/post_queue.h"

#define WORKERS_MAX 256u

struct workers;

struct workers_env {
	dw *handle; /* what handlers are given */
	struct alloc alloc;
	struct clock clock;
	struct posts *posts;
	/* Frees the handle, after workers_free() has returned false. */
	void (*last_out)(dw *handle);
};

/* workers_new starts count threads. DW_OK, DW_ENOMEM, DW_ESYS: errno says why. */
int workers_new(struct workers **ret_workers, const struct workers_env *env, size_t count);

/* workers_port: what the engine is given; zero for NULL. */
struct worker_port workers_port(struct workers *);

/* workers_retry_in: DW_ETHREAD: the caller is not a handler on one of these threads. DW_EINVAL: it
 * is the handler of a batch. */
int workers_retry_in(struct workers *, dw_usec delay);

/* workers_stop: no handler is started any more; jobs not started come back. */
void workers_stop(struct workers *);

/* workers_free, after workers_stop: true: all threads have ended and the workers are freed. false:
 * handlers still run; the last one out frees the workers and calls last_out. */
bool workers_free(struct workers *);

#endif
