/* Puts that keep a part of the stored timer: DW_DUE_EARLIEST, DW_DUE_LATEST, DW_DATA_FIRST, and
 * wait_max_us. Also, every allocation may fail. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/seen.h"
#include "support/shortage.h"
#include "support/temp.h"

#define BASE (DW_NEVER / 2)

/* The contents of the answer to a put. */
struct put_told {
	int answers;
	int status;
	unsigned outcome;
	dw_usec due;
	uint64_t generation;
};

static void put_answered(dw *d, const dw_result *result, void *user)
{
	struct put_told *told = user;

	(void)d;
	told->answers++;
	told->status = result->status;
	told->outcome = result->outcome;
	told->due = result->due;
	told->generation = result->generation;
}

static dw_timer timer_with(unsigned flags, dw_usec due, const char *data)
{
	return (dw_timer){.size = sizeof(dw_timer),
			  .id = "a",
			  .topic = data,
			  .due = due,
			  .data = data,
			  .data_size = strlen(data),
			  .flags = flags};
}

/* ask_put puts a timer whose topic and data are the same text. */
static struct put_told ask_put(dw *d, dw_timer timer)
{
	struct put_told told = {0};

	assert_int_equal(dw_put(d, &timer, put_answered, &told), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.answers, 1);
	return told;
}

struct shown {
	int count;
	dw_usec due;
	char topic[32];
	char data[32];
};

static void show(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		 void *user)
{
	struct shown *shown = user;

	(void)d;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOENT);
	shown->count = (int)count;
	if (count == 0)
		return;
	shown->due = timers->due;
	(void)snprintf(shown->topic, sizeof shown->topic, "%s", timers->topic);
	(void)snprintf(shown->data, sizeof shown->data, "%.*s", (int)timers->data_size,
		       (const char *)timers->data);
}

static void expect_stored(dw *d, dw_usec due, const char *data)
{
	struct shown shown = {0};

	assert_int_equal(dw_get(d, "a", show, &shown), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(shown.count, 1);
	assert_int_equal(shown.due, due);
	assert_string_equal(shown.topic, data);
	assert_string_equal(shown.data, data);
}

/* The first put has the data "one" and is due at BASE + 50. The second put has the data "two" and
 * these flags. */
static const struct {
	unsigned flags;
	dw_usec due;
	dw_usec stored;
	const char *data;
	unsigned outcome;
} table[] = {
    {DW_DUE_EARLIEST, 60, 50, "two", DW_PUT_REPLACED},
    {DW_DUE_EARLIEST, 40, 40, "two", DW_PUT_REPLACED},
    {DW_DUE_LATEST, 60, 60, "two", DW_PUT_REPLACED},
    {DW_DUE_LATEST, 40, 50, "two", DW_PUT_REPLACED},
    {DW_DATA_FIRST, 60, 60, "one", DW_PUT_REPLACED},
    {DW_DATA_FIRST, 50, 50, "one", DW_PUT_KEPT},
    {DW_DUE_EARLIEST | DW_DATA_FIRST, 60, 50, "one", DW_PUT_KEPT},
    {DW_DUE_EARLIEST | DW_DATA_FIRST, 40, 40, "one", DW_PUT_REPLACED},
    {DW_DUE_LATEST | DW_DATA_FIRST, 60, 60, "one", DW_PUT_REPLACED},
    {DW_DUE_LATEST | DW_DATA_FIRST, 40, 50, "one", DW_PUT_KEPT},
};

static void each_mode(dw *d)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct put_told first = ask_put(d, timer_with(table[i].flags, BASE + 50, "one"));
		struct put_told told =
		    ask_put(d, timer_with(table[i].flags, BASE + table[i].due, "two"));

		assert_int_equal(first.status, DW_OK);
		assert_int_equal(first.outcome, DW_PUT_MADE);
		assert_int_equal(told.status, DW_OK);
		assert_int_equal(told.outcome, table[i].outcome);
		assert_int_equal(told.due, BASE + table[i].stored);
		assert_int_equal(told.generation == first.generation,
				 table[i].outcome == DW_PUT_KEPT);
		expect_stored(d, BASE + table[i].stored, table[i].data);
		assert_int_equal(dw_cancel(d, "a", NULL, NULL), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	}
}

