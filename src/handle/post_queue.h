/* The calls of other threads on their way to the handle's thread: a queue under a mutex, in which
 * each thread's calls keep their order. It is bounded by the bytes of what is not answered yet, so
 * that a slow store makes callers wait and not the memory grow. */
#ifndef DW_HANDLE_POST_QUEUE_H
#define DW_HANDLE_POST_QUEUE_H

#include "port/loop.h"
#include "handle/request.h"

struct posts;

/* posts_new: DW_OK or DW_ENOMEM. */
int posts_new(struct posts **ret_posts, const struct alloc *, const struct loop_port *,
	      size_t bytes_max);
/* posts_free: every request was answered. Jobs that nobody has taken back are freed. */
void posts_free(struct posts *);

/* posts_send copies the request, whose arguments are checked, into the queue. Any thread.
 * DW_ELIMIT, DW_ENOMEM, DW_ECLOSED. */
int posts_send(struct posts *, const struct request *);

/* posts_warn writes a line to the log about a call of another thread. Any thread. Once the queue is
 * shut it writes nothing, because the program's hooks may be gone. */
void posts_warn(struct posts *, const dw_options *, const char *line);

/* posts_return brings a job back to the engine. Any thread; never fails, and is taken after
 * posts_shut(), too. */
void posts_return(struct posts *, struct job *);

/* The handle's thread: */

/* posts_drain does a turn's share of the requests; true: more are left. */
bool posts_drain(struct posts *, struct engine *);
bool posts_idle(struct posts *);

/* posts_shut: no new call is taken. posts_abandon answers what is left with DW_ECLOSED. */
void posts_shut(struct posts *);
void posts_abandon(struct posts *, struct engine *);

#endif
