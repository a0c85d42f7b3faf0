/* Each allocation of the library fails once, alone or with all later ones, while a program uses
 * every call. Nothing crashes or leaks, each failure is DW_ENOMEM, and each accepted operation is
 * answered exactly once and correctly. With memory again, the handle works as if nothing had
 * happened.
 *
 * The scenario is run with the 1st, 2nd, 3rd ... allocation failing, until no allocation fails in
 * it. The clock is the test's, so that a pause costs nothing. */
#include "support/cmocka.h"

#include <ev.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/ended.h"
#include "durawheel/select.h"
#include "support/seen.h"
#include "support/shortage.h"
#include "support/temp.h"

enum { NOT_ASKED = INT_MAX, STEP_US = 10000, STEPS_MAX = 20000 };

/* The operations of the program. Operations with an id are puts. */
enum { AFTER, AT, PUT, FRESH, MADE, HELD, AGAIN, FAR, TWICE, GONE, PUTS };
enum { CANCEL = PUTS, REPLACE, SETTLE, GET, ENDED, LETTER, LIST, STATUS, ASKED };

static const char *const put_ids[PUTS] = {"after", "at",    "put", "fresh", NULL,
					  "held",  "again", "far", "twice", "gone"};

struct operation {
	int asked; /* the status that the call returned */
	int answers;
	int status; /* the status of the answer */
	int starts;
	char id[DW_ID_MAX + 1];
};

struct sweep {
	struct shortage shortage;
	const char *url;
	int crowd; /* the number of timers that stay */
	atomic_llong clock;
	dw *d;
	dw_role role;
	dw_token held;
	struct operation operations[ASKED];
};

static void name(struct operation *operation, const char *id)
{
	(void)snprintf(operation->id, sizeof operation->id, "%s", id);
}

static dw_usec read_clock(void *user)
{
	return atomic_load((atomic_llong *)user);
}

/* ---- What is heard ------------------------------------------------------------------------- */

static struct operation *put_of(struct sweep *sweep, const char *id)
{
	for (int i = 0; i < PUTS; i++)
		if (strcmp(sweep->operations[i].id, id) == 0)
			return &sweep->operations[i];
	fail_msg("%s starts, which nobody put", id);
	return sweep->operations;
}

/* expect_said checks that a text was stored, or that there was no memory for it. */
static void expect_said(int status)
{
	assert_true(status == DW_OK || status == DW_ENOMEM);
}

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	struct sweep *sweep = user;
	struct operation *put = put_of(sweep, firing->id);

	put->starts++;
	if (put == &sweep->operations[HELD]) {
		sweep->held = *firing->token;
		expect_said(dw_set_why(d, firing->token, "it waits"));
		expect_said(dw_set_result(d, firing->token, "result", 6));
		return DW_HOLD;
	}
	expect_said(dw_set_result(d, NULL, "found", 5));
	if (put != &sweep->operations[AGAIN] || firing->attempt > 1)
		return DW_DONE;
	assert_int_equal(dw_retry_in(d, 1), DW_OK);
	expect_said(dw_set_why(d, NULL, "it failed"));
	return DW_RETRY;
}

static void heard(struct operation *operation, int status)
{
	operation->answers++;
	operation->status = status;
}

static void done(dw *d, const dw_result *result, void *user)
{
	struct operation *operation = user;

	(void)d;
	heard(operation, result->status);
	name(operation, result->id);
}

static void page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		 void *user)
{
	(void)d;
	(void)next;
	heard(user, status);
	assert_true(status == DW_OK || (!timers && count == 0));
}

static void end_of(dw *d, int status, const dw_ended *ended, void *user)
{
	(void)d;
	heard(user, status);
	assert_true((status == DW_OK) == (ended != NULL));
}

static void letter_of(dw *d, int status, const dw_dead *letter, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)d;
	(void)next;
	heard(user, status);
	assert_true(status != DW_OK && !letter && count == 0);
}

static void status_of(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	heard(user, status);
	assert_true((status == DW_OK) == (store != NULL));
}

/* event records the failure of calls without a callback. */
static void event(dw *d, const dw_event *event, void *user)
{
	static const int silent[] = {AFTER, AT, REPLACE};
	struct sweep *sweep = user;

	(void)d;
	for (size_t i = 0; event->kind == DW_EVENT_FAILED && i < 3; i++)
		if (strcmp(sweep->operations[silent[i]].id, event->id) == 0)
			heard(&sweep->operations[silent[i]], event->status);
}

/* ---- What is asked ------------------------------------------------------------------------- */

/* asked records the result of a call, which must be DW_OK or DW_ENOMEM. DW_ENOMEM must come with a
 * message. */