static void modes_of_an_owner(void **state)
{
	dw *d = open_store("memory:", DW_OWNER);

	(void)state;
	each_mode(d);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

#if DW_WITH_SQLITE
static void modes_of_a_client(void **state)
{
	char folder[TEMP_SIZE], url[TEMP_SIZE + 16];
	dw *owner, *client;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s/t.db", folder);
	owner = open_store(url, DW_OWNER);
	client = open_store(url, DW_CLIENT);
	each_mode(client);
	each_mode(owner);
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	temp_remove(folder);
}
#endif

static dw_usec read_clock(void *user)
{
	return *(const _Atomic dw_usec *)user; /* the worker of SQLite reads it, too */
}

static dw_verdict done(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	*(dw_usec *)user = firing->due;
	return DW_DONE;
}

/* A series begins with its first put, and ends with its delivery. */
static void no_series_is_longer_than_its_limit(void **state)
{
	_Atomic dw_usec clock = DW_SECONDS(1800000000);
	dw_usec begun, fired = 0;
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .clock = read_clock, .clock_user = &clock};
	dw_timer timer = timer_with(DW_DUE_LATEST, 0, "t");
	dw *d;

	(void)state;
	timer.wait_max_us = DW_SECONDS(60);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", done, &fired), DW_OK);
	for (int series = 0; series < 2; series++) {
		begun = clock;
		for (int i = 0; i < 100; i++) {
			dw_usec limit = begun + DW_SECONDS(60);

			timer.due = clock + DW_SECONDS(10);
			assert_int_equal(ask_put(d, timer).due,
					 timer.due < limit ? timer.due : limit);
			clock += DW_MILLISECONDS(590);
		}
		assert_int_equal(fired, 0);
		clock = begun + DW_SECONDS(60);
		while (fired == 0)
			assert_int_equal(dw_turn(d), DW_OK);
		assert_int_equal(fired, begun + DW_SECONDS(60));
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		fired = 0;
		clock += DW_SECONDS(1);
	}
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

#if DW_WITH_SQLITE
static dw *open_at(const char *url, dw_role role, _Atomic dw_usec *clock)
{
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .clock = read_clock,
			      .clock_user = clock};
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	return d;
}

static void show_state(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_state *)user = timers->state;
}

/* wait_claimed turns the owner until the client sees the timer claimed. */
static void wait_claimed(dw *owner, dw *client)
{
	dw_state state = DW_PENDING;

	while (state != DW_CLAIMED) {
		assert_int_equal(dw_turn(owner), DW_OK);
		assert_int_equal(dw_get(client, "a", show_state, &state), DW_OK);
		assert_int_equal(dw_sync(client, PATIENCE), DW_OK);
	}
}

/* The owner claims a timer some milliseconds before its deadline. A client's put that meets the
 * claim continues the series until the deadline. After the deadline the timer may have started, and
 * the put begins the next series. */
