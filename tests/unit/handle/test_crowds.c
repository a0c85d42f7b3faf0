/* Very many timers in one millisecond; and callbacks of every kind that add, cancel, replace and
 * settle anything, at random. */
#include "support/cmocka.h"

#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "durawheel/select.h"
#include "support/environment.h"
#include "support/seed.h"
#include "support/seen.h"
#include "support/temp.h"

static dw_usec read_clock(void *user)
{
	return *(dw_usec *)user;
}

/* ---- Many at once -------------------------------------------------------------------------- */

struct crowd {
	uint64_t starts;
	dw_usec last_due;
	uint64_t last_generation;
};

static dw_verdict one_of_many(dw *d, const dw_firing *firing, void *user)
{
	struct crowd *crowd = user;
	uint64_t generation = firing->token->generation;

	(void)d;
	assert_true(firing->now >= firing->due);
	assert_true(firing->due > crowd->last_due ||
		    (firing->due == crowd->last_due && generation > crowd->last_generation));
	crowd->last_due = firing->due;
	crowd->last_generation = generation;
	crowd->starts++;
	return DW_DONE;
}

static void many_timers_in_one_millisecond_fire_in_order(void **state)
{
	uint64_t most = environment_number("DW_LONG", 0) ? 3000000 : 100000;
	uint64_t count = environment_scaled(most);
	dw_usec clock = DW_SECONDS(1700000000);
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .clock = read_clock, .clock_user = &clock};
	struct crowd crowd = {0};
	uint64_t left = 1;
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", one_of_many, &crowd), DW_OK);
	for (uint64_t i = 0; i < count; i++) {
		dw_usec due = clock + DW_SECONDS(60) + (dw_usec)(i * 7919 % 1000);

		assert_int_equal(dw_at(d, "t", NULL, due, NULL, 0), DW_OK);
		if (i % 10000 == 9999)
			assert_int_equal(dw_sync(d, DW_MINUTES(10)), DW_OK);
	}
	assert_int_equal(dw_sync(d, DW_MINUTES(10)), DW_OK);
	assert_int_equal(crowd.starts, 0);
	clock += DW_SECONDS(61);
	/* No turn does everything, and no number of turns makes a start early or out of order. */
	for (uint64_t turn = 0; turn < count + 1000 && left > 0; turn++) {
		assert_int_equal(dw_turn(d), DW_OK);
		left = known_timers(d);
	}
	assert_int_equal(crowd.starts, count);
	assert_int_equal(left, 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* ---- Callbacks that do anything ------------------------------------------------------------ */

enum { IDS = 8, TOKENS = 8 };

struct chaos {
	struct rng rng;
	uint64_t budget; /* actions left */
	uint64_t asked;
	uint64_t answered;
	uint64_t starts;
	dw_token tokens[TOKENS]; /* of some deliveries, current and old */
};

static void act(dw *d, struct chaos *chaos);

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	static const dw_verdict verdicts[] = {DW_DONE, DW_DONE, DW_RETRY, DW_HOLD};
	struct chaos *chaos = user;

	chaos->starts++;
	chaos->tokens[rng_below(&chaos->rng, TOKENS)] = *firing->token;
	act(d, chaos);
	assert_int_equal(dw_retry_in(d, (dw_usec)rng_below(&chaos->rng, 2000)), DW_OK);
	if (chaos->budget == 0)
		return DW_DONE;
	return verdicts[rng_below(&chaos->rng, 4)];
}

static void done(dw *d, const dw_result *result, void *user)
{
	struct chaos *chaos = user;

	(void)result;
	chaos->answered++;
	act(d, chaos);
}

static void page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		 void *user)
{
	struct chaos *chaos = user;

	(void)next;
	chaos->answered++;
	act(d, chaos);
	if (status == DW_OK && count > 0)
		assert_string_equal(timers[count - 1].topic, "t"); /* as before the actions */
}

static void status_of(dw *d, int status, const dw_store_status *store, void *user)
{
	struct chaos *chaos = user;

	(void)status;
	(void)store;
	chaos->answered++;
	act(d, chaos);
}

static void event(dw *d, const dw_event *event, void *user)
{
	(void)event;
	act(d, user);
}

