/* Each allocation fails once, alone or with all later ones, while a program sets a topic, pushes,
 * takes and answers. Each accepted call is answered once. Confirmed changes are there. */
#include "durawheel/metrics.h"
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/seen.h"
#include "support/shortage.h"

struct told {
	int accepted, answered;
	size_t pushed, taken, done;
	char token[DW_TOKEN_SIZE];
};

static bool is_expected(int status)
{
	return status == DW_OK || status == DW_ENOMEM || status == DW_ENOENT ||
	       status == DW_EUNKNOWN || status == DW_ESTALE || status == DW_EBUSY ||
	       status == DW_ECLOSED;
}

static void told_done(dw *d, const dw_result *result, void *user)
{
	struct told *told = user;

	(void)d;
	assert_true(is_expected(result->status));
	told->answered++;
	told->pushed += strcmp(result->id, "m") == 0 && result->status == DW_OK;
}

static void told_topics(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	(void)topics;
	(void)count;
	assert_true(is_expected(status));
	((struct told *)user)->answered++;
}

static void told_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct told *told = user;

	(void)d;
	assert_true(is_expected(status));
	told->answered++;
	told->taken += count;
	if (count > 0)
		(void)snprintf(told->token, sizeof told->token, "%s", messages[0].token);
}

static void told_answers(dw *d, const dw_result *results, size_t count, void *user)
{
	struct told *told = user;

	(void)d;
	assert_int_equal(count, 1);
	assert_true(is_expected(results[0].status));
	told->answered++;
	told->done += results[0].status == DW_OK;
}

static void turns(dw *d)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(dw_turn(d), DW_OK);
}

static void count_call(struct told *told, int status)
{
	assert_true(status == DW_OK || status == DW_ENOMEM);
	told->accepted += status == DW_OK;
}

static void answer(dw *d, struct told *told)
{
	const char *token = told->token;
	dw_answer dead = {.size = sizeof dead, .tokens = &token, .count = 1, .verdict = DW_DEAD};

	if (!token[0])
		return;
	(void)dw_touch(d, &token, 1, NULL, NULL); /* it has no callback */
	turns(d);
	count_call(told, dw_ack(d, &dead, told_answers, told));
	turns(d);
}

/* read_metrics reads the metrics. The answers of the store may be kept or may be asked for
 * again. */
static void read_metrics(dw *d)
{
	char text[1024];
	int status = dw_metrics(d, text, sizeof text, NULL);

	assert_true(status == DW_OK || status == DW_ENOMEM);
}

/* work makes the calls while memory is short. */
static void work(dw *d, struct told *told)
{
	static const char *const topic = "q";
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	dw_topic_settings changed = {.size = sizeof changed, .queue = 1, .max = 5};
	dw_timer message = {
	    .size = sizeof message, .id = "m", .topic = "q", .data = "x", .data_size = 1};
	dw_take_options take = {.size = sizeof take, .topics = &topic, .topic_count = 1, .max = 5};

	count_call(told, dw_topic_set(d, "r", &settings, told_done, told));
	count_call(told, dw_topic_change(d, "r", &settings, &changed, told_done, told));
	count_call(told, dw_topic_pause(d, "q", 0, told_done, told));
	count_call(told, dw_push(d, &message, 1, told_done, told));
	turns(d);
	count_call(told, dw_take(d, &take, told_taken, told));
	take.topic_count = 0;
	take.topics = NULL;
	count_call(told, dw_take(d, &take, told_taken, told));
	turns(d);
	count_call(told, dw_topic_list(d, NULL, told_topics, told));
	count_call(told, dw_topic_drop(d, "q", told_done, told));
	read_metrics(d);
	turns(d);
}

static void sweep(bool always)
{
	bool failed = true;

	for (size_t nth = 1; failed; nth++) {
		struct shortage shortage = SHORTAGE_NONE;
		dw_options options = {.size = sizeof options,
				      .store = "memory:",
				      .resize = shortage_resize,
				      .resize_user = &shortage};
		dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
		struct told told = {0};
		dw *d;

		assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
		assert_int_equal(dw_topic_set(d, "q", &settings, NULL, NULL), DW_OK);
		assert_int_equal(dw_after(d, "q", "timer", 0, NULL, 0), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		shortage_begin(&shortage, nth, always);
		work(d, &told);
		answer(d, &told);
		failed = shortage_failed(&shortage);
		shortage_end(&shortage);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		turns(d);
		assert_true(told.taken <= told.pushed + 1); /* also the message of the timer */
		/* dw_close() ends a take that still waits. */
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
		assert_int_equal(told.answered, told.accepted);
		assert_int_equal(shortage.blocks, 0);
		assert_true(failed || nth > 20); /* the sweep has failed some allocations */
		assert_true(failed || told.done == 1);
	}
}

static void note_count(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(uint64_t *)user = topics[0].waiting;
}

/* If a push has no memory for its last message, it adds no message, and removes none. */
static void push_without_memory_changes_nothing(void **state)
{
	enum { BEFORE = 2, MORE = 3, ALLOCATIONS = 10 /* at least what a push needs */ };
	struct shortage shortage = SHORTAGE_NONE;
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .resize = shortage_resize,
			      .resize_user = &shortage};
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	dw_timer messages[MORE];
	uint64_t waiting = BEFORE;
	dw *d;

	(void)state;
	for (int i = 0; i < MORE; i++)
		messages[i] = (dw_timer){.size = sizeof *messages, .topic = "q"};
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_topic_set(d, "q", &settings, NULL, NULL), DW_OK);
	assert_int_equal(dw_push(d, messages, BEFORE, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	for (size_t nth = 1; nth <= ALLOCATIONS; nth++) {
		struct told told = {0};
		uint64_t before = waiting;

		shortage_begin(&shortage, nth, false);
		count_call(&told, dw_push(d, messages, MORE, told_done, &told));
		turns(d);
		shortage_end(&shortage);
		assert_int_equal(dw_topic_list(d, "q", note_count, &waiting), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		assert_true(waiting == before || waiting == before + MORE);
	}
	assert_true(waiting > BEFORE);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void one_allocation_fails(void **state)
{
	(void)state;
	sweep(false);
}

static void all_allocations_fail(void **state)
{
	(void)state;
	sweep(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_allocation_fails),
	    cmocka_unit_test(all_allocations_fail),
	    cmocka_unit_test(push_without_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
