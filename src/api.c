/* The public API: checks who calls from where; then the engine does it, or the call is left for the
 * handle's thread. */
#include "durawheel/durawheel.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/usec.h"
#include "engine/engine.h"
#include "loop/guest.h"
#include "loop/loop.h"
#include "options.h"
#include "posts.h"
#include "workers.h"

struct dw {
	struct alloc alloc;
	struct clock clock;
	struct loop *loop;
	struct guest *guest; /* on options.ev_loop, or NULL */
	struct engine *engine;
	dw_store *store;
	struct posts *posts;
	struct workers *workers; /* NULL: none */
	dw_options options;
	pthread_t thread;
	pid_t pid;
	int closing;
	const char *misuse; /* the last failure, when it was one of this file's checks */
};

/* ---- Checks -------------------------------------------------------------------------------- */

static int is_own_thread(const dw *d)
{
	return pthread_equal(d->thread, pthread_self());
}

/* refuse_elsewhere: the last error is the handle's thread's; what another one did wrong is said in
 * the log. */
static int refuse_elsewhere(const dw *d, int status, const char *why)
{
	char line[DW_MESSAGE_SIZE];

	(void)snprintf(line, sizeof line, "a call from another thread is refused: %.190s", why);
	if (d->options.on_log)
		d->options.on_log(DW_LOG_WARN, line, d->options.on_log_user);
	return status;
}

/* refuse answers for a failure that the engine knows nothing of. */
static int refuse(dw *d, int status, const char *why)
{
	if (!is_own_thread(d))
		return refuse_elsewhere(d, status, why);
	d->misuse = why;
	return status;
}

/* admit lets the handle's own thread of its own process in. */
static int admit(dw *d)
{
	if (!d)
		return DW_EINVAL;
	if (d->pid != getpid())
		return DW_EFORK;
	if (!is_own_thread(d))
		return DW_ETHREAD;
	d->misuse = NULL;
	if (d->closing)
		return refuse(d, DW_ECLOSED, "the handle is being closed");
	return DW_OK;
}

static int admit_with(dw *d, const void *argument, const char *why)
{
	int status = admit(d);

	if (status == DW_OK && !argument)
		return refuse(d, DW_EINVAL, why);
	return status;
}

/* admit_driver: what turns must not be called from a callback of a turn. */
static int admit_driver(dw *d)
{
	int status = admit(d);

	/* While it is being closed every call comes from a callback. */
	if (status == DW_ECLOSED || (status == DW_OK && engine_in_callback(d->engine)))
		return refuse(d, DW_EBUSY, "not from inside a callback");
	return status;
}

/* ask does what any thread may ask for: at once on the handle's thread; from another one it is left
 * for that thread's next turn. */
static int ask(dw *d, const struct request *request)
{
	char message[DW_MESSAGE_SIZE];
	const char *wrong;
	int status = admit(d);

	if (status == DW_ETHREAD) {
		status = request_check(request, d->options.data_max_bytes, message);
		return status == DW_OK ? posts_send(d->posts, request)
				       : refuse_elsewhere(d, status, message);
	}
	if (status != DW_OK)
		return status;
	wrong = request_wrong(request);
	return wrong ? refuse(d, DW_EINVAL, wrong) : request_do(request, d->engine);
}

const char *dw_last_error(const dw *d)
{
	if (!d)
		return "the handle is NULL";
	if (d->pid != getpid())
		return dw_strerror(DW_EFORK);
	/* The text is being written over by the handle's own thread. */
	if (!is_own_thread(d))
		return dw_strerror(DW_ETHREAD);
	return d->misuse ? d->misuse : engine_error(d->engine);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static dw_usec store_now(void *user)
{
	const struct clock *clock = user;

	return clock->wall(clock->user);
}

static bool drain_posts(void *user)
{
	dw *d = user;

	return posts_drain(d->posts, d->engine);
}

static int open_engine(dw *d)
{
	struct engine_env env = {.handle = d,
				 .alloc = d->alloc,
				 .clock = d->clock,
				 .loop = loop_port(d->loop),
				 .posts = {drain_posts, d},
				 .workers = workers_port(d->workers),
				 .role = d->options.role == DW_OWNER ? DW_OWNER : DW_CLIENT,
				 .standby = d->options.role == DW_STANDBY,
				 .seed = rng_seed(),
				 .timers_max = d->options.timers_max,
				 .data_max = d->options.data_max_bytes,
				 .hold = d->options.hold_us,
				 .on_event = d->options.on_event,
				 .on_event_user = d->options.on_event_user};

	return engine_new(&d->engine, &env);
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
			    .wake_user = port.user};

	return options_open_store(url, &env, &d->store, message);
}

