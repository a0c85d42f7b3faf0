/* Each allocation fails once, alone or with all later ones, while a program makes one call.
 * test_out_of_memory does this for a whole program, and this test for each call that is not in it,
 * and for the effects of the call. A call returns DW_OK, or DW_ENOMEM with a message. Each accepted
 * call is answered exactly once. DW_OK means that the operation is done, and DW_ENOMEM that nothing
 * is done. With memory again, everything works.
 *
 * tests/lint checks that every public function is called here, or is listed among those that
 * allocate nothing. The clock is the test's. */
#include "support/cmocka.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/seen.h"
#include "support/shortage.h"
#include "support/temp.h"

enum { STEP_US = 10000, STEPS_MAX = 2000, STEPS = 5, OPERATIONS_MAX = 3, CROWD = 3, LETTERS = 2 };

/* One call. */
struct operation {
	bool made;
	int asked; /* the status that the call returned */
	int answers;
	int status; /* the status of the answer */
	size_t shown;
};

struct scene {
	struct shortage shortage;
	const struct kind *kind;
	const char *url;
	dw_role role;
	atomic_llong clock;
	dw *d;
	struct operation operations[OPERATIONS_MAX];
	atomic_int starts;
	int deaths; /* the number of dead letters */
};

/* What a test prepares with memory, calls without memory, and checks afterwards. */
struct kind {
	const char *name;
	void (*prepare)(struct scene *);
	void (*ask)(struct scene *);
	void (*check)(struct scene *);
	bool owner_only;
};

/* ---- What is heard ------------------------------------------------------------------------- */

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	struct scene *scene = user;

	(void)d;
	(void)firing;
	atomic_fetch_add(&scene->starts, 1);
	return DW_DONE;
}

static void start_batch(dw *d, dw_batch *batch, void *user)
{
	(void)d;
	atomic_fetch_add(&((struct scene *)user)->starts, (int)batch->count);
}

static void heard(struct operation *operation, int status, size_t shown)
{
	operation->answers++;
	operation->status = status;
	operation->shown = shown;
}

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	heard(user, result->status, 0);
}

static void page(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		 void *user)
{
	(void)d;
	assert_int_equal(status == DW_OK, letters != NULL);
	assert_int_equal(status == DW_OK, next != NULL);
	heard(user, status, count);
}

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	(void)d;
	assert_int_equal(status == DW_OK, report != NULL);
	if (report)
		assert_int_equal(report->flaw_count, 0);
	heard(user, status, 0);
}

static void posted(dw *d, void *user)
{
	(void)d;
	heard(user, DW_OK, 0);
}

static void event(dw *d, const dw_event *event, void *user)
{
	struct scene *scene = user;

	(void)d;
	scene->deaths += event->kind == DW_EVENT_DEAD;
}

/* ---- Asking and time ----------------------------------------------------------------------- */

static dw_usec read_clock(void *user)
{
	return atomic_load((atomic_llong *)user);
}

static void asked(struct scene *scene, int which, int status)
{
	struct operation *operation = &scene->operations[which];

	if (status != DW_OK && status != DW_ENOMEM)
		fail_msg("%s: answered %d", scene->kind->name, status);
	operation->made = true;
	operation->asked = status;
}

static void asked_here(struct scene *scene, int which, int status)
{
	asked(scene, which, status);
	if (status == DW_ENOMEM)
		assert_non_null(strstr(dw_last_error(scene->d), "no memory"));
}

static bool is_done(const struct operation *operation)
{
	return operation->asked == DW_OK && operation->status == DW_OK;
}

static dw_stats stats_of(const struct scene *scene)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(scene->d, &stats), DW_OK);
	return stats;
}

/* pass lets some steps pass. What the store or a worker begins in a step ends within it. */
static void pass(struct scene *scene, int steps)
{
	struct pollfd fd = {.fd = dw_fd(scene->d), .events = POLLIN};

	for (; steps > 0; steps--) {
		atomic_fetch_add(&scene->clock, STEP_US);
		assert_int_equal(dw_turn(scene->d), DW_OK);
		while (stats_of(scene).inflight > 0 || stats_of(scene).running > 0) {
			assert_true(poll(&fd, 1, 20000) > 0);
			assert_int_equal(dw_turn(scene->d), DW_OK);
		}
	}
}

