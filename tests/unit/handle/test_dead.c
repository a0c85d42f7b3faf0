/* Dead letters as a program sees them: why, in which order, made timers again, forgotten. */
#include "engine/call/arguments.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/harness.h"

enum { LETTERS_MAX = 8, REPORT_MAX = 1024 };

/* The last page. */
struct page {
	int status;
	size_t count;
	dw_dead letters[LETTERS_MAX];
	char ids[LETTERS_MAX][DW_ID_MAX + 1];
	char topic[DW_TOPIC_MAX + 1];
	char data[16];
	dw_cursor next;
};

static void on_page(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		    void *user)
{
	struct page *page = user;

	(void)d;
	*page = (struct page){.status = status, .count = count};
	assert_true(count <= LETTERS_MAX);
	for (size_t i = 0; i < count; i++) {
		page->letters[i] = letters[i];
		memcpy(page->ids[i], letters[i].id, strlen(letters[i].id) + 1);
	}
	if (count > 0) {
		memcpy(page->topic, letters[0].topic, strlen(letters[0].topic) + 1);
		memcpy(page->data, letters[0].data, letters[0].data_size);
	}
	if (next)
		page->next = *next;
}

static struct page list_selected(struct harness *h, const dw_dead_select *select,
				 const dw_cursor *after, size_t limit)
{
	struct page page = {.status = 1};

	assert_int_equal(
	    engine_dead_list(h->engine, select, after, limit, (struct dead_lister){on_page, &page}),
	    DW_OK);
	harness_turn(h);
	assert_int_equal(page.status, DW_OK);
	return page;
}

static struct page list(struct harness *h, const dw_cursor *after, size_t limit)
{
	return list_selected(h, &arguments_all_letters, after, limit);
}

/* die: a timer that is too late; set aside at once. */
static void die(struct harness *h, const char *id)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = h->wall - 2,
			  .data = "data",
			  .data_size = 4,
			  .late_after_us = 1};

	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
}

static int requeue(struct harness *h, const char *id, uint64_t generation, dw_usec due)
{
	assert_int_equal(
	    engine_dead_requeue(h->engine, id, generation, due, (struct done){harness_done, h}),
	    DW_OK);
	harness_turn(h);
	return harness_result(h, id).status;
}

static int drop(struct harness *h, const char *id)
{
	assert_int_equal(engine_dead_drop(h->engine, id, 0, (struct done){harness_done, h}), DW_OK);
	harness_turn(h);
	return harness_result(h, id ? id : "").status;
}

static void late_timer_is_listed_with_all_it_was(void **state)
{
	struct harness *h = harness_new();
	struct page page;

	(void)state;
	die(h, "a");
	page = list(h, NULL, LETTERS_MAX);
	assert_int_equal(page.count, 1);
	assert_string_equal(page.ids[0], "a");
	assert_string_equal(page.topic, "t");
	assert_string_equal(page.data, "data");
	assert_int_equal(page.letters[0].reason, DW_REASON_LATE);
	assert_string_equal(dw_reason_name(page.letters[0].reason), "LATE");
	assert_int_equal(page.letters[0].at, HARNESS_START);
	assert_int_equal(page.letters[0].due, HARNESS_START - 2);
	assert_int_equal(page.letters[0].late_after_us, 1);
	assert_int_equal(page.letters[0].attempt, 1); /* claimed, and too late then */
	assert_int_equal(page.letters[0].generation, harness_result(h, "a").generation);
	assert_int_equal(page.letters[0].damaged, 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD), 1);
	assert_int_equal(h->start_count, 0);
	harness_free(h);
}

static void retries_end_among_the_dead_letters_and_begin_anew(void **state)
{
	struct harness *h = harness_new();
	struct page page;

	(void)state;
	h->verdict = DW_RETRY;
	(void)harness_put(h, "a", 0);
	harness_pass(h, DW_HOURS(2));
	assert_int_equal(h->start_count, DW_RETRIES_MAX + 1);
	page = list(h, NULL, LETTERS_MAX);
	assert_int_equal(page.count, 1);
	assert_int_equal(page.letters[0].reason, DW_REASON_RETRIES);
	assert_int_equal(page.letters[0].retries, DW_RETRIES_MAX);
	assert_int_equal(page.letters[0].attempt, DW_RETRIES_MAX + 1);
	assert_int_equal(requeue(h, "a", 0, h->wall), DW_OK);
	harness_pass(h, DW_HOURS(2));
	assert_int_equal(h->start_count, 2 * (DW_RETRIES_MAX + 1));
	assert_int_equal(h->starts[DW_RETRIES_MAX + 1].attempt, DW_RETRIES_MAX + 2);
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 1);
	harness_free(h);
}

