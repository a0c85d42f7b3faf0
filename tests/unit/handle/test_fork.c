/* A forked child may only close its copy, whatever the parent's other threads held at the fork. */
#include "durawheel/select.h"
#include "support/cmocka.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/environment.h"
#include "support/watch.h"

enum { NOISES = 3, CHILD_PATIENCE = 60 };

struct noise {
	struct seen *seen;
	pthread_t threads[NOISES];
	atomic_int end;
};

static void nothing(dw *d, void *arg)
{
	(void)d;
	(void)arg;
}

/* make_noise keeps the queue and its mutex busy. */
static void *make_noise(void *user)
{
	struct noise *noise = user;

	while (!atomic_load(&noise->end))
		(void)dw_post(noise->seen->d, nothing, NULL); /* there is room */
	return NULL;
}

static dw_verdict never(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_DONE;
}

/* count_wrong: how many of the calls do not say DW_EFORK. */
static int count_wrong(dw *d)
{
	dw_stats stats = {.size = sizeof stats};
	dw_timer timer = {.size = sizeof timer, .topic = "t"};
	dw_token token = {.id = "x"};
	const int statuses[] = {
	    dw_turn(d),
	    dw_run(d),
	    dw_sync(d, 0),
	    dw_fd(d),
	    dw_on(d, "t", never, NULL),
	    dw_on_worker(d, "t", never, NULL),
	    dw_retry_in(d, 0),
	    dw_put(d, &timer, NULL, NULL),
	    dw_after(d, "t", "x", 0, NULL, 0),
	    dw_at(d, "t", "x", 0, NULL, 0),
	    dw_cancel(d, "x", NULL, NULL),
	    dw_settle(d, &token, DW_DONE, -1, NULL, NULL),
	    dw_post(d, nothing, NULL),
	    dw_get(d, "x", NULL, NULL),
	    dw_list(d, NULL, NULL, 1, NULL, NULL),
	    dw_get_stats(d, &stats),
	    dw_get_status(d, NULL, NULL),
	    dw_count(d, NULL, NULL, NULL),
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		wrong += statuses[i] != DW_EFORK;
	return wrong;
}

/* fork_child: exit status of a child that tries everything, and then closes. */
static int fork_child(dw *d)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		(void)alarm(CHILD_PATIENCE); /* a lock that nobody will give back */
		dw_stop(d);
		status = count_wrong(d);
		if (status == 0 && dw_close(d, DW_SECONDS(1)) == DW_OK)
			/* Not _exit(0): what the parent's threads had in hand is lost here, and
			 * valgrind would say so. */
			(void)execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (pid > 0)
		(void)waitpid(pid, &status, 0); /* else status says it */
	return status;
}

