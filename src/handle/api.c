/* The public API. Each function checks which thread calls it, and from where. Then the engine does
 * the call, or the call is queued for the handle's thread. dw_open and dw_close are in open.c. */
#include "durawheel/select.h"

#include <string.h>
#include <unistd.h>

#include "base/grown.h"
#include "base/message.h"
#include "base/usec.h"
#include "engine/call/arguments.h"
#include "engine/call/askers.h"
#include "handle/bulk.h"
#include "handle/handle.h"
#include "handle/where.h"

const char *dw_last_error(const dw *d)
{
	if (!d)
		return "the handle is NULL";
	if (d->pid != getpid())
		return dw_strerror(DW_EFORK);
	/* The handle's own thread may be changing the text now. */
	if (!handle_is_own_thread(d))
		return dw_strerror(DW_ETHREAD);
	return engine_error(d->engine);
}

/* ---- Handlers and timers ------------------------------------------------------------------- */

int dw_on(dw *d, const char *topic, dw_fire_fn fire, void *user)
{
	int status = handle_admit_with(d, topic, "the topic is NULL");

	return status == DW_OK ? engine_on(d->engine, topic, fire, user) : status;
}

int dw_on_worker(dw *d, const char *topic, dw_fire_fn fire, void *user)
{
	int status = handle_admit_with(d, topic, "the topic is NULL");

	return status == DW_OK ? engine_on_worker(d->engine, topic, fire, user) : status;
}

int dw_on_batch(dw *d, const char *topic, const dw_batch_options *options, dw_batch_fn fn,
		void *user)
{
	int status = handle_admit_with(d, topic, "the topic is NULL");

	return status == DW_OK ? engine_on_batch(d->engine, topic, options, fn, user) : status;
}

int dw_pause(dw *d)
{
	int status = handle_admit(d);

	if (status == DW_OK)
		engine_pause(d->engine, true);
	return status;
}

int dw_resume(dw *d)
{
	int status = handle_admit(d);

	if (status == DW_OK)
		engine_pause(d->engine, false);
	return status;
}

dw_usec dw_now(const dw *d)
{
	struct clock clock = d ? d->clock : clock_system();

	return clock.wall(clock.user);
}

int dw_put(dw *d, const dw_timer *timer, dw_done_fn done, void *user)
{
	struct request put = {.kind = REQUEST_PUT, .timer = timer, .done = {done, user}};

	return handle_ask(d, &put);
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

/* check_after checks the arguments of dw_after_id that dw_put does not check. */
static int check_after(const dw *d, const dw_timer *timer, dw_usec delay)
{
	char message[DW_MESSAGE_SIZE];
	int status = handle_admit(d);

	if (status != DW_OK && status != DW_ETHREAD)
		return status;
	if (delay < 0)
		return handle_refuse(d, DW_EINVAL, "the delay is negative");
	status = arguments_timer(timer, d->options.data_max_bytes, message);
	if (status == DW_OK && timer->rule)
		status = message_refuse(message, "a rule has no delay: use dw_put");
	return status == DW_OK ? DW_OK : handle_refuse(d, status, message);
}

int dw_after_id(dw *d, const dw_timer *timer, dw_usec delay, char *ret_id, dw_done_fn done,
		void *user)
{
	char id[DW_ID_SIZE];
	dw_timer put;
	int status = check_after(d, timer, delay);

	if (status != DW_OK)
		return status;
	put = *timer;
	put.size = sizeof put;
	put.due = usec_add(dw_now(d), delay);
	if (!put.id && ret_id)
		put.id = handle_make_id(d, id);
	status = dw_put(d, &put, done, user);
	if (status == DW_OK && ret_id)
		memcpy(ret_id, put.id, strlen(put.id) + 1);
	return status;
}

int dw_after(dw *d, const char *topic, const char *id, dw_usec delay, const void *data, size_t size)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = id, .topic = topic, .data = data, .data_size = size};

	return dw_after_id(d, &timer, delay, NULL, NULL, NULL);
}

