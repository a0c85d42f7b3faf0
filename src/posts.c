#include "posts.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* How many requests one turn does at most. */
#define TURN_POSTS_MAX 256u

/* It stays until it is answered, so that its bytes are what the queue really holds. */
struct post {
	struct post *next;
	struct posts *posts;
	size_t bytes;
	_Alignas(max_align_t) unsigned char request[]; /* a copy */
};

struct posts {
	struct alloc alloc;
	struct loop_port loop;
	size_t bytes_max;
	atomic_size_t bytes; /* of requests that are not answered */

	pthread_mutex_t mutex;
	struct post *first; /* under the mutex, these three */
	struct post *last;
	bool shut;

	/* The handle's thread's: */
	struct engine *engine;
	struct post *taken; /* older than first */
};

static struct request *request_of(struct post *post)
{
	return (struct request *)(void *)post->request;
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

void posts_free(struct posts *posts)
{
	struct alloc alloc = posts->alloc;

	assert(!posts->first && !posts->taken);
	(void)pthread_mutex_destroy(&posts->mutex); /* nobody calls any more */
	alloc_free(&alloc, posts);
}

/* ---- Any thread ---------------------------------------------------------------------------- */

/* reserve: whether there is room for so many bytes. A lone request always has it. */
static bool reserve(struct posts *posts, size_t bytes)
{
	size_t used = atomic_load(&posts->bytes);

	do {
		if (used > 0 && (used > posts->bytes_max || bytes > posts->bytes_max - used))
			return false;
	} while (!atomic_compare_exchange_weak(&posts->bytes, &used, used + bytes));
	return true;
}

/* push: DW_OK, or DW_ECLOSED. It wakes under the mutex: after posts_shut() nobody does. */
static int push(struct posts *posts, struct post *post)
{
	bool was_empty;
	bool shut;

	pthread_mutex_lock(&posts->mutex);
	was_empty = !posts->first;
	shut = posts->shut;
	if (!shut) {
		*(was_empty ? &posts->first : &posts->last->next) = post;
		posts->last = post;
		if (was_empty)
			posts->loop.wake(posts->loop.user);
	}
	pthread_mutex_unlock(&posts->mutex);
	return shut ? DW_ECLOSED : DW_OK;
}

int posts_send(struct posts *posts, const struct request *request)
{
	size_t bytes = sizeof(struct post) + request_size(request);
	struct post *post;
	int status = DW_ENOMEM;

	if (!reserve(posts, bytes))
		return DW_ELIMIT;
	post = alloc_new(&posts->alloc, bytes);
	if (post) {
		post->posts = posts;
		post->bytes = bytes;
		request_copy(request, post->request);
		status = push(posts, post);
	}
	if (status != DW_OK) {
		alloc_free(&posts->alloc, post);
		(void)atomic_fetch_sub(&posts->bytes, bytes);
	}
	return status;
}

/* ---- The handle's thread ------------------------------------------------------------------- */

/* take: the oldest request, or NULL. */
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

static void release(struct post *post)
{
	struct posts *posts = post->posts;

	(void)atomic_fetch_sub(&posts->bytes, post->bytes);
	alloc_free(&posts->alloc, post);
}

/* refuse answers a request that the engine has not accepted. */
static void refuse(struct post *post, int status)
{
	request_refuse(request_of(post), post->posts->engine, status);
	release(post);
}

/* answered stands between the engine's answer and the one who asked. */
static void answered(dw *handle, const dw_result *result, void *user)
{
	struct post *post = user;
	struct done done = request_of(post)->done;

	if (!done.fn && result->status != DW_OK) {
		refuse(post, result->status); /* reports it */
		return;
	}
	release(post); /* first: the callback may want its room */
	if (done.fn)
		done.fn(handle, result, done.user);
}

static void carry_out(struct post *post)
{
	struct request request = *request_of(post);
	int status;

	request.done = (struct done){answered, post};
	status = request_do(&request, post->posts->engine);
	if (status != DW_OK)
		refuse(post, status);
	else if (request.kind == REQUEST_RUN)
		release(post); /* it has no answer */
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
		carry_out(post);
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
	while ((post = take(posts)))
		refuse(post, DW_ECLOSED);
}
