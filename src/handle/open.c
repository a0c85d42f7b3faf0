/* Opens and closes a handle. */
#include "durawheel/testing.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/usec.h"
#include "handle/handle.h"
#include "port/driven.h"

/* ---- Opening ------------------------------------------------------------------------------- */

static dw_usec store_now(void *user)
{
	const struct clock *clock = user;

	return clock->wall(clock->user);
}

static dw_usec store_steady(void *user)
{
	const struct clock *clock = user;

	return clock->steady(clock->user);
}

static bool handle_drain_posts(void *user)
{
	dw *d = user;

	return posts_drain(d->posts, d->engine);
}

/* port_of_workers returns the workers as the engine uses them. With DW_TEST_CLOCK there are no
 * threads, and the engine's thread does their work. */
static struct worker_port port_of_workers(const dw *d)
{
	if (handle_has_test_clock(d))
		return (struct worker_port){.count = d->options.workers};
	return workers_port(d->workers);
}

static int open_engine(dw *d)
{
	struct engine_env env = {.handle = d,
				 .alloc = d->alloc,
				 .clock = d->clock,
				 .loop = loop_port(d->loop),
				 .posts = {handle_drain_posts, d},
				 .workers = port_of_workers(d),
				 .role = d->options.role == DW_OWNER ? DW_OWNER : DW_CLIENT,
				 .standby =
				     d->options.role == DW_STANDBY || d->options.role == DW_PEER,
				 .is_peer = d->options.role == DW_PEER,
				 .unseen = handle_has_test_clock(d),
				 .fires_away = d->options.outage == DW_OUTAGE_FIRE,
				 .seed = handle_has_test_clock(d) ? 1 : rng_seed(),
				 .timers_max = d->options.timers_max,
				 .data_max = d->options.data_max_bytes,
				 .hold = d->options.hold_us,
				 .on_event = d->options.on_event,
				 .on_event_user = d->options.on_event_user,
				 .on_log = d->options.on_log,
				 .on_log_user = d->options.on_log_user,
				 .on_firing_done = d->options.on_firing_done,
				 .on_firing_done_user = d->options.on_firing_done_user};

	return engine_new(&d->engine, &env);
}

/* watch_store lets the loop watch the descriptor of a store that has no thread of its own. */
static int watch_store(dw *d, char *message)
{
	int fd = driven_descriptor(d->store);

	if (fd < 0 || loop_watch(d->loop, fd) == DW_OK)
		return DW_OK;
	(void)snprintf(message, DW_MESSAGE_SIZE, "the loop cannot watch the store: %s",
		       strerror(errno));
	/* No operation was submitted, so nothing is waited for. */
	(void)d->store->type->stop(d->store, 0);
	d->store->type->free(d->store);
	return DW_ESYS;
}

static int open_store(dw *d, const char *url, char *message)
{
	struct loop_port port = loop_port(d->loop);
	dw_store_env env = {.size = sizeof env,
			    .role = d->options.role,
			    .token = rng_seed() | 1,
			    .patience = d->options.open_patience_us,
			    .now = store_now,
			    .now_user = &d->clock,
			    .resize = d->alloc.resize,
			    .resize_user = d->alloc.user,
			    .log = d->options.on_log,
			    .log_user = d->options.on_log_user,
			    .wake = port.wake,
			    .wake_user = port.user,
			    .name = d->options.name,
			    .shards = d->options.shards,
			    .lease = d->options.lease_us,
			    .fires = d->options.outage == DW_OUTAGE_FIRE,
			    .existing = (d->options.flags & DW_EXISTING) != 0,
			    .steady = store_steady,
			    .steady_user = &d->clock};
	int status = options_open_store(url, d->options.journal, &env, &d->store, message);

	d->options.name = d->options.journal = NULL; /* the caller's strings are not kept */
	return status == DW_OK ? watch_store(d, message) : status;
}

static void free_handle(dw *d)
{
	struct alloc alloc = d->alloc;

	host_loop_free(d->host);
	engine_free(d->engine);
	metrics_free(d->metrics);
	if (d->posts)
		posts_free(d->posts);
	if (d->loop)
		loop_free(d->loop);
	alloc_free(&alloc, d);
}

/* last_out frees the handle when the last handler that has outlived dw_close() ends. */
static void last_out(dw *d)
{
	free_handle(d);
}

static int open_workers(dw *d, char *message)
{
	struct workers_env env = {.handle = d,
				  .alloc = d->alloc,
				  .clock = d->clock,
				  .posts = d->posts,
				  .last_out = last_out};
	int status;

	if (d->options.workers == 0 || d->options.role == DW_CLIENT || handle_has_test_clock(d))
		return DW_OK;
	status = workers_new(&d->workers, &env, d->options.workers);
	if (status == DW_ESYS)
		(void)snprintf(message, DW_MESSAGE_SIZE, "no threads for options.workers: %s",
			       strerror(errno));
	return status;
}

