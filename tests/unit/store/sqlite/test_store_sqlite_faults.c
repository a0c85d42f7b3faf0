/* The SQLite store on a disk that fails: no answer says more than is true. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/sqlite/file/reserve.h"
#include "store/store.h"
#include "support/ask.h"
#include "support/faulty.h"
#include "support/seed.h"
#include "support/temp.h"

enum { IDS = 24, ROUNDS = 10, BATCH = 5 };

struct fixture {
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	dw_usec now;
	struct ask owner;
	uint64_t token;
};

static void open_as(struct fixture *f, dw_role role, const char *path)
{
	char message[DW_MESSAGE_SIZE] = "";
	int status;

	ask_init(&f->owner, role, ++f->token, &f->now);
	status = sqlite_store_open(&f->owner.store, path, &f->owner.env, message);
	if (status != DW_OK)
		fail_msg("%s", message);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	temp_make(f->folder);
	temp_file(f->path, f->folder, "timers.db");
	f->now = 1000000;
	open_as(f, DW_OWNER, f->path);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	faulty_disarm();
	faulty_unblock();
	faulty_limit(0, NULL, 0);
	ask_end(&f->owner);
	temp_remove(f->folder);
	free(f);
	return 0;
}

/* ---- What is true of each id, as far as the answers said ---- */

enum truth { ABSENT, PRESENT, MAYBE };

struct story {
	enum truth truth[IDS];
	unsigned failed; /* operations that were not done, or nobody knows */
};

static void id_of(unsigned number, char id[8])
{
	(void)snprintf(id, 8, "id%u", number);
}

static void learn(struct story *story, const dw_op *op, unsigned number)
{
	enum truth *truth = &story->truth[number];
	bool put = op->kind == DW_OP_PUT;

	story->failed += op->status == DW_ESTORE || op->status == DW_EUNKNOWN;
	switch (op->status) {
	case DW_OK:
		*truth = put ? PRESENT : ABSENT;
		break;
	case DW_EUNKNOWN:
		*truth = put == (*truth == PRESENT) ? *truth : MAYBE;
		break;
	case DW_ENOENT:
		assert_int_not_equal(*truth, PRESENT);
		*truth = ABSENT;
		break;
	case DW_EEXIST:
		assert_int_not_equal(*truth, ABSENT);
		*truth = PRESENT;
		break;
	case DW_ESTORE:
	case DW_EFULL:
	case DW_ECLOSED:
		break; /* it was not done */
	default:
		fail_msg("status %d", op->status);
	}
}

/* Batches of puts with NEW and of cancels; each id at most once in a batch. */
static void live(struct fixture *f, struct story *story, struct rng *rng)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct op_queue queue = {0};
		dw_op *ops[BATCH];
		unsigned first = (unsigned)rng_below(rng, IDS);
		char id[8];

		for (unsigned i = 0; i < BATCH; i++) {
			id_of((first + i) % IDS, id);
			ops[i] =
			    rng_below(rng, 3) ? ask_put(id, round, DW_OP_NEW) : ask_cancel(id, 0);
			op_queue_push(&queue, ops[i]);
		}
		ask_send(&f->owner, op_queue_take(&queue));
		for (unsigned i = 0; i < BATCH; i++) {
			ask_await(&f->owner, ops[i]);
			learn(story, ops[i], (first + i) % IDS);
			ask_free(ops[i]);
		}
	}
}

static void check(struct fixture *f, const struct story *story, const char *where)
{
	dw_head head;
	char id[8];

	for (unsigned i = 0; i < IDS; i++) {
		int status;

		id_of(i, id);
		status = ask_stored(&f->owner, id, &head);
		if (story->truth[i] != MAYBE &&
		    status != (story->truth[i] == PRESENT ? DW_OK : DW_ENOENT))
			fail_msg("%s: %s is %s, but the answers said %s", where, id,
				 dw_strerror(status),
				 story->truth[i] == PRESENT ? "stored" : "not stored");
	}
}

/* snapshot: the files as a kill at this moment would leave them. */
static void snapshot(struct fixture *f, char path[TEMP_SIZE])
{
	char from[TEMP_SIZE];
	char to[TEMP_SIZE];

	temp_copy(f->path, temp_file(path, f->folder, "copy.db"));
	temp_file(from, f->folder, "timers.db-wal");
	temp_copy(from, temp_file(to, f->folder, "copy.db-wal"));
}

struct fault {
	enum faulty_call call;
	int n;
	int more;
	bool done;
};

/* survive: one life with one fault; false: the fault was not reached. */
static bool survive(const struct fault *fault, uint64_t seed)
{
	struct story story = {{ABSENT}, 0};
	struct rng rng = {.state = seed};
	char killed[TEMP_SIZE];
	struct fixture *f;
	void *state;
	bool reached;

	(void)set_up(&state);
	f = state;
	live(f, &story, &rng);
	faulty_arm(fault->call, fault->n, fault->more, fault->done);
	live(f, &story, &rng);
	reached = faulty_reached();
	if (fault->more == 0) /* once is made good by trying again */
		assert_int_equal(story.failed, 0);
	faulty_disarm();
	check(f, &story, "while open");
	snapshot(f, killed);
	ask_end(&f->owner);
	open_as(f, DW_CLIENT, killed); /* its owner's row names this process */
	check(f, &story, "as a kill would have left it");
	ask_end(&f->owner);
	open_as(f, DW_OWNER, f->path);
	check(f, &story, "opened again");
	live(f, &story, &rng);
	check(f, &story, "going on");
	ask_end(&f->owner);
	(void)tear_down(&state);
	return reached;
}