int dw_cancel(dw *d, const char *id, dw_done_fn done, void *user)
{
	struct request cancel = {.kind = REQUEST_CANCEL, .id = id, .done = {done, user}};

	return handle_ask(d, &cancel);
}

int dw_put_many(dw *d, const dw_timer *timers, size_t count, dw_bulk_fn fn, void *user)
{
	struct bulk_list puts = {.kind = REQUEST_PUT, .timers = timers, .count = count};

	return bulk_ask(d, &puts, fn, user);
}

int dw_cancel_many(dw *d, const char *const *ids, size_t count, dw_bulk_fn fn, void *user)
{
	struct bulk_list cancels = {.kind = REQUEST_CANCEL, .ids = ids, .count = count};

	return bulk_ask(d, &cancels, fn, user);
}

int dw_move(dw *d, const char *id, dw_usec due, dw_done_fn done, void *user)
{
	struct request move = {.kind = REQUEST_MOVE, .id = id, .time = due, .done = {done, user}};

	return handle_ask(d, &move);
}

int dw_settle(dw *d, const dw_token *token, dw_verdict verdict, dw_usec retry_in, dw_done_fn done,
	      void *user)
{
	struct request settle = {.kind = REQUEST_SETTLE,
				 .token = token,
				 .verdict = verdict,
				 .time = retry_in,
				 .done = {done, user}};

	return handle_ask(d, &settle);
}

/* ---- Looking ------------------------------------------------------------------------------- */

int dw_get(dw *d, const char *id, dw_list_fn fn, void *user)
{
	int status = handle_admit_with(d, id && fn ? id : NULL, "the id or the callback is NULL");

	return status == DW_OK ? engine_get(d->engine, id, (struct lister){fn, user}) : status;
}

static int list(dw *d, const dw_select *select, const dw_cursor *after, size_t limit,
		struct lister lister)
{
	if (!lister.fn)
		return handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return engine_list(d->engine, select, after, limit, lister);
}

int dw_list(dw *d, const dw_select *select, const dw_cursor *after, size_t limit, dw_list_fn fn,
	    void *user)
{
	char message[DW_MESSAGE_SIZE];
	int status = handle_admit(d);

	if (status != DW_OK)
		return status;
	select = select ? select : &arguments_all;
	status = arguments_select(select, message);
	if (status != DW_OK)
		return handle_refuse(d, status, message);
	return list(d, select, after, limit, (struct lister){fn, user});
}

int dw_count_due(dw *d, const dw_usec *bounds, size_t count, dw_due_fn fn, void *user)
{
	char message[DW_MESSAGE_SIZE];
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		return handle_refuse(d, DW_EINVAL, "the callback is NULL");
	if (status != DW_OK)
		return status;
	status = arguments_bounds(bounds, count, message);
	if (status != DW_OK)
		return handle_refuse(d, status, message);
	return engine_count_due(d->engine, bounds, count, (struct due_asker){fn, user});
}

int dw_count(dw *d, const dw_select *select, dw_tally_fn fn, void *user)
{
	return where_begin(
	    d, &(struct where_list){select ? select : &arguments_all, fn, user, .cancels = false});
}

int dw_cancel_where(dw *d, const dw_select *select, dw_tally_fn fn, void *user)
{
	return where_begin(
	    d, &(struct where_list){select ? select : &arguments_all, fn, user, .cancels = true});
}

int dw_dead_list(dw *d, const dw_dead_select *select, const dw_cursor *after, size_t limit,
		 dw_dead_fn fn, void *user)
{
	char message[DW_MESSAGE_SIZE];
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	if (status != DW_OK)
		return status;
	select = select ? select : &arguments_all_letters;
	status = arguments_dead_select(select, message);
	if (status != DW_OK)
		return handle_refuse(d, status, message);
	return engine_dead_list(d->engine, select, after, limit, (struct dead_lister){fn, user});
}