/* drain lets time pass until there were `starts` starts, and a little longer to see no more. */
static void drain(struct scene *scene, int starts)
{
	for (int i = 0; i < STEPS_MAX && atomic_load(&scene->starts) < starts; i++)
		pass(scene, 1);
	pass(scene, STEPS);
	if (atomic_load(&scene->starts) != starts)
		fail_msg("%s: %d starts, not %d", scene->kind->name, atomic_load(&scene->starts),
			 starts);
	assert_int_not_equal(dw_sync(scene->d, PATIENCE), DW_ETIMEOUT);
}

/* ---- With memory --------------------------------------------------------------------------- */

static void put(struct scene *scene, const char *id, dw_usec delay, dw_usec late_after)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = read_clock(&scene->clock) + delay,
			  .data = "data",
			  .data_size = 4,
			  .late_after_us = late_after};

	assert_int_equal(dw_put(scene->d, &timer, NULL, NULL), DW_OK);
}

static void put_far(struct scene *scene)
{
	put(scene, "far", DW_DAYS(1), 0);
}

static void put_near(struct scene *scene)
{
	for (int i = 0; i < CROWD; i++)
		put(scene, NULL, STEP_US * (i + 1), 0);
}

/* put_claimed puts timers that are due so soon that they are stored as claimed. */
static void put_claimed(struct scene *scene)
{
	for (int i = 0; i < CROWD; i++)
		put(scene, NULL, 1 + i, 0);
}

static void put_letters(struct scene *scene)
{
	static const char *const ids[LETTERS] = {"one", "two"};

	for (int i = 0; i < LETTERS; i++)
		put(scene, ids[i], -2, 1);
	for (int i = 0; i < STEPS_MAX && scene->deaths < LETTERS; i++)
		pass(scene, 1);
	assert_int_equal(scene->deaths, LETTERS);
}

static void put_all(struct scene *scene)
{
	put_letters(scene);
	put_far(scene);
}

static void put_late(struct scene *scene)
{
	put(scene, "late", STEP_US / 2, 1); /* between two steps */
}

static size_t letters_left(struct scene *scene)
{
	struct operation list = {0};

	assert_int_equal(dw_dead_list(scene->d, NULL, NULL, DW_LIST_MAX, page, &list), DW_OK);
	assert_int_equal(dw_sync(scene->d, PATIENCE), DW_OK);
	assert_int_equal(list.answers, 1);
	assert_int_equal(list.status, DW_OK);
	return list.shown;
}

static void has(struct scene *scene, uint64_t timers, size_t letters)
{
	uint64_t count = 0;

	count = known_timers(scene->d);
	assert_int_equal(count, timers);
	assert_int_equal(letters_left(scene), letters);
}

/* ---- The calls ----------------------------------------------------------------------------- */

static void ask_move(struct scene *scene)
{
	dw_usec due = read_clock(&scene->clock) + STEP_US;

	asked_here(scene, 0, dw_move(scene->d, "far", due, done, &scene->operations[0]));
}

static void check_moved(struct scene *scene)
{
	bool moved = is_done(&scene->operations[0]);

	drain(scene, moved);
	has(scene, !moved, 0);
	if (!moved) {
		assert_int_equal(dw_move(scene->d, "far", 0, NULL, NULL), DW_OK);
		drain(scene, 1);
	}
}

static void ask_post(struct scene *scene)
{
	asked_here(scene, 0, dw_post(scene->d, posted, &scene->operations[0]));
}

/* check_untouched checks that the far timer and the dead letters are still there. */
static void check_untouched(struct scene *scene)
{
	has(scene, 1, (size_t)scene->deaths);
}

static void *call_from_elsewhere(void *user)
{
	struct scene *scene = user;
	struct operation *operations = scene->operations;
	dw_timer timer = {.size = sizeof timer, .id = "new", .topic = "t"};

	asked(scene, 0, dw_after_id(scene->d, &timer, DW_DAYS(2), NULL, done, &operations[0]));
	asked(scene, 1, dw_cancel(scene->d, "far", done, &operations[1]));
	asked(scene, 2, dw_post(scene->d, posted, &operations[2]));
	return NULL;
}

static void ask_from_elsewhere(struct scene *scene)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, call_from_elsewhere, scene), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void check_elsewhere(struct scene *scene)
{
	uint64_t put = is_done(&scene->operations[0]);
	uint64_t cancelled = is_done(&scene->operations[1]);

	has(scene, 1 + put - cancelled, 0);
}

static void ask_worker(struct scene *scene)
{
	dw_batch_options options = {.size = sizeof options, .max = 2, .on_worker = 1};
	int status = strcmp(scene->kind->name, "on_batch") == 0
			 ? dw_on_batch(scene->d, "t", &options, start_batch, scene)
			 : dw_on_worker(scene->d, "t", start, scene);
	assert_true(status == DW_OK || status == DW_ENOMEM);
}

