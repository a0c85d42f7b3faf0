/* Carries calls of other threads to the handle's thread: a queue under a mutex, in which each
 * thread's calls keep their order. The bytes of unanswered calls are limited, so that a slow store
 * makes callers wait instead of using more and more memory. */
#ifndef DW_HANDLE_POST_QUEUE_H
#define DW_HANDLE_POST_QUEUE_H

#include "port/loop.h"
#include "handle/request.h"

struct posts;

/* posts_new makes a queue. It returns DW_OK or DW_ENOMEM. */
int posts_new(struct posts **ret_posts, const struct alloc *, const struct loop_port *,
	      size_t bytes_max);
/* posts_free frees the queue and the jobs in it. Call it when every request is answered. */
void posts_free(struct posts *);

/* posts_send copies a request, whose arguments are checked, into the queue. Any thread may call it.
 * It returns DW_OK, DW_ELIMIT, DW_ENOMEM or DW_ECLOSED. */
int posts_send(struct posts *, const struct request *);

/* posts_give_back counts bytes no longer that a request had as arg_size: call it when they are
 * answered. Any thread may call it. */
void posts_give_back(struct posts *, size_t bytes);

/* posts_warn logs a warning about a call of another thread. Any thread may call it. It logs nothing
 * after posts_shut(), because the program's hooks may be gone. */
void posts_warn(struct posts *, const dw_options *, const char *line);

/* posts_return brings a job back to the engine. Any thread may call it. It never fails, even after
 * posts_shut(). */
void posts_return(struct posts *, struct job *);

/* Only the handle's thread may call the following functions. */

/* posts_drain does as many requests as one turn may do. It returns true if more are left. */
bool posts_drain(struct posts *, struct engine *);
bool posts_idle(struct posts *);

/* posts_shut refuses new calls. posts_abandon answers the calls in the queue with DW_ECLOSED. */
void posts_shut(struct posts *);
void posts_abandon(struct posts *, struct engine *);

#endif