static void asked(struct sweep *sweep, int which, int status)
{
	if (status != DW_OK && status != DW_ENOMEM)
		fail_msg("operation %d is answered %d", which, status);
	if (status == DW_ENOMEM)
		assert_non_null(strstr(dw_last_error(sweep->d), "no memory"));
	sweep->operations[which].asked = status;
}

static void put_full(struct sweep *sweep, int which, const char *topic, dw_usec delay)
{
	struct operation *operation = &sweep->operations[which];
	dw_timer timer = {.size = sizeof timer,
			  .id = put_ids[which],
			  .topic = topic,
			  .due = read_clock(&sweep->clock) + delay,
			  .data = "data",
			  .data_size = 4,
			  .flags = which == FRESH ? DW_NEW : 0,
			  .keep_us = DW_DAYS(1)};

	asked(sweep, which, dw_put(sweep->d, &timer, done, operation));
}

static void put_all(struct sweep *sweep)
{
	dw_usec now = read_clock(&sweep->clock);

	asked(sweep, AFTER, dw_after(sweep->d, "t", "after", STEP_US, NULL, 0));
	asked(sweep, AT, dw_at(sweep->d, "topic of its own", "at", now, "x", 1));
	put_full(sweep, PUT, "t", STEP_US * 3);
	put_full(sweep, FRESH, "t", 0);
	put_full(sweep, MADE, "t", STEP_US * 2);
	put_full(sweep, HELD, "t", 0);
	put_full(sweep, AGAIN, "t", STEP_US);
	put_full(sweep, FAR, "t", DW_DAYS(1));
	put_full(sweep, TWICE, "t", DW_DAYS(2));
	put_full(sweep, GONE, "t", DW_DAYS(3));
}

static void listen(struct sweep *sweep)
{
	int one = dw_on(sweep->d, "t", start, sweep);
	int any = dw_on(sweep->d, "*", start, sweep);

	if (sweep->role == DW_CLIENT)
		return;
	assert_true(one == DW_OK || one == DW_ENOMEM);
	assert_int_equal(any, DW_OK); /* this needs no memory */
}

static void settle(struct sweep *sweep)
{
	struct operation *operation = &sweep->operations[SETTLE];

	if (sweep->held.generation == 0 || operation->asked == DW_OK)
		return;
	asked(sweep, SETTLE, dw_settle(sweep->d, &sweep->held, DW_DONE, -1, done, operation));
}

static void ask_all(struct sweep *sweep)
{
	struct operation *operations = sweep->operations;
	dw_stats stats = {.size = sizeof stats};

	asked(sweep, CANCEL, dw_cancel(sweep->d, "gone", done, &operations[CANCEL]));
	asked(sweep, REPLACE, dw_at(sweep->d, "t", "twice", DW_NEVER, NULL, 0));
	settle(sweep);
	asked(sweep, GET, dw_get(sweep->d, "far", page, &operations[GET]));
	asked(sweep, ENDED, dw_ended_get(sweep->d, "put", end_of, &operations[ENDED]));
	asked(sweep, LETTER,
	      dw_dead_list(sweep->d, &(dw_dead_select){.size = sizeof(dw_dead_select), .id = "put"},
			   NULL, 1, letter_of, &operations[LETTER]));
	asked(sweep, LIST, dw_list(sweep->d, NULL, NULL, 1000, page, &operations[LIST]));
	asked(sweep, STATUS, dw_get_status(sweep->d, status_of, &operations[STATUS]));
	assert_int_equal(dw_get_stats(sweep->d, &stats), DW_OK);
	assert_int_equal(stats.is_owner, sweep->role == DW_OWNER);
	(void)dw_sync(sweep->d, 0); /* whatever it returns, it must return */
}

/* ---- Time ---------------------------------------------------------------------------------- */

/* settled returns true if no operation is under way in the store. */
static bool settled(const struct sweep *sweep)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(sweep->d, &stats), DW_OK);
	return stats.inflight == 0;
}

/* pass lets some steps pass. Operations that begin in a step are answered within it. */
static void pass(struct sweep *sweep, int steps)
{
	struct pollfd fd = {.fd = dw_fd(sweep->d), .events = POLLIN};

	for (; steps > 0; steps--) {
		atomic_fetch_add(&sweep->clock, STEP_US);
		assert_int_equal(dw_turn(sweep->d), DW_OK);
		while (!settled(sweep)) {
			assert_true(poll(&fd, 1, 20000) > 0);
			assert_int_equal(dw_turn(sweep->d), DW_OK);
		}
	}
}

