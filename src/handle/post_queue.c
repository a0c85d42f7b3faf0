#include "handle/post_queue.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/scope.h"

/* A turn does at most this many posts. */
#define TURN_POSTS_MAX 256u

/* A call of another thread. It stays until it is answered, so that posts.bytes counts all
 * unanswered calls. */
struct posted_call {
	struct post post; /* first */
	struct posts *posts;
	size_t bytes;
	_Alignas(max_align_t) unsigned char request[]; /* a copy of the request */
};

struct posts {
	struct alloc alloc;
	struct loop_port loop;
	size_t bytes_max;
	atomic_size_t bytes; /* bytes of calls that are not answered */

	pthread_mutex_t mutex;
	struct post *first; /* the mutex protects first, last and shut */
	struct post *last;
	bool shut;

	/* Only the handle's thread uses these: */
	struct engine *engine;
	/* Posts that were taken out of the queue; they are older than `first`. */
	struct post *taken;
};

static struct request *request_of(struct posted_call *call)
{
	return (struct request *)(void *)call->request;
}

int posts_new(struct posts **ret_posts, const struct alloc *alloc, const struct loop_port *loop,
	      size_t bytes_max)
{
	struct posts *posts = alloc_new(alloc, sizeof *posts);

	if (!posts)
		return DW_ENOMEM;
	posts->alloc = *alloc;
	posts->loop = *loop;
	posts->bytes_max = bytes_max;
	atomic_init(&posts->bytes, 0);
	(void)pthread_mutex_init(&posts->mutex, NULL); /* never fails without attributes */
	*ret_posts = posts;
	return DW_OK;
}

/* ---- Any thread ---------------------------------------------------------------------------- */

/* reserve counts the bytes of a new request. It returns false if all unanswered requests together
 * would exceed bytes_max. A request is always accepted if there is no other one. */
static bool reserve(struct posts *posts, size_t bytes)
{
	size_t used = atomic_load(&posts->bytes);

	do {
		if (used > 0 && (used > posts->bytes_max || bytes > posts->bytes_max - used))
			return false;
	} while (!atomic_compare_exchange_weak(&posts->bytes, &used, used + bytes));
	return true;
}

void posts_give_back(struct posts *posts, size_t bytes)
{
	(void)atomic_fetch_sub(&posts->bytes, bytes);
}

/* push queues a post. It returns false if the queue is shut, except that it always accepts a job.
 * It wakes the loop inside the mutex, so that no wake-up comes after the queue was shut. */
static bool push(struct posts *posts, struct post *post)
{
	bool taken;

	post->next = NULL;
	pthread_mutex_lock(&posts->mutex);
	taken = post->is_job || !posts->shut;
	if (taken) {
		bool was_empty = !posts->first;

		*(was_empty ? &posts->first : &posts->last->next) = post;
		posts->last = post;
		if (was_empty)
			posts->loop.wake(posts->loop.user);
	}
	pthread_mutex_unlock(&posts->mutex);
	return taken;
}

void posts_return(struct posts *posts, struct job *job)
{
	(void)push(posts, &job->post); /* the queue accepts every job */
}

int posts_send(struct posts *posts, const struct request *request)
{
	size_t size = sizeof(struct posted_call) + request_size(request);
	struct posted_call *call;
	int status = DW_ENOMEM;

	if (!reserve(posts, size + request->arg_size))
		return DW_ELIMIT;
	call = alloc_new(&posts->alloc, size);
	if (call) {
		call->posts = posts;
		call->bytes = size;
		request_copy(request, call->request);
		status = push(posts, &call->post) ? DW_OK : DW_ECLOSED;
	}
	if (status != DW_OK) {
		alloc_free(&posts->alloc, call);
		posts_give_back(posts, size + request->arg_size);
	}
	return status;
}