static void child_of_a_busy_handle_may_only_close(void **state)
{
	struct seen seen;
	struct noise noise = {.seen = &seen};
	int forks = (int)environment_scaled(60);

	(void)state;
	seen_open(&seen, (size_t)1 << 28); /* never full: that would be silence */
	for (int i = 0; i < NOISES; i++)
		assert_int_equal(pthread_create(&noise.threads[i], NULL, make_noise, &noise), 0);
	for (int i = 0; i < forks; i++) {
		assert_int_equal(fork_child(seen.d), 0);
		assert_int_equal(dw_turn(seen.d), DW_OK);
	}
	atomic_store(&noise.end, 1);
	for (int i = 0; i < NOISES; i++)
		assert_int_equal(pthread_join(noise.threads[i], NULL), 0);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void *fork_elsewhere(void *user)
{
	struct seen *seen = user;

	seen->result = fork_child(seen->d);
	return NULL;
}

static void child_of_another_thread_may_only_close(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	seen_in_thread(fork_elsewhere, &seen);
	assert_int_equal(seen.result, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void fork_inside(dw *d, void *arg)
{
	struct seen *seen = arg;

	seen->result = fork_child(d);
	dw_stop(d);
}

static void child_of_a_callback_may_only_close(void **state)
{
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_post(seen.d, fork_inside, &seen), DW_OK);
	assert_int_equal(dw_run(seen.d), DW_OK);
	assert_int_equal(seen.result, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* What a handler on a worker waits for. */
struct wait {
	struct seen *seen;
	atomic_int begun;
	atomic_int end;
};

/* wait_for_end waits without a lock: the child's copy of one might be held for ever. */
static dw_verdict wait_for_end(dw *d, const dw_firing *firing, void *user)
{
	struct wait *wait = user;

	(void)firing;
	atomic_store(&wait->begun, 1);
	while (!atomic_load(&wait->end))
		(void)sched_yield(); /* always 0 */
	dw_stop(d);
	return DW_DONE;
}

/* ---- A handler that forks, and the child goes on ---- */

struct brood {
	pid_t parent;
	pid_t child;
	int left;    /* deliveries until the parent stops */
	int started; /* in this process, after the fork */
};

static dw_verdict fork_once(dw *d, const dw_firing *firing, void *user)
{
	struct brood *brood = user;

	(void)firing;
	brood->started++;
	if (brood->child == 0 && getpid() == brood->parent) {
		brood->child = fork();
		brood->started = 0;
		if (brood->child == 0)
			return DW_DONE; /* into the same turn */
	}
	if (--brood->left == 0)
		dw_stop(d);
	return DW_DONE;
}

static void child_of_a_handler_starts_no_other_one(void **state)
{
	struct brood brood = {.parent = getpid(), .left = 50};
	struct seen seen;
	int status = 0;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", fork_once, &brood), DW_OK);
	for (int i = 0; i < 50; i++)
		assert_int_equal(dw_after(seen.d, "t", NULL, 0, NULL, 0), DW_OK);
	status = dw_run(seen.d);
	if (getpid() != brood.parent) {
		if (status == DW_EFORK && brood.started == 0 && dw_close(seen.d, 0) == DW_OK)
			(void)execl("/bin/true", "true", (char *)NULL); /* as in fork_child() */
		_exit(1);
	}
	assert_int_equal(status, DW_OK);
	assert_int_equal(brood.started, 49);
	assert_int_equal(waitpid(brood.child, &status, 0), brood.child);
	assert_int_equal(status, 0);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void open_with_workers(struct seen *seen)
{
	dw_options options = seen_options(seen);

	options.workers = 2;
	assert_int_equal(dw_open(&seen->d, &options, NULL), DW_OK);
}

static void child_has_no_workers_to_wait_for(void **state)
{
	struct seen seen;
	struct wait wait = {.seen = &seen};

	(void)state;
	open_with_workers(&seen);
	assert_int_equal(dw_on_worker(seen.d, "t", wait_for_end, &wait), DW_OK);
	assert_int_equal(dw_after(seen.d, "t", "a", 0, NULL, 0), DW_OK);
	while (!atomic_load(&wait.begun))
		assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(fork_child(seen.d), 0);
	atomic_store(&wait.end, 1);
	assert_int_equal(dw_run(seen.d), DW_OK); /* the parent's goes on */
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
}

static dw_verdict fork_on_worker(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	(void)firing;
	seen->result = fork_child(d);
	dw_stop(d);
	return DW_DONE;
}

static void child_of_a_worker_may_only_close(void **state)
{
	struct seen seen;

	(void)state;
	open_with_workers(&seen);
	seen.result = -1;
	assert_int_equal(dw_on_worker(seen.d, "t", fork_on_worker, &seen), DW_OK);
	assert_int_equal(dw_after(seen.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(seen.d), DW_OK);
	assert_int_equal(dw_close(seen.d, PATIENCE), DW_OK);
	assert_int_equal(seen.result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(child_of_a_busy_handle_may_only_close),
	    cmocka_unit_test(child_of_another_thread_may_only_close),
	    cmocka_unit_test(child_of_a_callback_may_only_close),
	    cmocka_unit_test(child_of_a_handler_starts_no_other_one),
	    cmocka_unit_test(child_has_no_workers_to_wait_for),
	    cmocka_unit_test(child_of_a_worker_may_only_close),
	};

	return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