/* drain lets time pass until `wanted` timers are left. */
static void drain(struct sweep *sweep, uint64_t wanted)
{
	dw_stats stats = {.size = sizeof stats};
	int steps = 0;

	do {
		pass(sweep, 1);
		settle(sweep);
		assert_int_equal(dw_get_stats(sweep->d, &stats), DW_OK);
		if (++steps == STEPS_MAX)
			fail_msg("%d timers are left, not %d", (int)stats.timers, (int)wanted);
	} while (stats.recovering || stats.timers != wanted);
	assert_int_not_equal(dw_sync(sweep->d, PATIENCE), DW_ETIMEOUT);
}

/* ---- What it must come to ------------------------------------------------------------------ */

static bool is_stored(const struct operation *put)
{
	return put->asked == DW_OK && put->status == DW_OK;
}

/* check_answers checks that each accepted operation was answered once. Calls without a callback are
 * answered only if they failed. */
static void check_answers(const struct sweep *sweep)
{
	for (int i = 0; i < ASKED; i++) {
		const struct operation *operation = &sweep->operations[i];
		bool silent = i == AFTER || i == AT || i == REPLACE;
		int status = operation->status;

		if (operation->asked != DW_OK)
			assert_int_equal(operation->answers, 0);
		else if (!silent)
			assert_int_equal(operation->answers, 1);
		if (operation->answers > 0 && i < PUTS)
			assert_true(status == DW_OK || status == DW_ENOMEM);
		else if (operation->answers > 0)
			assert_true(status == DW_OK || status == DW_ENOMEM || status == DW_ENOENT);
	}
}

static void check_starts(const struct sweep *sweep)
{
	for (int i = 0; i < FAR; i++) {
		const struct operation *put = &sweep->operations[i];
		int wanted = is_stored(put) ? 1 + (i == AGAIN) : 0;

		if (put->starts != wanted)
			fail_msg("%s (asked %d, answered %d) starts %d times, not %d", put->id,
				 put->asked, put->status, put->starts, wanted);
	}
}

/* far_left returns how many of the timers with far deadlines must be there. */
static uint64_t far_left(const struct sweep *sweep)
{
	const struct operation *operations = sweep->operations;
	const struct operation *cancel = &operations[CANCEL];
	const struct operation *replace = &operations[REPLACE];
	bool gone = cancel->asked == DW_OK && cancel->status == DW_OK;
	bool replaced = replace->asked == DW_OK && replace->answers == 0;

	return (uint64_t)is_stored(&operations[FAR]) +
	       (uint64_t)(is_stored(&operations[TWICE]) || replaced) +
	       (uint64_t)(is_stored(&operations[GONE]) && !gone);
}

static void nothing_left(dw *d, int status, const dw_info *timers, size_t count,
			 const dw_cursor *next, void *user)
{
	(void)d;
	(void)timers;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 0);
	*(bool *)user = true;
}

/* check_usable checks that, with memory again, timers can be put, fired and cancelled, and that the
 * store is as empty as the engine says. */
static void check_usable(struct sweep *sweep)
{
	static const char *const far_ids[] = {"far", "twice", "gone"};
	struct operation *put = &sweep->operations[PUT];
	bool listed = false;

	*put = (struct operation){.status = NOT_ASKED};
	name(put, put_ids[PUT]);
	put_full(sweep, PUT, "t", 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dw_cancel(sweep->d, far_ids[i], NULL, NULL), DW_OK);
	drain(sweep, 0);
	assert_int_equal(put->status, DW_OK);
	assert_int_equal(put->starts, 1);
	assert_int_equal(dw_list(sweep->d, NULL, NULL, 1000, nothing_left, &listed), DW_OK);
	assert_int_not_equal(dw_sync(sweep->d, PATIENCE), DW_ETIMEOUT);
	assert_true(listed);
}

/* ---- The sweep ----------------------------------------------------------------------------- */

static int open_sweep(struct sweep *sweep, const char *url)
{
	char message[DW_MESSAGE_SIZE];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = sweep->role,
			      .on_event = event,
			      .on_event_user = sweep,
			      .clock = read_clock,
			      .clock_user = &sweep->clock,
			      .resize = shortage_resize,
			      .resize_user = &sweep->shortage};
	int status = dw_open(&sweep->d, &options, message);

	if (status == DW_OK)
		return DW_OK;
	assert_int_equal(status, DW_ENOMEM);
	assert_string_equal(message, "out of memory");
	assert_null(sweep->d);
	return status;
}

/* fill puts timers that stay, before any allocation fails, so that tables of the engine grow during
 * the calls. */