static void client_keeps_the_series_of_a_claimed_timer(void **state)
{
	const dw_usec start = DW_SECONDS(1800000000), limit = start + DW_SECONDS(60);
	_Atomic dw_usec clock = start;
	dw_usec fired = 0;
	char folder[TEMP_SIZE], url[TEMP_SIZE + 16];
	dw_timer timer = timer_with(DW_DUE_LATEST, start + DW_SECONDS(90), "t");
	struct put_told told;
	dw *owner, *client;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s/t.db", folder);
	owner = open_at(url, DW_OWNER, &clock);
	client = open_at(url, DW_CLIENT, &clock);
	assert_int_equal(dw_on(owner, "t", done, &fired), DW_OK);
	timer.wait_max_us = DW_SECONDS(60);
	assert_int_equal(ask_put(client, timer).due, limit);
	clock = limit - 1;
	wait_claimed(owner, client);
	timer.due = clock + DW_SECONDS(10);
	told = ask_put(client, timer);
	assert_int_equal(told.outcome, DW_PUT_KEPT);
	assert_int_equal(told.due, limit);
	assert_int_equal(dw_pause(owner), DW_OK);
	clock = limit;
	told = ask_put(client, timer);
	assert_int_equal(told.outcome, DW_PUT_REPLACED);
	assert_int_equal(told.due, timer.due);
	assert_int_equal(fired, 0);
	assert_int_equal(dw_close(client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	temp_remove(folder);
}
#endif

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	*(dw_token *)user = *firing->token;
	return DW_HOLD;
}

/* A put that comes while the handler runs is not lost. The next delivery has it. */
static void nothing_is_taken_from_a_timer_that_is_delivered(void **state)
{
	const unsigned flags = DW_DUE_EARLIEST | DW_DATA_FIRST;
	dw *d = open_store("memory:", DW_OWNER);
	dw_token token = {0};

	(void)state;
	assert_int_equal(dw_on(d, "one", hold, &token), DW_OK);
	assert_int_equal(ask_put(d, timer_with(0, 1, "one")).status, DW_OK);
	while (!token.id[0])
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(ask_put(d, timer_with(flags, BASE, "two")).outcome, DW_PUT_REPLACED);
	expect_stored(d, BASE, "two");
	(void)dw_settle(d, &token, DW_DONE, 0, NULL, NULL); /* too late */
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	expect_stored(d, BASE, "two");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void calls_keep_their_order(void **state)
{
	dw_timer timer = timer_with(DW_DUE_LATEST, BASE, "t");
	dw *d = open_store("memory:", DW_OWNER);
	struct put_told told = {0};
	struct shown shown = {.count = -1};

	(void)state;
	for (int i = 0; i < 10; i++) {
		timer.due = BASE + i;
		assert_int_equal(dw_put(d, &timer, put_answered, &told), DW_OK);
	}
	assert_int_equal(dw_cancel(d, "a", NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.answers, 10);
	assert_int_equal(told.status, DW_OK);
	assert_int_equal(dw_get(d, "a", show, &shown), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(shown.count, 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void contradictions_are_refused_in_words(void **state)
{
	static const struct {
		unsigned flags;
		dw_usec wait;
		const char *word;
	} bad[] = {{DW_DUE_EARLIEST | DW_DUE_LATEST, 0, "contradict"},
		   {DW_NEW | DW_ONCE, 0, "each stand alone"},
		   {DW_NEW | DW_DUE_LATEST, 0, "DW_NEW stands alone"},
		   {DW_NEW | DW_DATA_FIRST, 0, "DW_NEW stands alone"},
		   {DW_DUE_EARLIEST, 1, "wait_max_us is for DW_DUE_LATEST"},
		   {0, 1, "wait_max_us is for DW_DUE_LATEST"},
		   {DW_DUE_LATEST, -1, "wait_max_us is negative"},
		   {64, 0, "unknown flags 0x40"}};
	dw *d = open_store("memory:", DW_OWNER);

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		dw_timer timer = timer_with(bad[i].flags, 1, "t");

		timer.wait_max_us = bad[i].wait;
		assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_EINVAL);
		assert_non_null(strstr(dw_last_error(d), bad[i].word));
	}
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* lack_memory runs a put while allocations fail. The timer must then be as before, or as the put
 * says. Returns true if an allocation failed. */
static bool lack_memory(size_t nth, bool always)
{
	struct shortage shortage = SHORTAGE_NONE;
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .resize = shortage_resize,
			      .resize_user = &shortage};
	dw_timer timer = timer_with(DW_DUE_LATEST, BASE + 60, "t");
	struct put_told told = {0};
	int status;
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(ask_put(d, timer_with(0, BASE + 50, "t")).status, DW_OK);
	shortage_begin(&shortage, nth, always);
	status = dw_put(d, &timer, put_answered, &told);
	for (int i = 0; i < 20; i++)
		assert_int_equal(dw_turn(d), DW_OK);
	shortage_end(&shortage);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.answers, status == DW_OK);
	assert_true(told.status == DW_OK || told.status == DW_ENOMEM);
	expect_stored(d, status == DW_OK && told.status == DW_OK ? BASE + 60 : BASE + 50, "t");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(shortage.blocks, 0);
	return shortage_failed(&shortage);
}

static void every_allocation_may_fail(void **state)
{
	size_t nth[2] = {1, 1};

	(void)state;
	while (lack_memory(nth[0], false))
		nth[0]++;
	while (lack_memory(nth[1], true))
		nth[1]++;
	assert_true(nth[0] > 5 && nth[1] > 5); /* the sweep has failed some allocations */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_of_an_owner),
#if DW_WITH_SQLITE
		cmocka_unit_test(modes_of_a_client),
#endif
		cmocka_unit_test(no_series_is_longer_than_its_limit),
#if DW_WITH_SQLITE
		cmocka_unit_test(client_keeps_the_series_of_a_claimed_timer),
#endif
		cmocka_unit_test(nothing_is_taken_from_a_timer_that_is_delivered),
		cmocka_unit_test(calls_keep_their_order),
		cmocka_unit_test(contradictions_are_refused_in_words),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
