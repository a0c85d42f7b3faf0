/* A call of a handler that needs memory of its own: for one timer on a worker thread, or for a
 * batch, on either thread. A worker's job owns all that its handler sees, because meanwhile the
 * timers may be replaced and the handle may be closed. */
#ifndef DW_PORT_JOB_H
#define DW_PORT_JOB_H

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "port/post.h"

struct job {
	struct post post; /* first: how it comes back, and a link on the way there */
	dw_fire_fn fire;  /* or fire_batch; the other one is NULL */
	dw_batch_fn fire_batch;
	void *user;
	size_t count; /* of each of the next four, which are in this block */
	dw_firing *firings;
	dw_token *tokens;
	dw_usec *retry_in; /* what came of it; below 0: not said */
	dw_verdict *verdicts;
	unsigned char *room; /* where the next data goes; NULL: data is not copied */
	char topic[DW_TOPIC_MAX + 1];
	bool started;
	dw_usec began; /* steady time; whoever calls job_run sets this and the next one */
	dw_usec took;  /* how long the handler ran */
	/* The engine's, while a worker has the job. */
	struct job *prev_out, *next_out;
	dw_usec late_at; /* steady; then it is too late; DW_NEVER: it never is, or this was told */
	bool is_late;
};

/* job_new: a job without firings, with room for count of them. data_size: of the data of all, which
 * is copied; SIZE_MAX: it is not copied. NULL: no memory. */
struct job *job_new(const struct alloc *, const char *topic, size_t count, size_t data_size);

/* job_add adds a firing: a copy of this one. Its now is set when the handler starts. */
void job_add(struct job *, const dw_firing *);

/* job_begin: the handler starts now, unless a timer is not due: the clock was set back. job_run
 * calls the handler. */
void job_begin(struct job *, dw_usec now);
void job_run(struct job *, dw *handle);

/* The workers, as the engine sees them. */
struct worker_port {
	/* Takes a job; it comes back through engine_finish() on the engine's thread. Never fails
	 * while fewer than count are out. NULL: the engine's thread does all jobs. */
	void (*start)(void *user, struct job *);
	void *user;
	size_t count; /* 0: there are no workers */
};

#endif