static int put_any(dw *d, struct chaos *chaos, const char *id)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .data = "x"};
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	timer.due = DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
	timer.due += (dw_usec)rng_below(&chaos->rng, 10000) - 1000;
	timer.data_size = rng_below(&chaos->rng, 2);
	timer.late_after_us = rng_below(&chaos->rng, 8) == 0 ? 1 : 0;
	timer.flags = rng_below(&chaos->rng, 4) == 0 ? DW_NEW : 0;
	return dw_put(d, &timer, done, chaos);
}

static int settle_any(dw *d, struct chaos *chaos)
{
	const dw_token *token = &chaos->tokens[rng_below(&chaos->rng, TOKENS)];
	dw_verdict verdict = rng_below(&chaos->rng, 2) ? DW_DONE : DW_RETRY;

	return dw_settle(d, token, verdict, 100, done, chaos);
}

static int handle_any(dw *d, struct chaos *chaos)
{
	int status = dw_on(d, "t", rng_below(&chaos->rng, 4) ? start : NULL, chaos);

	assert_int_equal(status, DW_OK);
	return DW_EINVAL; /* there is no answer to wait for */
}

static int ask_any(dw *d, struct chaos *chaos, const char *id)
{
	switch (rng_below(&chaos->rng, 8)) {
	case 0:
		return dw_get(d, id, page, chaos);
	case 1:
		return dw_list(d, NULL, NULL, 1 + rng_below(&chaos->rng, 9), page, chaos);
	case 2:
		return dw_get_status(d, status_of, chaos);
	case 3:
		return dw_cancel(d, id, done, chaos);
	case 4:
		return settle_any(d, chaos);
	case 5:
		return handle_any(d, chaos);
	default:
		return put_any(d, chaos, id);
	}
}

/* act does up to two things, so that what they lead to neither ends nor explodes. */
static void act(dw *d, struct chaos *chaos)
{
	uint64_t actions = rng_below(&chaos->rng, 3);

	for (; actions > 0 && chaos->budget > 0; actions--) {
		char id[4] = {(char)('a' + (char)rng_below(&chaos->rng, IDS)), '\0'};

		chaos->budget--;
		chaos->asked += ask_any(d, chaos, id) == DW_OK;
	}
}

static void run_chaos(const char *store, uint64_t budget, uint64_t seed)
{
	struct chaos chaos = {.rng = {seed}, .budget = budget};
	dw_options options = {.size = sizeof options,
			      .store = store,
			      .hold_us = DW_MILLISECONDS(1),
			      .on_event = event,
			      .on_event_user = &chaos};
	uint64_t left = 1;
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", start, &chaos), DW_OK);
	while (chaos.budget > 0) {
		act(d, &chaos);
		assert_int_not_equal(dw_sync(d, PATIENCE), DW_ETIMEOUT);
	}
	assert_int_equal(dw_on(d, "t", start, &chaos), DW_OK);
	while (left > 0) {
		assert_int_not_equal(dw_sync(d, PATIENCE), DW_ETIMEOUT);
		assert_int_equal(dw_turn(d), DW_OK);
		left = known_timers(d);
	}
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_true(chaos.starts > 0);
	assert_int_equal(chaos.answered, chaos.asked);
}

static void callbacks_that_do_anything_are_answered_once_each(void **state)
{
	struct rng rng = seed_of_test();
	uint64_t budget = environment_scaled(20000);

	(void)state;
	for (int i = 0; i < 10; i++)
		run_chaos("memory:", budget / 10 + 100, rng_next(&rng));
}

#if DW_WITH_SQLITE
static void callbacks_that_do_anything_are_answered_by_sqlite(void **state)
{
	struct rng rng = seed_of_test();
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	run_chaos(url, environment_scaled(2000) + 100, rng_next(&rng));
	temp_remove(folder);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_timers_in_one_millisecond_fire_in_order),
		cmocka_unit_test(callbacks_that_do_anything_are_answered_once_each),
#if DW_WITH_SQLITE
		cmocka_unit_test(callbacks_that_do_anything_are_answered_by_sqlite),
#endif
	};

	return cmocka_run_group_tests_name("crowds", tests, NULL, NULL);
}
