#include "handle/worker_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/usec.h"

struct worker {
	struct workers *workers;
	pthread_t thread;
	struct job *job; /* the job whose handler this thread runs, or NULL */
};

struct workers {
	struct workers_env env;
	size_t count;

	pthread_mutex_t mutex;
	pthread_cond_t work;
	struct job *first; /* the mutex protects this field and the following */
	struct job *last;
	size_t alive;
	size_t running;
	bool stopping;
	bool given_away;
	struct worker threads[];
};

/* ---- A thread ------------------------------------------------------------------------------ */

/* next_job waits for a job. It returns NULL when no handler may start any more. */
static struct job *next_job(struct worker *worker)
{
	struct workers *workers = worker->workers;
	struct job *job = NULL;

	pthread_mutex_lock(&workers->mutex);
	while (!workers->first && !workers->stopping)
		pthread_cond_wait(&workers->work, &workers->mutex);
	if (!workers->stopping) {
		job = workers->first;
		workers->first = (struct job *)job->post.next;
		worker->job = job;
		workers->running++;
		/* This is done under the mutex, so that nobody calls the program's clock once the
		 * workers are stopping. */
		job_begin(job, workers->env.clock.wall(workers->env.clock.user));
	}
	pthread_mutex_unlock(&workers->mutex);
	return job;
}

static void give_back(struct worker *worker, struct job *job)
{
	struct workers *workers = worker->workers;

	pthread_mutex_lock(&workers->mutex);
	worker->job = NULL;
	workers->running--;
	pthread_mutex_unlock(&workers->mutex);
	posts_return(workers->env.posts, job);
}

static void destroy(struct workers *workers)
{
	struct alloc alloc = workers->env.alloc;

	assert(!workers->first && workers->running == 0);
	(void)pthread_cond_destroy(&workers->work); /* nobody waits any more */
	(void)pthread_mutex_destroy(&workers->mutex);
	alloc_free(&alloc, workers);
}

static void *pool_thread_main(void *argument)
{
	struct worker *worker = argument;
	struct workers *workers = worker->workers;
	struct workers_env env = workers->env;
	struct job *job;
	bool last;

	while ((job = next_job(worker))) {
		job->began = env.clock.steady(env.clock.user);
		if (job->started)
			job_run(job, env.handle);
		job->took = usec_sub(env.clock.steady(env.clock.user), job->began);
		give_back(worker, job);
	}
	pthread_mutex_lock(&workers->mutex);
	workers->alive--;
	last = workers->given_away && workers->alive == 0;
	pthread_mutex_unlock(&workers->mutex);
	if (last) {
		destroy(workers);
		env.last_out(env.handle);
	}
	return NULL;
}

/* ---- The engine's side --------------------------------------------------------------------- */

static void workers_start(void *user, struct job *job)
{
	struct workers *workers = user;

	job->post.next = NULL;
	pthread_mutex_lock(&workers->mutex);
	assert(!workers->stopping);
	if (workers->first)
		workers->last->post.next = &job->post;
	else
		workers->first = job;
	workers->last = job;
	pthread_cond_signal(&workers->work);
	pthread_mutex_unlock(&workers->mutex);
}

struct worker_port workers_port(struct workers *workers)
{
	return workers ? (struct worker_port){workers_start, workers, workers->count}
		       : (struct worker_port){0};
}

struct job *workers_job(struct workers *workers)
{
	struct job *job = NULL;

	pthread_mutex_lock(&workers->mutex);
	for (size_t i = 0; i < workers->count && !job; i++)
		if (pthread_equal(workers->threads[i].thread, pthread_self()))
			job = workers->threads[i].job;
	pthread_mutex_unlock(&workers->mutex);
	return job;
}

/* ---- Beginning and ending ------------------------------------------------------------------ */

/* start_threads starts all threads inside the mutex, so that no thread uses the list of threads
 * before it is complete. The threads block all signals, which belong to the program. */
static int start_threads(struct workers *workers, size_t count)
{
	sigset_t all;
	sigset_t before;
	int error = 0;

	(void)sigfillset(&all); /* cannot fail */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&workers->mutex);
	while (error == 0 && workers->count < count) {
		struct worker *worker = &workers->threads[workers->count];

		worker->workers = workers;
		error = pthread_create(&worker->thread, NULL, pool_thread_main, worker);
		workers->count += error == 0;
	}
	workers->alive = workers->count;
	pthread_mutex_unlock(&workers->mutex);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return error == 0 ? DW_OK : DW_ESYS;
}

int workers_new(struct workers **ret_workers, const struct workers_env *env, size_t count)
{
	struct workers *workers;
	int status;

	assert(count > 0 && count <= WORKERS_MAX);
	workers = alloc_new(&env->alloc, sizeof *workers + count * sizeof workers->threads[0]);
	if (!workers)
		return DW_ENOMEM;
	workers->env = *env;
	(void)pthread_mutex_init(&workers->mutex, NULL); /* never fail without attributes */
	(void)pthread_cond_init(&workers->work, NULL);
	status = start_threads(workers, count);
	if (status != DW_OK) {
		int saved = errno;

		workers_stop(workers);
		(void)workers_free(workers); /* true: no handler was ever started */
		errno = saved;
		return status;
	}
	*ret_workers = workers;
	return DW_OK;
}

void workers_stop(struct workers *workers)
{
	struct job *job;

	pthread_mutex_lock(&workers->mutex);
	workers->stopping = true;
	job = workers->first;
	workers->first = workers->last = NULL;
	pthread_cond_broadcast(&workers->work);
	pthread_mutex_unlock(&workers->mutex);
	while (job) {
		struct job *next = (struct job *)job->post.next;

		posts_return(workers->env.posts, job);
		job = next;
	}
}

bool workers_free(struct workers *workers)
{
	pthread_mutex_lock(&workers->mutex);
	assert(workers->stopping);
	workers->given_away = workers->running > 0;
	for (size_t i = 0; workers->given_away && i < workers->count; i++)
		pthread_detach(workers->threads[i].thread);
	if (workers->given_away) { /* from now on the last thread that ends owns the workers */
		pthread_mutex_unlock(&workers->mutex);
		return false;
	}
	pthread_mutex_unlock(&workers->mutex);
	for (size_t i = 0; i < workers->count; i++)
		pthread_join(workers->threads[i].thread, NULL);
	destroy(workers);
	return true;
}