static void list_goes_by_pages_in_order_of_death(void **state)
{
	static const char *const ids[] = {"c", "a", "b"};
	struct harness *h = harness_new();
	struct page page = {.status = 1};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		die(h, ids[i]);
	for (size_t i = 0; i < 3; i++) {
		page = list(h, &page.next, 1);
		assert_int_equal(page.count, 1);
		assert_string_equal(page.ids[0], ids[i]);
		assert_int_equal(page.next.ended, 0);
	}
	page = list(h, &page.next, 1);
	assert_int_equal(page.count, 0);
	assert_int_equal(page.next.ended, 1);
	harness_free(h);
}

/* A page looks at some letters only, so one without letters may have a page behind it. */
static void list_of_a_topic_goes_on_after_an_empty_page(void **state)
{
	static const dw_dead_select other = {.size = sizeof other, .topic = "other"};
	struct harness *h = harness_new();
	struct page page;
	char id[16];

	(void)state;
	for (unsigned i = 0; i < DW_SCAN_LOOKS + 1; i++) {
		(void)snprintf(id, sizeof id, "%u", i); /* it fits */
		die(h, id);
	}
	page = list_selected(h, &other, NULL, LETTERS_MAX);
	assert_int_equal(page.count, 0);
	assert_int_equal(page.next.ended, 0);
	page = list_selected(h, &other, &page.next, LETTERS_MAX);
	assert_int_equal(page.count, 0);
	assert_int_equal(page.next.ended, 1);
	assert_int_equal(page.next.looked, DW_SCAN_LOOKS + 1);
	harness_free(h);
}

static void requeue_delivers_once_more_at_its_time(void **state)
{
	struct harness *h = harness_new();
	uint64_t dead;

	(void)state;
	die(h, "a");
	dead = harness_result(h, "a").generation;
	assert_int_equal(requeue(h, "a", dead, h->wall + DW_SECONDS(5)), DW_OK);
	assert_true(harness_result(h, "a").generation > dead);
	harness_pass(h, DW_SECONDS(4));
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(h->starts[0].attempt, 2);
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 0);
	assert_int_equal(requeue(h, "a", 0, h->wall), DW_ENOENT);
	harness_free(h);
}

static void requeue_leaves_a_live_timer_alone(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	die(h, "a");
	(void)harness_put(h, "a", DW_SECONDS(9));
	harness_turn(h);
	assert_int_equal(requeue(h, "a", 0, h->wall), DW_EEXIST);
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_SECONDS(9));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 1);
	harness_free(h);
}

static void drop_forgets_one_or_all(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	die(h, "a");
	die(h, "b");
	die(h, "c");
	assert_int_equal(drop(h, "b"), DW_OK);
	assert_int_equal(drop(h, "b"), DW_ENOENT);
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 2);
	assert_int_equal(drop(h, NULL), DW_OK);
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 0);
	harness_free(h);
}

static void old_letters_go_with_an_event(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	die(h, "a");
	harness_jump(h, DW_DAYS(DW_DEAD_DAYS) - DW_HOURS(1));
	harness_pass(h, DW_MINUTES(59));
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD_FORGOTTEN), 0);
	harness_pass(h, DW_MINUTES(2)); /* nobody dies: an idle owner forgets, too */
	assert_int_equal(list(h, NULL, LETTERS_MAX).count, 0);
	assert_int_equal(harness_events_of(h, DW_EVENT_DEAD_FORGOTTEN), 1);
	harness_free(h);
}

static void count_page(dw *d, int status, const dw_dead *letters, size_t count,
		       const dw_cursor *next, void *user)
{
	(void)d;
	assert_true(status == DW_OK || status == DW_ENOMEM);
	assert_int_equal(count, status == DW_OK && letters && next ? 1 : 0);
	++*(int *)user;
}

/* expect: an accepted and confirmed call has made a delivery, a refused one has not. */
static void expect(const struct harness *h, const char *id, bool accepted)
{
	bool done = accepted && harness_result(h, id).status == DW_OK;

	assert_int_equal(harness_starts_of(h, id), done);
}