static int open_parts(dw *d, const char *url, char *message)
{
	int hooked = d->options.clock || handle_has_test_clock(d);
	int status = loop_new(&d->loop, &d->alloc, &d->clock, hooked);

	if (status == DW_ESYS)
		(void)snprintf(message, DW_MESSAGE_SIZE, "no descriptors for the loop: %s",
			       strerror(errno));
	if (status == DW_OK && d->options.ev_loop) {
		d->host = host_loop_new(&d->alloc, handle_turn, d);
		status = d->host ? DW_OK : DW_ENOMEM;
	}
	if (status == DW_OK) {
		struct loop_port port = loop_port(d->loop);

		status = posts_new(&d->posts, &d->alloc, &port, d->options.posted_max_bytes);
	}
	if (status == DW_OK)
		status = open_workers(d, message);
	if (status == DW_OK)
		status = open_engine(d);
	if (status == DW_OK)
		status = open_store(d, url, message);
	if (status != DW_OK)
		return status;
	engine_attach(d->engine, d->store);
	d->health = (int)engine_health(d->engine);
	if (d->host)
		host_loop_enter(d->host, d->options.ev_loop, loop_fd(d->loop));
	loop_begin(d->loop); /* opening may have waited for the store */
	return DW_OK;
}

int dw_open(dw **ret_dw, const dw_options *options, char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	struct alloc alloc = alloc_default();
	dw_options read;
	dw *d;
	int status;

	message[0] = '\0';
	if (!ret_dw || !options) {
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s is NULL",
			       ret_dw ? "options" : "ret_dw");
		return DW_EINVAL;
	}
	status = options_read(options, &read, message);
	if (status != DW_OK)
		return status;
	if (read.resize)
		alloc = (struct alloc){.resize = read.resize, .user = read.resize_user};
	d = alloc_new(&alloc, sizeof *d);
	if (!d) {
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s", dw_strerror(DW_ENOMEM));
		return DW_ENOMEM;
	}
	d->alloc = alloc;
	d->options = read;
	d->options.store = NULL; /* the caller's string may hold a password and is not kept */
	d->thread = pthread_self();
	d->pid = getpid();
	d->clock = clock_system();
	if (read.clock)
		clock_hook(&d->clock, read.clock, read.clock_user);
	if (handle_has_test_clock(d))
		d->clock = clock_standing(&d->test_now);
	d->test_now = DW_TEST_START;
	status = open_parts(d, read.store, message);
	if (status != DW_OK) {
		if (d->workers) {
			workers_stop(d->workers);
			(void)workers_free(
			    d->workers); /* frees them at once, because no handler has run */
		}
		if (message[0] == '\0')
			(void)snprintf(message, DW_MESSAGE_SIZE, "%s", dw_strerror(status));
		free_handle(d);
		return status;
	}
	*ret_dw = d;
	return DW_OK;
}

/* ---- Closing ------------------------------------------------------------------------------- */

/* stop_parts ends the calls, the workers and the store. It returns DW_ETIMEOUT if the store or a
 * handler has not ended in time. */
static int stop_parts(dw *d, dw_usec patience)
{
	dw_usec end = handle_patience_end(patience);
	int status;

	posts_shut(d->posts);
	if (d->workers)
		workers_stop(d->workers);
	engine_begin_close(d->engine);
	/* Handlers may use most of the time; the rest is for the store, which must close its file.
	 * Operations that are still open are answered by close_parts(). */
	(void)handle_turn_until_settled(d, usec_sub(patience, patience / 8));
	status = d->store->type->stop(d->store, handle_patience_left(end));
	return engine_is_running(d->engine) ? (int)DW_ETIMEOUT : status;
}

/* close_parts closes all parts of the handle. If an exception of a callback interrupts it, the next
 * dw_close() does the rest, but the store is stopped only once. */
static int close_parts(dw *d, dw_usec patience)
{
	int fd = driven_descriptor(d->store);

	if (!d->stopped)
		d->stop_status = stop_parts(d, patience);
	d->stopped = 1;
	engine_abandon(d->engine);
	posts_abandon(d->posts, d->engine);
	if (fd >= 0)
		loop_unwatch(d->loop, fd);
	d->store->type->free(d->store);
	return d->stop_status;
}

/* forget closes a forked child's copy of the handle. Another thread of the parent may have been
 * using the store, the posts, or (if another thread forked) the engine at the moment of the fork.
 * So these parts are not even freed. */
static int forget(dw *d)
{
	struct alloc alloc = d->alloc;
	bool own = handle_is_own_thread(d);

	if (own) {
		host_loop_free(d->host);
		engine_free(d->engine);
		metrics_free(d->metrics);
	}
	loop_free(d->loop);
	if (own)
		alloc_free(&alloc, d);
	return DW_OK;
}

int dw_close(dw *d, dw_usec patience)
{
	int status;

	if (!d)
		return DW_OK;
	if (d->pid != getpid())
		return forget(d);
	status = handle_admit_driver(d);
	if (status != DW_OK &&
	    status != DW_ECLOSED) /* an exception interrupted an earlier dw_close() */
		return status;
	d->closing = 1;
	atomic_store(&d->health, (int)HEALTH_CLOSES);
	status = close_parts(d, patience);
	host_loop_free(d->host);
	engine_free(d->engine);
	d->host = NULL;
	d->engine = NULL;
	/* A handler that still runs may use the handle. The last such handler frees it. */
	if (d->workers && !workers_free(d->workers))
		return DW_ETIMEOUT;
	free_handle(d);
	return status;
}