static void ask_pause(struct scene *scene)
{
	assert_int_equal(dw_pause(scene->d), DW_OK);
	pass(scene, STEPS);
	assert_int_equal(atomic_load(&scene->starts), 0);
	assert_int_equal(dw_resume(scene->d), DW_OK);
}

/* ask_run calls dw_run() after dw_stop(), so that it does not wait. Its turn starts due timers. */
static void ask_run(struct scene *scene)
{
	atomic_fetch_add(&scene->clock, STEP_US);
	dw_stop(scene->d);
	assert_int_equal(dw_run(scene->d), DW_OK);
}

static void check_started(struct scene *scene)
{
	drain(scene, CROWD);
	has(scene, 0, 0);
}

static void check_worked(struct scene *scene)
{
	assert_int_equal(dw_on_worker(scene->d, "t", start, scene), DW_OK);
	check_started(scene);
}

static void open_scene(struct scene *scene, dw_role role);

/* ask_close closes the handle. Claimed timers are returned, or claimed again by the next owner.
 * Operations that were requested before are done or not. */
static void ask_close(struct scene *scene)
{
	dw_usec due = read_clock(&scene->clock) + DW_DAYS(1);

	asked_here(scene, 0, dw_cancel(scene->d, "none", done, &scene->operations[0]));
	asked_here(scene, 1, dw_post(scene->d, posted, &scene->operations[1]));
	asked_here(scene, 2, dw_at(scene->d, "t", "far", due, NULL, 0));
	scene->operations[2].made = false; /* no answer comes */
	assert_int_equal(dw_close(scene->d, PATIENCE), DW_OK);
	assert_int_equal(scene->shortage.blocks, 0);
	shortage_end(&scene->shortage);
	open_scene(scene, scene->role);
}

static void check_closed(struct scene *scene)
{
	bool is_kept = strcmp(scene->url, "memory:") != 0;
	uint64_t count = 0;

	drain(scene, is_kept ? CROWD : 0);
	count = known_timers(scene->d);
	assert_true(count <= (is_kept && scene->operations[2].asked == DW_OK));
	has(scene, count, 0);
}

static void ask_list(struct scene *scene)
{
	asked_here(scene, 0,
		   dw_dead_list(scene->d,
				&(dw_dead_select){.size = sizeof(dw_dead_select), .topic = "t"},
				NULL, 10, page, &scene->operations[0]));
}

static void check_listed(struct scene *scene)
{
	if (is_done(&scene->operations[0]))
		assert_int_equal(scene->operations[0].shown, LETTERS);
	has(scene, 0, LETTERS);
}

static void ask_requeue(struct scene *scene)
{
	dw_usec due = read_clock(&scene->clock) + DW_DAYS(1);

	asked_here(scene, 0, dw_dead_requeue(scene->d, "two", 0, due, done, &scene->operations[0]));
}

static void check_requeued(struct scene *scene)
{
	bool requeued = is_done(&scene->operations[0]);

	has(scene, requeued, LETTERS - (size_t)requeued);
}

static void ask_drop(struct scene *scene)
{
	asked_here(scene, 0, dw_dead_drop(scene->d, "one", 0, done, &scene->operations[0]));
}

static void check_dropped(struct scene *scene)
{
	has(scene, 0, LETTERS - (size_t)is_done(&scene->operations[0]));
}

static void ask_purge(struct scene *scene)
{
	asked_here(scene, 0, dw_purge(scene->d, done, &scene->operations[0]));
}

static void check_purged(struct scene *scene)
{
	bool purged = is_done(&scene->operations[0]);

	has(scene, !purged, purged ? 0 : LETTERS);
}

static void ask_check(struct scene *scene)
{
	asked_here(scene, 0, dw_check(scene->d, checked, &scene->operations[0]));
}

/* check_late checks that a late timer became a dead letter while there was no memory. */
static void check_late(struct scene *scene)
{
	for (int i = 0; i < STEPS_MAX && scene->deaths == 0; i++)
		pass(scene, 1);
	assert_int_equal(scene->deaths, 1);
	assert_int_equal(atomic_load(&scene->starts), 0);
	has(scene, 0, 1);
}