int dw_dead_requeue(dw *d, const char *id, uint64_t generation, dw_usec due, dw_done_fn done,
		    void *user)
{
	int status = handle_admit_with(d, id, "the id is NULL");

	if (status != DW_OK)
		return status;
	return engine_dead_requeue(d->engine, id, generation, due,
				   (struct done){.fn = done, .user = user});
}

int dw_dead_drop(dw *d, const char *id, uint64_t generation, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !id && generation != 0)
		status =
		    handle_refuse(d, DW_EINVAL, "a generation without an id names no dead letter");
	if (status != DW_OK)
		return status;
	return engine_dead_drop(d->engine, id, generation, (struct done){.fn = done, .user = user});
}

int dw_purge(dw *d, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_purge(d->engine, (struct done){.fn = done, .user = user})
			       : status;
}

int dw_check(dw *d, dw_check_fn fn, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_check_store(d->engine, fn, user) : status;
}

int dw_get_stats(const dw *d, dw_stats *ret_stats)
{
	int status = handle_admit_look(d);

	if (status == DW_OK && !ret_stats)
		status = handle_refuse(d, DW_EINVAL, "the statistics are NULL");
	else if (status == DW_OK && grown_size_is_wrong(ret_stats->size, sizeof(size_t)))
		status = handle_refuse(d, DW_EINVAL, "stats.size is not sizeof(dw_stats)");
	if (status == DW_OK)
		engine_stats(d->engine, ret_stats);
	return status;
}

int dw_get_status(dw *d, dw_status_fn fn, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_status(d->engine, fn, user) : status;
}

/* ---- Driving ------------------------------------------------------------------------------- */

int dw_run(dw *d)
{
	int status = handle_admit_driver(d);

	if (status == DW_OK && d->options.ev_loop)
		status = handle_refuse(
		    d, DW_EINVAL, "the handle is on options.ev_loop: run that loop, with ev_run()");
	if (status == DW_OK && handle_has_test_clock(d))
		status = handle_refuse(
		    d, DW_EINVAL,
		    "the clock of the handle stands still: let dw_test_advance() move it");
	while (status == DW_OK && !loop_take_stop(d->loop)) {
		loop_sleep(d->loop, engine_next_firing(d->engine), d->options.spin_us);
		status = handle_turn(d);
	}
	return status;
}

void dw_stop(dw *d)
{
	/* A forked child shares the descriptors, so this would stop the parent. */
	if (d && d->pid == getpid())
		loop_stop(d->loop);
}

int dw_post(dw *d, dw_post_fn fn, void *arg)
{
	struct request run = {.kind = REQUEST_RUN, .fn = fn, .arg = arg};
	int status = handle_admit(d);

	if (status != DW_OK && status != DW_ETHREAD)
		return status;
	if (!fn)
		return handle_refuse(d, DW_EINVAL, "the function is NULL");
	status = posts_send(d->posts,
			    &run); /* even on the handle's thread this waits for a later turn */
	if (status == DW_OK || status == DW_ECLOSED)
		return status;
	return handle_refuse(d, status, "the queue of posted calls is full, or there is no memory");
}

int dw_fd(const dw *d)
{
	int status = handle_admit_look(d);

	return status == DW_OK ? loop_fd(d->loop) : status;
}

int dw_turn(dw *d)
{
	int status = handle_admit_driver(d);

	return status == DW_OK ? handle_turn(d) : status;
}

int dw_sync(dw *d, dw_usec patience)
{
	int status = handle_admit_driver(d);

	if (status != DW_OK)
		return status;
	status = handle_turn_until_settled(d, patience);
	if (status == DW_ETIMEOUT)
		return handle_refuse(d, DW_ETIMEOUT, "operations are still unanswered");
	if (status != DW_OK)
		return status;
	return engine_take_failure(d->engine);
}
