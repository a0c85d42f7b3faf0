/* What a caller can do wrong: a defined error in words, and other timers undisturbed. (A handle
 * that was closed is freed: to use it is undefined, and no test can. Options of another size and
 * calls of another thread are in test_api.c.) */
#include "durawheel/select.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/misuse.h"

/* ---- Handles and callbacks ----------------------------------------------------------------- */

static void null_page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)d;
	(void)status;
	(void)timers;
	(void)count;
	(void)next;
	(void)user;
}

static void null_letters(dw *d, int status, const dw_dead *letters, size_t count,
			 const dw_cursor *next, void *user)
{
	(void)d;
	(void)status;
	(void)letters;
	(void)count;
	(void)next;
	(void)user;
}

static void null_tally(dw *d, const dw_tally *tally, void *user)
{
	(void)d;
	(void)tally;
	(void)user;
}

static void null_status(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	(void)status;
	(void)store;
	(void)user;
}

static void null_due(dw *d, int status, const dw_due_counts *counts, void *user)
{
	(void)d;
	(void)status;
	(void)counts;
	(void)user;
}

static void handle_null_is_refused_by_every_call(void **state)
{
	dw_options options = {.size = sizeof options, .store = "memory:"};
	dw_timer timer = {.size = sizeof timer, .topic = "t"};
	dw_stats stats = {.size = sizeof stats};
	dw_token token = {0};
	static const dw_usec bounds[] = {1, 2};

	(void)state;
	assert_int_equal(dw_open(NULL, &options, NULL), DW_EINVAL);
	assert_int_equal(dw_on(NULL, "t", on_due, NULL), DW_EINVAL);
	assert_int_equal(dw_retry_in(NULL, 1), DW_EINVAL);
	assert_int_equal(dw_after(NULL, "t", "a", 1, NULL, 0), DW_EINVAL);
	assert_int_equal(dw_at(NULL, "t", "a", 1, NULL, 0), DW_EINVAL);
	assert_int_equal(dw_put(NULL, &timer, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_cancel(NULL, "a", NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_settle(NULL, &token, DW_DONE, 0, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_get(NULL, "a", null_page, NULL), DW_EINVAL);
	assert_int_equal(dw_list(NULL, NULL, NULL, 1, null_page, NULL), DW_EINVAL);
	assert_int_equal(dw_get_stats(NULL, &stats), DW_EINVAL);
	assert_int_equal(dw_count(NULL, NULL, null_tally, NULL), DW_EINVAL);
	assert_int_equal(dw_count_due(NULL, bounds, 2, null_due, NULL), DW_EINVAL);
	assert_int_equal(dw_get_status(NULL, null_status, NULL), DW_EINVAL);
	assert_int_equal(dw_run(NULL), DW_EINVAL);
	assert_int_equal(dw_turn(NULL), DW_EINVAL);
	assert_int_equal(dw_sync(NULL, 0), DW_EINVAL);
	assert_int_equal(dw_fd(NULL), DW_EINVAL);
	assert_int_equal(dw_close(NULL, 0), DW_OK);
	dw_stop(NULL);
	assert_string_equal(dw_last_error(NULL), "the handle is NULL");
}

static void handler_null_takes_the_handler_away(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(dw_on(d, "never", NULL, NULL), DW_OK); /* there is none */
	assert_int_equal(dw_on(d, "*", NULL, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", NULL, NULL), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.starts, 0);
	assert_int_equal(dw_on(d, "t", on_due, &seen), DW_OK);
	seen.stop_at = 1;
	assert_int_equal(dw_run(d), DW_OK);
	close_memory(d);
}

static void argument_null_is_named(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_usec time;

	(void)state;
	says(d, dw_on(d, NULL, on_due, NULL), DW_EINVAL, "topic");
	says(d, dw_after(d, NULL, "a", 0, NULL, 0), DW_EINVAL, "topic");
	says(d, dw_put(d, NULL, NULL, NULL), DW_EINVAL, "timer");
	says(d, dw_cancel(d, NULL, NULL, NULL), DW_EINVAL, "id");
	says(d, dw_settle(d, NULL, DW_DONE, 0, NULL, NULL), DW_EINVAL, "token");
	says(d, dw_get(d, NULL, null_page, NULL), DW_EINVAL, "id");
	assert_int_equal(dw_get_status(d, null_status, NULL), DW_OK);
	assert_non_null(strstr(dw_last_error(d), "id")); /* still the last failure */
	says(d, dw_get(d, "a", NULL, NULL), DW_EINVAL, "callback");
	says(d, dw_list(d, NULL, NULL, 1, NULL, NULL), DW_EINVAL, "callback");
	says(d, dw_get_status(d, NULL, NULL), DW_EINVAL, "callback");
	says(d, dw_get_stats(d, NULL), DW_EINVAL, "statistics");
	says(d, dw_count(d, NULL, NULL, NULL), DW_EINVAL, "callback");
	assert_int_equal(dw_parse_duration(NULL, &time), DW_EINVAL);
	assert_int_equal(dw_parse_time(NULL, &time), DW_EINVAL);
	close_memory(d);
}

/* ---- Inside a callback --------------------------------------------------------------------- */

static void is_busy(dw *d, int *calls)
{
	says(d, dw_run(d), DW_EBUSY, "callback");
	says(d, dw_turn(d), DW_EBUSY, "callback");
	says(d, dw_sync(d, 0), DW_EBUSY, "callback");
	says(d, dw_close(d, 0), DW_EBUSY, "callback");
	(*calls)++;
}

static dw_verdict busy_due(dw *d, const dw_firing *firing, void *user)
{
	(void)firing;
	is_busy(d, user);
	return DW_DONE;
}

static void busy_done(dw *d, const dw_result *result, void *user)
{
	(void)result;
	is_busy(d, user);
}

static void busy_page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)status;
	(void)timers;
	(void)count;
	(void)next;
	is_busy(d, user);
}

static void busy_status(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)status;
	(void)store;
	is_busy(d, user);
}

static void busy_event(dw *d, const dw_event *event, void *user)
{
	(void)event;
	is_busy(d, user);
}

static void close_run_turn_and_sync_inside_any_callback_are_busy(void **state)
{
	int calls = 0;
	int events = 0;
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .on_event = busy_event,
			      .on_event_user = &events};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t"};
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", busy_due, &calls), DW_OK);
	assert_int_equal(dw_put(d, &timer, busy_done, &calls), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	while (calls < 2)
		assert_int_equal(dw_turn(d), DW_OK);
	assert_int_equal(dw_get(d, "a", busy_page, &calls), DW_OK);
	assert_int_equal(dw_list(d, NULL, NULL, 1, busy_page, &calls), DW_OK);
	assert_int_equal(dw_get_status(d, busy_status, &calls), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(calls, 5);
	assert_true(events > 0); /* it was recovered */
	/* And inside one that dw_close() calls. */
	timer.due = DW_NEVER;
	assert_int_equal(dw_put(d, &timer, busy_done, &calls), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(calls, 6);
}

static dw_verdict cancel_self(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	seen->starts++;
	assert_int_equal(dw_cancel(d, firing->id, on_done, seen), DW_OK);
	return DW_RETRY;
}

static void cancel_of_self_is_late_and_drops_the_retry(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	uint64_t count = 1;

	(void)state;
	assert_int_equal(dw_on(d, "t", cancel_self, &seen), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	while (seen.answers == 0 || count > 0) {
		assert_int_equal(dw_turn(d), DW_OK);
		count = known_timers(d);
	}
	assert_int_equal(seen.status, DW_ELATE);
	assert_int_equal(seen.starts, 1);
	close_memory(d);
}

/* ---- Flags and sizes ------------------------------------------------------------------- */

static void flags_unknown_are_refused(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .flags = DW_NEW | 64};

	(void)state;
	says(d, dw_put(d, &timer, NULL, NULL), DW_EINVAL, "0x40");
	close_memory(d);
}

static void timer_of_an_older_or_newer_size_is_refused_unless_it_says_nothing_new(void **state)
{
	struct {
		dw_timer known;
		char unknown[64];
	} newer = {.known = {.size = sizeof newer, .id = "a", .topic = "t", .due = DW_NEVER}};
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	assert_int_equal(dw_put(d, &newer.known, on_done, &seen), DW_OK);
	newer.unknown[sizeof newer.unknown - 1] = 1;
	says(d, dw_put(d, &newer.known, on_done, &seen), DW_EINVAL, "newer");
	newer.known.size = sizeof(dw_timer) - 1;
	says(d, dw_put(d, &newer.known, on_done, &seen), DW_EINVAL, "size");
	newer.known.size = 0;
	says(d, dw_put(d, &newer.known, on_done, &seen), DW_EINVAL, "size");
	close_memory(d);
}

/* at_the_end: memory behind which there is none, with a copy of these bytes at its end. */
static void *at_the_end(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	return memcpy(pages + page - size, bytes, size);
}

static void forget_end(void *at, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	assert_int_equal(munmap((char *)at + size - page, 2 * page), 0);
}

static void struct_of_a_garbage_size_is_not_read(void **state)
{
	static const size_t garbage[] = {1025, 1 << 20, SIZE_MAX / 2, SIZE_MAX};
	dw_options options = {.size = sizeof options, .store = "memory:"};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t"};
	dw_stats stats = {.size = sizeof stats};
	dw_options *edge_options = at_the_end(&options, sizeof options);
	dw_timer *edge_timer = at_the_end(&timer, sizeof timer);
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		char message[DW_MESSAGE_SIZE];
		dw *none;

		edge_options->size = edge_timer->size = stats.size = garbage[i];
		assert_int_equal(dw_open(&none, edge_options, message), DW_EINVAL);
		assert_non_null(strstr(message, "options.size"));
		says(d, dw_put(d, edge_timer, NULL, NULL), DW_EINVAL, "timer.size");
		says(d, dw_get_stats(d, &stats), DW_EINVAL, "stats.size");
	}
	assert_int_equal(dw_close(d, 0), DW_OK);
	forget_end(edge_options, sizeof options);
	forget_end(edge_timer, sizeof timer);
}

static void stats_of_any_size_are_filled_no_further(void **state)
{
	struct {
		dw_stats known;
		char behind[64];
	} stats;
	struct seen seen;
	dw *d = open_memory(&seen);

	(void)state;
	for (size_t size = sizeof(size_t); size <= sizeof stats; size++) {
		const unsigned char *bytes = (const unsigned char *)&stats;

		memset(&stats, 0x5a, sizeof stats);
		stats.known.size = size;
		assert_int_equal(dw_get_stats(d, &stats.known), DW_OK);
		assert_int_equal(stats.known.size, size);
		for (size_t at = size; at < sizeof stats; at++)
			assert_int_equal(bytes[at], 0x5a);
	}
	stats.known.size = sizeof(size_t) - 1;
	says(d, dw_get_stats(d, &stats.known), DW_EINVAL, "stats.size");
	close_memory(d);
}

/* ---- Verdicts and pages -------------------------------------------------------------------- */

static dw_verdict nonsense(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	assert_int_equal(dw_retry_in(d, 0), DW_OK);
	seen->attempt = firing->attempt;
	return firing->attempt < 3 ? (dw_verdict)77 : DW_DONE;
}

static void keep_line(dw_log_level level, const char *line, void *user)
{
	assert_int_equal(level, DW_LOG_ERROR);
	(void)snprintf(user, DW_MESSAGE_SIZE, "%s", line);
}

static void verdict_that_is_none_is_a_retry_and_logged(void **state)
{
	char line[DW_MESSAGE_SIZE] = "";
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .on_log = keep_line, .on_log_user = line};
	struct seen seen = {0};
	uint64_t count = 1;
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(d, "t", nonsense, &seen), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	while (count > 0) {
		assert_int_equal(dw_turn(d), DW_OK);
		count = known_timers(d);
	}
	assert_int_equal(seen.attempt, 3);
	assert_string_equal(line, "the handler of topic t returned 77, which is not a verdict: it "
				  "counts as DW_RETRY");
	close_memory(d);
}

static void token_that_is_none_is_stale_or_refused(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_token token = {.generation = 1, .attempt = 1, .id = "a"};

	(void)state;
	says(d, dw_settle(d, &token, DW_HOLD, 0, NULL, NULL), DW_EINVAL, "DW_DONE, DW_RETRY");
	says(d, dw_settle(d, &token, (dw_verdict)-1, 0, NULL, NULL), DW_EINVAL, "DW_DONE");
	says(d, dw_settle(d, &token, DW_DONE, 0, NULL, NULL), DW_ESTALE, "not held");
	memset(token.id, 'x', sizeof token.id); /* no NUL */
	says(d, dw_settle(d, &token, DW_DONE, 0, NULL, NULL), DW_EINVAL, "too long");
	memset(&token, 0, sizeof token);
	says(d, dw_settle(d, &token, DW_DONE, 0, NULL, NULL), DW_EINVAL, "empty");
	close_memory(d);
}

static void empty_page(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	(void)timers;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 0);
	assert_true(next->ended);
	(*(int *)user)++;
}

static void page_of_no_size_is_refused_and_behind_the_end_is_empty(void **state)
{
	struct seen seen;
	dw *d = open_memory(&seen);
	dw_cursor end = {.due = INT64_MAX, .generation = UINT64_MAX, .started = 1};
	char topic[300];
	int pages = 0;

	const dw_dead_select both = {.size = sizeof both, .topic = "t", .id = "a"};
	const dw_dead_select none = {.size = 3};
	const char *const topics[] = {topic, ""};

	(void)state;
	memset(topic, 'x', sizeof topic);
	topic[sizeof topic - 1] = '\0';
	assert_int_equal(put_never(d, &seen, "a", "t"), DW_OK);
	says(d, dw_list(d, NULL, NULL, 0, empty_page, &pages), DW_EINVAL, "1 to 1000");
	says(d, dw_list(d, NULL, NULL, DW_LIST_MAX + 1, empty_page, &pages), DW_EINVAL, "1001");
	assert_int_equal(dw_list(d, NULL, &end, 1, empty_page, &pages), DW_OK);
	for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
		const dw_dead_select letters = {.size = sizeof letters, .topic = topics[i]};
		const dw_select timers = {.size = sizeof timers, .topic = topics[i]};

		says(d, dw_list(d, &timers, NULL, 1, empty_page, &pages), DW_EINVAL, "the topic");
		says(d, dw_dead_list(d, &letters, NULL, 1, null_letters, NULL), DW_EINVAL,
		     "the topic");
	}
	says(d, dw_dead_list(d, &both, NULL, 1, null_letters, NULL), DW_EINVAL, "not both");
	says(d, dw_dead_list(d, &none, NULL, 1, null_letters, NULL), DW_EINVAL, "sizeof");
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(pages, 1);
	close_memory(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(handle_null_is_refused_by_every_call),
	    cmocka_unit_test(handler_null_takes_the_handler_away),
	    cmocka_unit_test(argument_null_is_named),
	    cmocka_unit_test(close_run_turn_and_sync_inside_any_callback_are_busy),
	    cmocka_unit_test(cancel_of_self_is_late_and_drops_the_retry),
	    cmocka_unit_test(flags_unknown_are_refused),
	    cmocka_unit_test(timer_of_an_older_or_newer_size_is_refused_unless_it_says_nothing_new),
	    cmocka_unit_test(struct_of_a_garbage_size_is_not_read),
	    cmocka_unit_test(stats_of_any_size_are_filled_no_further),
	    cmocka_unit_test(verdict_that_is_none_is_a_retry_and_logged),
	    cmocka_unit_test(token_that_is_none_is_stale_or_refused),
	    cmocka_unit_test(page_of_no_size_is_refused_and_behind_the_end_is_empty),
	};

	return cmocka_run_group_tests_name("bad_input", tests, NULL, NULL);
}