static void sweep(enum faulty_call call, int more, bool done)
{
	uint64_t seed = seed_of_test().state;
	struct fault fault = {.call = call, .n = 1, .more = more, .done = done};

	while (survive(&fault, seed))
		fault.n += (int)environment_step(300);
	assert_true(fault.n > 5); /* it was reached a few times */
}

static void write_that_fails_once_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_WRITE, 0, false);
}

static void write_that_fails_for_long_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_WRITE, 40, false);
}

static void fsync_that_fails_once_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_SYNC, 0, false);
}

static void fsync_that_fails_for_long_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_SYNC, 20, false);
}

static void commit_that_is_done_but_unanswered_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_SYNC, 0, true);
	sweep(FAULTY_SYNC, 3, true);
}

static void write_that_is_done_but_unanswered_is_answered_truly(void **state)
{
	(void)state;
	sweep(FAULTY_WRITE, 0, true);
}

/* ---- A COMMIT of another session in between ---- */

struct rival {
	struct ask client;
	int status; /* of its put */
	bool was_there;
};

/* put_meanwhile: the owner logs that a COMMIT has failed before it looks into the file. */
static void put_meanwhile(dw_log_level level, const char *line, void *user)
{
	struct rival *rival = user;

	(void)level;
	if (rival->was_there || strncmp(line, "COMMIT failed", strlen("COMMIT failed")) != 0)
		return;
	rival->was_there = true;
	rival->status = ask_status(&rival->client, ask_put("theirs", 1, 0));
}

static void commit_of_another_is_not_taken_for_the_failed_one(void **state)
{
	struct fixture *f = *state;
	struct rival rival = {.was_there = false};
	dw_head head;

	ask_end(&f->owner);
	ask_init(&f->owner, DW_OWNER, ++f->token, &f->now);
	f->owner.env.log = put_meanwhile;
	f->owner.env.log_user = &rival;
	assert_int_equal(sqlite_store_open(&f->owner.store, f->path, &f->owner.env, NULL), DW_OK);
	ask_init(&rival.client, DW_CLIENT, ++f->token, &f->now);
	assert_int_equal(sqlite_store_open(&rival.client.store, f->path, &rival.client.env, NULL),
			 DW_OK);
	faulty_arm(FAULTY_WRITE, 1, 0, false);
	assert_int_equal(ask_status(&f->owner, ask_put("ours", 1, 0)), DW_OK);
	assert_true(rival.was_there);
	assert_int_equal(rival.status, DW_OK);
	assert_int_equal(ask_stored(&f->owner, "ours", &head), DW_OK);
	assert_int_equal(ask_stored(&f->owner, "theirs", &head), DW_OK);
	ask_end(&rival.client);
}

/* ---- A full disk ---- */

static void put_many(struct fixture *f, unsigned first, unsigned count, int status)
{
	char id[24];

	for (unsigned i = first; i < first + count; i++) {
		(void)snprintf(id, sizeof id, "timer:%u", i);
		assert_int_equal(ask_status(&f->owner, ask_put(id, i, 0)), status);
	}
}

/* fill puts until the disk is full. */
static void fill(struct fixture *f)
{
	char id[24];

	for (unsigned i = 0; i < 100000; i++) {
		int status;

		(void)snprintf(id, sizeof id, "more:%u", i);
		status = ask_status(&f->owner, ask_put(id, i, 0));
		if (status != DW_OK) {
			assert_int_equal(status, DW_EFULL);
			return;
		}
	}
	fail_msg("the disk was never full");
}

static void cancel_and_settle_on_a_full_disk_succeed(void **state)
{
	unsigned count = 100 + (unsigned)environment_scaled(900);
	struct timespec moment = {.tv_nsec = 10000000};
	struct fixture *f = *state;
	char reserve[TEMP_SIZE];
	dw_head head;
	char id[24];

	temp_file(reserve, f->folder, "timers.db-reserve");
	put_many(f, 0, count, DW_OK);
	faulty_limit(100000, reserve, SQLITE_RESERVE_SIZE);
	fill(f);
	put_many(f, count, 3, DW_EFULL);
	for (unsigned i = 0; i < count; i += 2) {
		(void)snprintf(id, sizeof id, "timer:%u", i);
		assert_int_equal(ask_status(&f->owner, ask_cancel(id, 0)), DW_OK);
		(void)snprintf(id, sizeof id, "timer:%u", i + 1);
		assert_int_equal(ask_stored(&f->owner, id, &head), DW_OK);
		assert_int_equal(
		    ask_status(&f->owner, ask_about(DW_OP_CLAIM, id, head.generation, 0)), DW_OK);
		assert_int_equal(
		    ask_status(&f->owner, ask_about(DW_OP_SETTLE, id, head.generation, 1)), DW_OK);
	}
	faulty_limit(0, NULL, 0);
	while (ask_status(&f->owner, ask_put("again", 1, 0)) != DW_OK)
		(void)nanosleep(&moment, NULL); /* a second or two; the test has its time limit */
	put_many(f, 0, 10, DW_OK);
}