static const struct kind kinds[] = {
    {"move", put_far, ask_move, check_moved, false},
    {"post", put_far, ask_post, check_untouched, false},
    {"another thread", put_far, ask_from_elsewhere, check_elsewhere, false},
    {"on_worker", put_near, ask_worker, check_worked, true},
    {"on_batch", put_near, ask_worker, check_worked, true},
    {"pause, resume", put_near, ask_pause, check_started, true},
    {"run, stop", put_near, ask_run, check_started, true},
    {"close", put_claimed, ask_close, check_closed, false},
    {"dead_list", put_letters, ask_list, check_listed, false},
    {"dead_requeue", put_letters, ask_requeue, check_requeued, false},
    {"dead_drop", put_letters, ask_drop, check_dropped, false},
    {"late", put_late, ask_run, check_late, true},
    {"purge", put_all, ask_purge, check_purged, true},
    {"check", put_all, ask_check, check_untouched, false},
};

/* ---- The sweep ----------------------------------------------------------------------------- */

static void open_scene(struct scene *scene, dw_role role)
{
	dw_options options = {.size = sizeof options,
			      .store = scene->url,
			      .role = role,
			      .workers = role == DW_OWNER ? 2 : 0,
			      .on_event = event,
			      .on_event_user = scene,
			      .clock = read_clock,
			      .clock_user = &scene->clock,
			      .resize = shortage_resize,
			      .resize_user = &scene->shortage};

	assert_int_equal(dw_open(&scene->d, &options, NULL), DW_OK);
	if (role == DW_OWNER && scene->kind->ask != ask_worker)
		assert_int_equal(dw_on(scene->d, "t", start, scene), DW_OK);
}

static void close_scene(struct scene *scene)
{
	assert_int_equal(dw_close(scene->d, PATIENCE), DW_OK);
	if (scene->shortage.blocks != 0)
		fail_msg("%s: %zu blocks are leaked", scene->kind->name, scene->shortage.blocks);
}

static void reopen(struct scene *scene, dw_role role)
{
	close_scene(scene);
	open_scene(scene, role);
}

static void check_answers(const struct scene *scene)
{
	for (int i = 0; i < OPERATIONS_MAX; i++) {
		const struct operation *operation = &scene->operations[i];

		if (!operation->made)
			continue;
		if (operation->answers != (operation->asked == DW_OK))
			fail_msg("%s: %d answers", scene->kind->name, operation->answers);
		if (operation->answers > 0 && operation->status != DW_OK &&
		    operation->status != DW_ENOENT)
			assert_int_equal(operation->status, DW_ENOMEM);
	}
}

/* sweep_once returns false if the call did not reach the allocation. */
static bool sweep_once(const struct scene *given, size_t nth, bool always)
{
	struct scene scene = *given;

	atomic_store(&scene.clock, DW_SECONDS(1700000000));
	open_scene(&scene, DW_OWNER);
	scene.kind->prepare(&scene);
	assert_int_equal(dw_sync(scene.d, PATIENCE), DW_OK);
	if (scene.role == DW_CLIENT)
		reopen(&scene, DW_CLIENT);
	shortage_begin(&scene.shortage, nth, always);
	scene.kind->ask(&scene);
	pass(&scene, STEPS);
	shortage_end(&scene.shortage);
	assert_int_not_equal(dw_sync(scene.d, PATIENCE), DW_ETIMEOUT);
	pass(&scene, 1);
	check_answers(&scene);
	if (scene.role == DW_CLIENT)
		reopen(&scene, DW_OWNER);
	pass(&scene, STEPS);
	scene.kind->check(&scene);
	assert_int_equal(dw_purge(scene.d, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(scene.d, PATIENCE), DW_OK);
	close_scene(&scene);
	return shortage_failed(&scene.shortage);
}

static void sweep(const char *url, dw_role role)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct scene scene = {
		    .shortage = SHORTAGE_NONE, .kind = &kinds[i], .url = url, .role = role};
		size_t nth = 1;

		if (role == DW_CLIENT && kinds[i].owner_only)
			continue;
		while (sweep_once(&scene, nth, false) || sweep_once(&scene, nth, true))
			nth += shortage_step();
		print_message("%s: %zu allocations\n", kinds[i].name, nth - 1);
		assert_true(nth > 1); /* otherwise the call was not reached */
	}
}

static void memory_store_survives_every_allocation(void **state)
{
	(void)state;
	sweep("memory:", DW_OWNER);
}

#if DW_WITH_SQLITE
static void sweep_sqlite(dw_role role)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];

	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	sweep(url, role);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_store_survives_every_allocation),
#if DW_WITH_SQLITE
		cmocka_unit_test(sqlite_store_survives_every_allocation),
		cmocka_unit_test(sqlite_client_survives_every_allocation),
#endif
	};

	return cmocka_run_group_tests_name("out_of_memory_calls", tests, NULL, NULL);
}