void posts_warn(struct posts *posts, const dw_options *options, const char *line)
{
	pthread_mutex_lock(&posts->mutex);
	if (!posts->shut && options->on_log)
		options->on_log(DW_LOG_WARN, line, options->on_log_user);
	pthread_mutex_unlock(&posts->mutex);
}

/* ---- The handle's thread ------------------------------------------------------------------- */

/* take returns the oldest post, or NULL. */
static struct post *take(struct posts *posts)
{
	struct post *post = posts->taken;

	if (!post) {
		pthread_mutex_lock(&posts->mutex);
		post = posts->first;
		posts->first = posts->last = NULL;
		pthread_mutex_unlock(&posts->mutex);
	}
	if (post)
		posts->taken = post->next;
	return post;
}

static void release(struct posted_call *call)
{
	struct posts *posts = call->posts;

	posts_give_back(posts, call->bytes);
	alloc_free(&posts->alloc, call);
}

static void release_at_end(struct posted_call **call)
{
	release(*call);
}

/* refuse answers a request that the engine has not accepted. */
static void refuse(struct posted_call *call, int status)
{
	struct posted_call *refused AT_END(release_at_end) = call;

	request_refuse(request_of(refused), call->posts->engine, status);
}

/* posted_call_answered is the engine's callback for a posted call. It frees the call, and then
 * calls the caller's callback. */
static void posted_call_answered(dw *handle, const dw_result *result, void *user)
{
	struct posted_call *call = user;
	struct done done = request_of(call)->done;

	if (!done.fn && result->status != DW_OK) {
		refuse(call, result->status); /* refuse() reports the failure */
		return;
	}
	release(call); /* released first, because a call in the callback may need these bytes */
	if (done.fn)
		done.fn(handle, result, done.user);
}

static void carry_out(struct posts *posts, struct post *post)
{
	struct posted_call *call = (struct posted_call *)post;

	struct request request;
	int status;

	if (post->is_job) {
		engine_finish(posts->engine, (struct job *)post);
		return;
	}
	request = *request_of(call);
	if (request.kind == REQUEST_RUN) {
		release(call); /* this kind of request has no answer */
		(void)request_do(&request, posts->engine);
		return;
	}
	request.done = (struct done){posted_call_answered, call};
	status = request_do(&request, posts->engine);
	if (status != DW_OK)
		refuse(call, status);
	else if (request.kind == REQUEST_SAY)
		release(call); /* the request is done, and has no answer */
}

bool posts_idle(struct posts *posts)
{
	bool idle;

	pthread_mutex_lock(&posts->mutex);
	idle = !posts->first && !posts->taken;
	pthread_mutex_unlock(&posts->mutex);
	return idle;
}

bool posts_drain(struct posts *posts, struct engine *engine)
{
	posts->engine = engine;
	for (uint32_t i = 0; i < TURN_POSTS_MAX; i++) {
		struct post *post = take(posts);

		if (!post)
			return false;
		carry_out(posts, post);
	}
	return !posts_idle(posts);
}

void posts_shut(struct posts *posts)
{
	pthread_mutex_lock(&posts->mutex);
	posts->shut = true;
	pthread_mutex_unlock(&posts->mutex);
}

void posts_abandon(struct posts *posts, struct engine *engine)
{
	struct post *post;

	assert(posts->shut);
	posts->engine = engine;
	while ((post = take(posts))) {
		/* The store is gone, so nothing takes the job's verdict any more. */
		if (post->is_job)
			alloc_free(&posts->alloc, post);
		else
			refuse((struct posted_call *)post, DW_ECLOSED);
	}
}

void posts_free(struct posts *posts)
{
	struct alloc alloc = posts->alloc;
	struct post *post;

	while ((post = take(posts))) {
		assert(post->is_job);
		alloc_free(&alloc, post);
	}
	assert(atomic_load(&posts->bytes) == 0);
	(void)pthread_mutex_destroy(&posts->mutex); /* no thread uses the queue any more */
	alloc_free(&alloc, posts);
}