/* The log holds pages that the file must grow by, and there is no byte of space: without the
 * reserve nothing could be written. */
static void reserve_is_what_a_cancel_lives_on(void **state)
{
	enum { COUNT = 100 };
	static char data[4000];
	struct fixture *f = *state;
	char reserve[TEMP_SIZE];
	char id[24];

	memset(data, 'x', sizeof data - 1);
	temp_file(reserve, f->folder, "timers.db-reserve");
	for (unsigned i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "timer:%u", i);
		assert_int_equal(ask_status(&f->owner, ask_put_full(id, "t", i, data)), DW_OK);
	}
	faulty_limit(0, reserve, SQLITE_RESERVE_SIZE);
	assert_int_equal(ask_status(&f->owner, ask_put("more", 1, 0)), DW_EFULL);
	for (unsigned i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "timer:%u", i);
		assert_int_equal(ask_status(&f->owner, ask_cancel(id, 0)), DW_OK);
	}
}

static void single_operation_survives_one_fault(void **state)
{
	struct fixture *f = *state;
	dw_head head;

	faulty_arm(FAULTY_WRITE, 1, 0, false);
	assert_int_equal(ask_head(&f->owner, ask_put("a", 1, 0), &head), DW_OK);
	faulty_arm(FAULTY_WRITE, 1, 0, false);
	assert_int_equal(
	    ask_head(&f->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 0), &head), DW_OK);
	assert_int_equal(head.attempt, 1);
	faulty_arm(FAULTY_SYNC, 1, 0, false);
	assert_int_equal(ask_status(&f->owner, ask_cancel("a", DW_OP_WITHDRAWN)), DW_OK);
	faulty_arm(FAULTY_WRITE, 1, 1000, false);
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, 0)), DW_ESTORE);
	faulty_disarm();
	assert_int_equal(ask_status(&f->owner, ask_put("b", 1, DW_OP_NEW)), DW_OK);
}

/* ---- An fsync that does not come back ---- */

/* An allocator that says when everything was freed. */
struct counted {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int blocks;
};

static void *resize_counted(void *user, void *block, size_t size)
{
	struct counted *counted = user;

	pthread_mutex_lock(&counted->mutex);
	counted->blocks += (block == NULL) - (size == 0);
	pthread_cond_broadcast(&counted->cond);
	pthread_mutex_unlock(&counted->mutex);
	if (size == 0) {
		free(block);
		return NULL;
	}
	return realloc(block, size);
}

static void store_stuck_in_fsync_frees_itself_later(void **state)
{
	static struct counted counted = {.mutex = PTHREAD_MUTEX_INITIALIZER,
					 .cond = PTHREAD_COND_INITIALIZER};
	struct alloc alloc = {.resize = resize_counted, .user = &counted};
	struct fixture *f = *state;
	dw_op *op;

	ask_end(&f->owner);
	ask_init(&f->owner, DW_OWNER, ++f->token, &f->now);
	f->owner.env.resize = resize_counted;
	f->owner.env.resize_user = &counted;
	assert_int_equal(sqlite_store_open(&f->owner.store, f->path, &f->owner.env, NULL), DW_OK);
	op = op_new(&alloc, DW_OP_REPORT, NULL, "{}", 2);
	faulty_block();
	ask_send(&f->owner, op);
	assert_true(faulty_await_blocked());
	assert_int_equal(f->owner.store->type->stop(f->owner.store, 0), DW_ETIMEOUT);
	assert_int_equal(f->owner.store->type->stop(f->owner.store, 1000), DW_ETIMEOUT);
	f->owner.store->type->free(f->owner.store);
	f->owner.store = NULL;
	faulty_unblock();
	pthread_mutex_lock(&counted.mutex);
	while (counted.blocks > 0)
		pthread_cond_wait(&counted.cond, &counted.mutex);
	pthread_mutex_unlock(&counted.mutex);
	open_as(f, DW_OWNER, f->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(write_that_fails_once_is_answered_truly),
	    cmocka_unit_test(write_that_fails_for_long_is_answered_truly),
	    cmocka_unit_test(fsync_that_fails_once_is_answered_truly),
	    cmocka_unit_test(fsync_that_fails_for_long_is_answered_truly),
	    cmocka_unit_test(commit_that_is_done_but_unanswered_is_answered_truly),
	    cmocka_unit_test(write_that_is_done_but_unanswered_is_answered_truly),
	    cmocka_unit_test_setup_teardown(commit_of_another_is_not_taken_for_the_failed_one,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(cancel_and_settle_on_a_full_disk_succeed, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(reserve_is_what_a_cancel_lives_on, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(single_operation_survives_one_fault, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(store_stuck_in_fsync_frees_itself_later, set_up,
					    tear_down),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