static void free_handle(dw *d)
{
	struct alloc alloc = d->alloc;

	guest_free(d->guest);
	engine_free(d->engine);
	if (d->posts)
		posts_free(d->posts);
	if (d->loop)
		loop_free(d->loop);
	alloc_free(&alloc, d);
}

/* turn: DW_OK, or DW_EFORK: a loop goes on in a forked child, where nothing may. */
static int turn(void *user)
{
	dw *d = user;

	if (d->pid != getpid())
		return DW_EFORK;
	/* A callback may run the caller's loop. What woke us must wait then, not be forgotten. */
	if (engine_in_callback(d->engine))
		return DW_OK;
	loop_drain(d->loop);
	return engine_turn(d->engine);
}

/* last_out frees what dw_close() has left to the handlers that outlive it. */
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

	if (d->options.workers == 0 || d->options.role != DW_OWNER)
		return DW_OK;
	status = workers_new(&d->workers, &env, d->options.workers);
	if (status == DW_ESYS)
		(void)snprintf(message, DW_MESSAGE_SIZE, "no threads for options.workers: %s",
			       strerror(errno));
	return status;
}

static int open_parts(dw *d, const char *url, char *message)
{
	int hooked = d->options.clock != NULL;
	int status = loop_new(&d->loop, &d->alloc, &d->clock, hooked);

	if (status == DW_ESYS)
		(void)snprintf(message, DW_MESSAGE_SIZE, "no descriptors for the loop: %s",
			       strerror(errno));
	if (status == DW_OK && d->options.ev_loop) {
		d->guest = guest_new(&d->alloc, turn, d);
		status = d->guest ? DW_OK : DW_ENOMEM;
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
	if (d->guest)
		guest_enter(d->guest, d->options.ev_loop, loop_fd(d->loop));
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
	status = open_parts(d, read.store, message);
	if (status != DW_OK) {
		if (d->workers) {
			workers_stop(d->workers);
			(void)workers_free(d->workers); /* true: no handler was ever started */
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

/* turn_until_settled: DW_OK; DW_ETIMEOUT after patience; DW_EFORK: a handler forked, and this is
 * the child. */
static int turn_until_settled(dw *d, dw_usec patience)
{
	dw_usec end = usec_add(d->clock.steady(d->clock.user), usec_max(patience, 0));

	if (turn(d) != DW_OK)
		return DW_EFORK;
	while (!engine_settled(d->engine) || !posts_idle(d->posts)) {
		dw_usec left = usec_sub(end, d->clock.steady(d->clock.user));

		if (left <= 0)
			return DW_ETIMEOUT;
		loop_wait(d->loop, left);
		if (turn(d) != DW_OK)
			return DW_EFORK;
	}
	return DW_OK;
}

/* close_parts: DW_ETIMEOUT: the store or a handler has not ended in time. */
static int close_parts(dw *d, dw_usec patience)
{
	dw_usec end = usec_add(d->clock.steady(d->clock.user), usec_max(patience, 0));
	int status;

	posts_shut(d->posts);
	if (d->workers)
		workers_stop(d->workers);
	engine_begin_close(d->engine);
	/* Handlers may use up all they are given; the store needs a little to leave its file. What
	 * is left is answered below. */
	(void)turn_until_settled(d, usec_sub(patience, patience / 8));
	status = d->store->type->stop(d->store,
				      usec_max(usec_sub(end, d->clock.steady(d->clock.user)), 0));
	if (engine_is_running(d->engine))
		status = DW_ETIMEOUT;
	engine_abandon(d->engine);
	posts_abandon(d->posts, d->engine);
	d->store->type->free(d->store);
	return status;
}

/* forget is the closing of a forked child's copy. What other threads of the parent may have had
 * their hands on at the fork is not touched, be it only to free it: the store, the posts, and the
 * engine if it was not its own thread that forked. */
static int forget(dw *d)
{
	struct alloc alloc = d->alloc;
	bool own = is_own_thread(d);

	if (own) {
		guest_free(d->guest);
		engine_free(d->engine);
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
	status = admit_driver(d);
	if (status != DW_OK)
		return status;
	d->closing = 1;
	status = close_parts(d, patience);
	guest_free(d->guest);
	engine_free(d->engine);
	d->guest = NULL;
	d->engine = NULL;
	/* A handler that still runs may call: the last one out frees the handle. */
	if (d->workers && !workers_free(d->workers))
		return DW_ETIMEOUT;
	free_handle(d);
	return status;
}

/* ---- Handlers and timers ------------------------------------------------------------------- */

int dw_on(dw *d, const char *topic, dw_fire_fn fire, void *user)
{
	int status = admit_with(d, topic, "the topic is NULL");

	return status == DW_OK ? engine_on(d->engine, topic, fire, user) : status;
}

int dw_on_worker(dw *d, const char *topic, dw_fire_fn fire, void *user)
{
	int status = admit_with(d, topic, "the topic is NULL");

	return status == DW_OK ? engine_on_worker(d->engine, topic, fire, user) : status;
}

int dw_retry_in(dw *d, dw_usec delay)
{
	int status = admit(d);

	if (status == DW_ETHREAD && d->workers) {
		if (delay < 0)
			return refuse(d, DW_EINVAL, "the delay is negative");
		return workers_retry_in(d->workers, delay);
	}
	return status == DW_OK ? engine_retry_in(d->engine, delay) : status;
}

int dw_pause(dw *d)
{
	int status = admit(d);

	if (status == DW_OK)
		engine_pause(d->engine, true);
	return status;
}

int dw_resume(dw *d)
{
	int status = admit(d);

	if (status == DW_OK)
		engine_pause(d->engine, false);
	return status;
}

int dw_put(dw *d, const dw_timer *timer, dw_done_fn done, void *user)
{
	struct request put = {.kind = REQUEST_PUT, .timer = timer, .done = {done, user}};

	return ask(d, &put);
}

int dw_at(dw *d, const char *topic, const char *id, dw_usec due, const void *data, size_t size)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = topic,
			  .due = due,
			  .data = data,
			  .data_size = size};

	return dw_put(d, &timer, NULL, NULL);
}

int dw_after(dw *d, const char *topic, const char *id, dw_usec delay, const void *data, size_t size)
{
	int status = admit(d);

	if (status != DW_OK && status != DW_ETHREAD)
		return status;
	if (delay < 0)
		return refuse(d, DW_EINVAL, "the delay is negative");
	return dw_at(d, topic, id, usec_add(d->clock.wall(d->clock.user), delay), data, size);
}

int dw_cancel(dw *d, const char *id, dw_done_fn done, void *user)
{
	struct request cancel = {.kind = REQUEST_CANCEL, .id = id, .done = {done, user}};

	return ask(d, &cancel);
}

int dw_move(dw *d, const char *id, dw_usec due, dw_done_fn done, void *user)
{
	struct request move = {.kind = REQUEST_MOVE, .id = id, .time = due, .done = {done, user}};

	return ask(d, &move);
}

int dw_settle(dw *d, const dw_token *token, dw_verdict verdict, dw_usec retry_in, dw_done_fn done,
	      void *user)
{
	struct request settle = {.kind = REQUEST_SETTLE,
				 .token = token,
				 .verdict = verdict,
				 .time = retry_in,
				 .done = {done, user}};

	return ask(d, &settle);
}

/* ---- Looking ------------------------------------------------------------------------------- */

int dw_get(dw *d, const char *id, dw_list_fn fn, void *user)
{
	int status = admit_with(d, id && fn ? id : NULL, "the id or the callback is NULL");

	return status == DW_OK ? engine_get(d->engine, id, (struct lister){fn, user}) : status;
}

int dw_list(dw *d, const char *topic, const dw_cursor *after, size_t limit, dw_list_fn fn,
	    void *user)
{
	int status = admit(d);

	if (status == DW_OK && !fn)
		status = refuse(d, DW_EINVAL, "the callback is NULL");
	if (status != DW_OK)
		return status;
	return engine_list(d->engine, topic, after, limit, (struct lister){fn, user});
}

int dw_dead_list(dw *d, const char *topic, const dw_cursor *after, size_t limit, dw_dead_fn fn,
		 void *user)
{
	int status = admit(d);

	if (status == DW_OK && !fn)
		status = refuse(d, DW_EINVAL, "the callback is NULL");
	if (status != DW_OK)
		return status;
	return engine_dead_list(d->engine, topic, after, limit, (struct dead_lister){fn, user});
}

int dw_dead_requeue(dw *d, const char *id, uint64_t generation, dw_usec due, dw_done_fn done,
		    void *user)
{
	int status = admit_with(d, id, "the id is NULL");

	if (status != DW_OK)
		return status;
	return engine_dead_requeue(d->engine, id, generation, due,
				   (struct done){.fn = done, .user = user});
}

int dw_dead_drop(dw *d, const char *id, uint64_t generation, dw_done_fn done, void *user)
{
	int status = admit(d);

	if (status == DW_OK && !id && generation != 0)
		status = refuse(d, DW_EINVAL, "a generation without an id names no dead letter");
	if (status != DW_OK)
		return status;
	return engine_dead_drop(d->engine, id, generation, (struct done){.fn = done, .user = user});
}

int dw_purge(dw *d, dw_done_fn done, void *user)
{
	int status = admit(d);

	return status == DW_OK ? engine_purge(d->engine, (struct done){.fn = done, .user = user})
			       : status;
}

int dw_check(dw *d, dw_check_fn fn, void *user)
{
	int status = admit(d);

	if (status == DW_OK && !fn)
		status = refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_check_store(d->engine, fn, user) : status;
}

int dw_get_stats(const dw *d, dw_stats *ret_stats)
{
	if (!d || !ret_stats || ret_stats->size < sizeof(size_t))
		return DW_EINVAL;
	if (d->pid != getpid())
		return DW_EFORK;
	if (!is_own_thread(d))
		return DW_ETHREAD;
	engine_stats(d->engine, ret_stats);
	return DW_OK;
}

int dw_count(const dw *d, const char *topic, uint64_t *ret_count)
{
	if (!d || !ret_count)
		return DW_EINVAL;
	if (d->pid != getpid())
		return DW_EFORK;
	if (!is_own_thread(d))
		return DW_ETHREAD;
	return engine_is_owner(d->engine) ? engine_count(d->engine, topic, ret_count) : DW_EROLE;
}

int dw_get_status(dw *d, dw_status_fn fn, void *user)
{
	int status = admit(d);

	if (status == DW_OK && !fn)
		status = refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_status(d->engine, fn, user) : status;
}

/* ---- Driving ------------------------------------------------------------------------------- */

int dw_run(dw *d)
{
	int status = admit_driver(d);

	if (status == DW_OK && d->options.ev_loop)
		status = refuse(d, DW_EINVAL,
				"the handle is on options.ev_loop: run that loop, with ev_run()");
	while (status == DW_OK && !loop_take_stop(d->loop)) {
		loop_sleep(d->loop, engine_next_firing(d->engine), d->options.spin_us);
		status = turn(d);
	}
	return status;
}

void dw_stop(dw *d)
{
	if (d && d->pid == getpid()) /* a child's would stop its parent */
		loop_stop(d->loop);
}

int dw_post(dw *d, dw_post_fn fn, void *arg)
{
	struct request run = {.kind = REQUEST_RUN, .fn = fn, .arg = arg};
	int status = admit(d);

	if (status != DW_OK && status != DW_ETHREAD)
		return status;
	if (!fn)
		return refuse(d, DW_EINVAL, request_wrong(&run));
	status = posts_send(d->posts, &run); /* from its own thread, too: for a later turn */
	if (status == DW_OK || status == DW_ECLOSED)
		return status;
	return refuse(d, status, "the queue of posted calls is full, or there is no memory");
}

int dw_fd(const dw *d)
{
	if (!d)
		return DW_EINVAL;
	if (d->pid != getpid())
		return DW_EFORK;
	return is_own_thread(d) ? loop_fd(d->loop) : DW_ETHREAD;
}

int dw_turn(dw *d)
{
	int status = admit_driver(d);

	return status == DW_OK ? turn(d) : status;
}

int dw_sync(dw *d, dw_usec patience)
{
	int status = admit_driver(d);

	if (status != DW_OK)
		return status;
	status = turn_until_settled(d, patience);
	if (status == DW_ETIMEOUT)
		return refuse(d, DW_ETIMEOUT, "operations are still unanswered");
	if (status != DW_OK)
		return status;
	return engine_take_failure(d->engine);
}