static void fill(struct sweep *sweep, int crowd)
{
	for (int i = 0; i < crowd; i++)
		assert_int_equal(dw_at(sweep->d, "crowd", NULL, DW_NEVER, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(sweep->d, PATIENCE), DW_OK);
}

static void use(struct sweep *sweep)
{
	listen(sweep);
	put_all(sweep);
	pass(sweep, 6);
	ask_all(sweep);
	pass(sweep, 6);
	shortage_end(&sweep->shortage);
	if (sweep->role == DW_OWNER)
		return;
	/* A client has only written. An owner must find everything that it wrote. */
	assert_int_not_equal(dw_sync(sweep->d, PATIENCE), DW_ETIMEOUT);
	check_answers(sweep);
	assert_int_equal(dw_close(sweep->d, PATIENCE), DW_OK);
	sweep->role = DW_OWNER;
	assert_int_equal(open_sweep(sweep, sweep->url), DW_OK);
}

static void check(struct sweep *sweep)
{
	listen(sweep);
	drain(sweep, (uint64_t)sweep->crowd + far_left(sweep));
	check_answers(sweep);
	check_starts(sweep);
	if (sweep->crowd == 0)
		check_usable(sweep);
	assert_int_equal(dw_close(sweep->d, PATIENCE), DW_OK);
}

/* sweep_once returns false if the scenario did not reach the allocation. */
static bool sweep_once(const struct sweep *kind, size_t nth, bool always)
{
	struct sweep sweep = *kind;

	if (sweep.crowd == 0)
		shortage_begin(&sweep.shortage, nth, always);
	atomic_store(&sweep.clock, DW_SECONDS(1700000000));
	for (int i = 0; i < ASKED; i++)
		sweep.operations[i] = (struct operation){.asked = NOT_ASKED};
	for (int i = 0; i < PUTS; i++)
		if (put_ids[i])
			name(&sweep.operations[i], put_ids[i]);
	name(&sweep.operations[REPLACE], "twice");
	if (open_sweep(&sweep, sweep.url) == DW_OK) {
		fill(&sweep, sweep.crowd);
		if (sweep.crowd > 0)
			shortage_begin(&sweep.shortage, nth, always);
		use(&sweep);
		check(&sweep);
	}
	if (sweep.shortage.blocks != 0)
		fail_msg("%zu blocks are leaked", sweep.shortage.blocks);
	return shortage_failed(&sweep.shortage);
}

static void sweep_store(const char *url, dw_role role, int crowd)
{
	struct sweep kind = {.shortage = SHORTAGE_NONE, .url = url, .role = role, .crowd = crowd};
	size_t nth = 1;

	while (sweep_once(&kind, nth, false) || sweep_once(&kind, nth, true))
		nth += shortage_step() * (crowd > 0 ? 1 + nth / 20 : 1); /* many are alike */
	print_message("%zu allocations\n", nth - 1);
	assert_true(nth > 50); /* otherwise the scenario was not reached */
}

static void memory_store_survives_every_allocation(void **state)
{
	(void)state;
	sweep_store("memory:", DW_OWNER, 0);
}

static void structures_that_grow_survive_every_allocation(void **state)
{
	(void)state;
	sweep_store("memory:", DW_OWNER, 4096 - 5);
}

#if DW_WITH_SQLITE
static void sweep_sqlite(dw_role role)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];

	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	sweep_store(url, role, 0);
	temp_remove(folder);
}

static void sqlite_store_survives_every_allocation(void **state)
{
	(void)state;
	sweep_sqlite(DW_OWNER);
}

static void sqlite_client_survives_every_allocation(void **state)
{
	(void)state;
	sweep_sqlite(DW_CLIENT);
}
#endif

/* ---- libev --------------------------------------------------------------------------------- */

/* libev ends the program if it gets no memory. So only dw_open() may make it allocate. */
static bool libev_may_not;

static void *libev_resize(void *block, long size)
{
	if (size == 0) {
		free(block);
		return NULL;
	}
	if (libev_may_not)
		fail_msg("libev allocates %ld bytes behind dw_open()", size);
	return realloc(block, (size_t)size);
}

static void libev_allocates_only_in_open(void **state)
{
	struct seen seen = {.stop_at = 3};
	dw *d = open_store("memory:", DW_OWNER);

	(void)state;
	libev_may_not = true;
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dw_after(d, "t", NULL, i * 1000, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(seen.starts, 3);
	dw_stop(d);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	libev_may_not = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_store_survives_every_allocation),
		cmocka_unit_test(structures_that_grow_survive_every_allocation),
#if DW_WITH_SQLITE
		cmocka_unit_test(sqlite_store_survives_every_allocation),
		cmocka_unit_test(sqlite_client_survives_every_allocation),
#endif
		cmocka_unit_test(libev_allocates_only_in_open),
	};

	ev_set_allocator(libev_resize);
	return cmocka_run_group_tests_name("out_of_memory", tests, NULL, NULL);
}
