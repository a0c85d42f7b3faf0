/* A call of a handler that needs memory of its own: for one timer on a worker thread, or for a
 * batch, on either thread. A worker's job owns all that its handler sees, because meanwhile the
 * timers may be replaced and the handle may be closed. */
#ifndef DW_PORT_JOB_H
#define DW_PORT_JOB_H

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "port/post.h"

struct job {
	/* Must be first. It links the job in the queue of the workers, and then in the queue by
	 * which the job comes back. */
	struct post post;
	dw_fire_fn fire; /* either fire or fire_batch is set; the other one is NULL */
	dw_batch_fn fire_batch;
	void *user;
	size_t count; /* number of items in each of the next four arrays, which are in this block */
	dw_firing *firings;
	dw_token *tokens;
	dw_usec *retry_in; /* delays that the handlers asked for with DW_RETRY; negative: none */
	dw_verdict *verdicts;
	unsigned char *room; /* where the data of the next firing goes; NULL: data is not copied */
	char topic[DW_TOPIC_MAX + 1];
	bool started;
	/* Steady; when the handler began. The caller of job_run() sets `began` and `took`. */
	dw_usec began;
	dw_usec took; /* how long the handler ran */
	/* The engine uses the following while a worker has the job. */
	struct job *prev_out, *next_out;
	/* Steady; after this time the job takes too long. DW_NEVER: the job has no limit, or it was
	 * reported that the job takes too long. */
	dw_usec late_at;
	bool is_late;
};

/* job_new makes a job without firings, in a block that has space for `count` firings. data_size is
 * the size of the data of all firings, which is copied. SIZE_MAX means that the data is not copied.
 * It returns NULL if there is no memory. */
struct job *job_new(const struct alloc *, const char *topic, size_t count, size_t data_size);

/* job_add adds a copy of this firing. Its field `now` is set when the handler starts. */
void job_add(struct job *, const dw_firing *);

/* job_begin notes that the handler starts now, unless a timer is not due because the clock was set
 * back. job_run calls the handler. */
void job_begin(struct job *, dw_usec now);
void job_run(struct job *, dw *handle);

/* The workers, as the engine sees them. */
struct worker_port {
	/* start hands a job over to a worker thread. When the handler has returned, engine_finish()
	 * takes the job back on the engine's thread. start never fails while the workers have fewer
	 * than `count` jobs. NULL: the engine's thread runs all jobs itself. */
	void (*start)(void *user, struct job *);
	void *user;
	size_t count; /* 0: there are no workers */
};

#endif