/* live: a move, a requeue and a page, while the nth allocation fails, or all from it on. */
static bool live(size_t nth, int always)
{
	struct harness *h = harness_new();
	dw_timer late = {.size = sizeof late, .id = "d", .topic = "t"};
	struct done done = {harness_done, h};
	int pages = 0;
	bool listed;
	bool moved;
	bool requeued;
	bool failed;

	late.due = h->wall - DW_HOURS(2);
	late.late_after_us = DW_HOURS(1);
	assert_int_equal(engine_put(h->engine, &late, done), DW_OK);
	assert_int_equal(harness_put(h, "m", DW_HOURS(1)), DW_OK);
	harness_turn(h);
	h->fail_at = h->allocations + nth;
	h->fail_always = always;
	listed = engine_dead_list(h->engine, &arguments_all_letters, NULL, 2,
				  (struct dead_lister){count_page, &pages}) == DW_OK;
	moved = engine_move(h->engine, "m", h->wall + DW_MILLISECONDS(9), done) == DW_OK;
	requeued =
	    engine_dead_requeue(h->engine, "d", 0, h->wall + DW_MILLISECONDS(9), done) == DW_OK;
	harness_pass(h, DW_MILLISECONDS(30));
	failed = h->allocations >= h->fail_at;
	h->fail_at = 0;
	harness_pass(h, DW_MINUTES(2));
	expect(h, "m", moved);
	expect(h, "d", requeued);
	assert_int_equal(pages, listed);
	assert_int_equal(engine_check(h->engine), 0);
	harness_free(h);
	return failed;
}

static void allocation_that_fails_loses_nothing(void **state)
{
	bool failed = true;

	(void)state;
	for (size_t nth = 1; failed; nth++)
		failed = (int)live(nth, 0) | (int)live(nth, 1); /* both */
}

static void bad_arguments_are_refused_in_words(void **state)
{
	struct harness *h = harness_new();
	struct page page;

	(void)state;
	assert_int_equal(engine_dead_list(h->engine, &arguments_all_letters, NULL, 0,
					  (struct dead_lister){on_page, &page}),
			 DW_EINVAL);
	assert_non_null(strstr(engine_error(h->engine), "1 to 1000"));
	assert_int_equal(engine_dead_list(h->engine, &arguments_all_letters, NULL, DW_LIST_MAX + 1,
					  (struct dead_lister){on_page, &page}),
			 DW_EINVAL);
	assert_int_equal(engine_dead_requeue(h->engine, "", 0, 0, (struct done){NULL, NULL}),
			 DW_EINVAL);
	assert_int_equal(engine_dead_drop(h->engine, "", 0, (struct done){NULL, NULL}), DW_EINVAL);
	harness_free(h);
}

static void on_status(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	(void)snprintf(user, REPORT_MAX, "%s", store->owner_report);
}

/* says: the last error of the owner's report. */
static void says(struct harness *h, const char *words)
{
	char report[REPORT_MAX] = "";

	harness_pass(h, DW_SECONDS(11)); /* an idle owner reports each 10 s */
	assert_int_equal(engine_status(h->engine, on_status, report), DW_OK);
	harness_turn(h);
	if (!strstr(report, words))
		fail_msg("%s does not say \"%s\"", report, words);
}

static void death_is_reported_in_its_own_words(void **state)
{
	struct harness *h = harness_new();

	(void)state;
	says(h, "\"last_error_text\":\"\"");
	die(h, "a");
	says(h, "\"last_error_text\":\"a timer came later than its late_after allows and "
		"became a dead letter\"");
	h->verdict = DW_HOLD;
	(void)harness_put(h, "b", 0);
	harness_pass(h, DW_SECONDS(31));
	says(h, "\"a hold was not settled in time: its timer was delivered again\"");
	h->verdict = DW_RETRY;
	harness_pass(h, DW_HOURS(2));
	says(h, "\"a timer was retried, or crashed, too often and became a dead letter\"");
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(late_timer_is_listed_with_all_it_was),
	    cmocka_unit_test(retries_end_among_the_dead_letters_and_begin_anew),
	    cmocka_unit_test(list_goes_by_pages_in_order_of_death),
	    cmocka_unit_test(list_of_a_topic_goes_on_after_an_empty_page),
	    cmocka_unit_test(requeue_delivers_once_more_at_its_time),
	    cmocka_unit_test(requeue_leaves_a_live_timer_alone),
	    cmocka_unit_test(drop_forgets_one_or_all),
	    cmocka_unit_test(old_letters_go_with_an_event),
	    cmocka_unit_test(allocation_that_fails_loses_nothing),
	    cmocka_unit_test(death_is_reported_in_its_own_words),
	    cmocka_unit_test(bad_arguments_are_refused_in_words),
	};

	return cmocka_run_group_tests_name("dead", tests, NULL, NULL);
}
