/* What the engine says and does when its store fails, keeps silent and comes back. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "port/op.h"
#include "support/harness.h"

#define REPORT_MAX 2048

/* A store in front of the harness's: it refuses what it is given, or keeps it. INBOX passes: it
 * waits for news anyway. */
struct shaky {
	dw_store store; /* first */
	struct harness *harness;
	int refusing; /* with this status; DW_OK: it works */
	int silent;
	struct op_queue refused;
	struct op_queue kept;
	char report[REPORT_MAX]; /* the last one */
	int reports;
};

static void take(struct shaky *shaky, dw_op *op)
{
	dw_store *inner = shaky->harness->store;

	op->next = NULL;
	if (op->kind == DW_OP_REPORT) {
		shaky->reports++;
		(void)snprintf(shaky->report, sizeof shaky->report, "%.*s", (int)op->body_size,
			       (const char *)op->body);
	}
	if (op->kind != DW_OP_INBOX && shaky->silent) {
		op_queue_push(&shaky->kept, op);
	} else if (op->kind != DW_OP_INBOX && shaky->refusing) {
		op->status = shaky->refusing;
		op_queue_push(&shaky->refused, op);
		shaky->harness->woken = 1;
	} else {
		inner->type->submit(inner, op);
	}
}

static void shaky_submit(dw_store *store, dw_op *batch)
{
	while (batch) {
		dw_op *next = batch->next;

		take((struct shaky *)store, batch);
		batch = next;
	}
}

static dw_op *shaky_collect(dw_store *store)
{
	struct shaky *shaky = (struct shaky *)store;
	dw_store *inner = shaky->harness->store;
	struct op_queue all = {0};

	op_queue_append(&all, op_queue_take(&shaky->refused));
	op_queue_append(&all, inner->type->collect(inner));
	return op_queue_take(&all);
}

static const dw_store_class shaky_class = {
    .size = sizeof shaky_class, .name = "shaky", .submit = shaky_submit, .collect = shaky_collect};

static struct harness *shaky_new(struct shaky *shaky)
{
	struct harness *h = harness_new();

	*shaky = (struct shaky){.store = {.type = &shaky_class}, .harness = h};
	engine_attach(h->engine, &shaky->store);
	harness_turn(h);
	return h;
}

/* speak hands over what was kept. */
static void speak(struct shaky *shaky)
{
	dw_op *kept = op_queue_take(&shaky->kept);

	shaky->silent = 0;
	if (kept)
		shaky_submit(&shaky->store, kept);
	harness_turn(shaky->harness);
}

static void shaky_free(struct shaky *shaky)
{
	speak(shaky);
	engine_attach(shaky->harness->engine, shaky->harness->store);
	harness_free(shaky->harness);
}

/* ---- Failing ------------------------------------------------------------------------------- */

static void store_that_fails_is_told_once_and_asked_until_it_is_back(void **state)
{
	struct shaky shaky;
	struct harness *h = shaky_new(&shaky);
	dw_stats stats = {.size = sizeof stats};

	(void)state;
	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_turn(h);
	shaky.refusing = DW_ESTORE;
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 1);
	assert_non_null(strstr(h->message, "trying again"));
	engine_stats(h->engine, &stats);
	assert_true(stats.store_failures > 1);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), 0);
	assert_int_equal(h->start_count, 0);
	shaky.refusing = DW_OK;
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), 1);
	assert_int_equal(h->start_count, 1);
	shaky_free(&shaky);
}

static void store_that_fails_again_is_told_again(void **state)
{
	struct shaky shaky;
	struct harness *h = shaky_new(&shaky);

	(void)state;
	for (int i = 1; i <= 3; i++) {
		(void)harness_put(h, "a", DW_SECONDS(1));
		harness_turn(h);
		shaky.refusing = i % 2 ? DW_ESTORE : DW_EUNKNOWN;
		harness_pass(h, DW_SECONDS(2));
		assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), i);
		shaky.refusing = DW_OK;
		harness_pass(h, DW_SECONDS(10));
		assert_int_equal(harness_events_of(h, DW_EVENT_STORE_BACK), i);
		assert_int_equal(h->start_count, i);
	}
	shaky_free(&shaky);
}

static void reports(const struct shaky *shaky, const char *words)
{
	if (!strstr(shaky->report, words))
		fail_msg("%s does not say %s", shaky->report, words);
}

/* stays_quiet: an idle owner reports every 10 s. */
static void stays_quiet(struct shaky *shaky)
{
	int before = shaky->reports;

	harness_pass(shaky->harness, DW_SECONDS(100));
	assert_in_range(shaky->reports - before, 9, 10);
}

static void report_tells_a_change_within_2_s(void **state)
{
	struct shaky shaky;
	struct harness *h = shaky_new(&shaky);

	(void)state;
	harness_pass(h, DW_SECONDS(20));
	stays_quiet(&shaky);
	(void)harness_put(h, "a", DW_SECONDS(3));
	harness_pass(h, DW_SECONDS(2));
	reports(&shaky, "{\"timers\":1,");
	harness_pass(h, DW_SECONDS(3));
	reports(&shaky, "{\"timers\":0,");
	reports(&shaky, "\"fired\":1,\"settled\":1,");
	stays_quiet(&shaky);
	engine_pause(h->engine, true);
	(void)harness_put(h, "b", DW_SECONDS(5));
	harness_pass(h, DW_SECONDS(100));
	stays_quiet(&shaky);
	shaky_free(&shaky);
}

static void report_names_the_last_failure(void **state)
{
	struct shaky shaky;
	struct harness *h = shaky_new(&shaky);
	char at[64];

	(void)state;
	harness_pass(h, DW_SECONDS(10));
	reports(&shaky, "\"last_error\":0,\"last_error_text\":\"\",\"last_error_at\":0");
	/* A call whose callback hears of it is no failure of the owner's ... */
	(void)harness_cancel(h, "nothing");
	harness_pass(h, DW_SECONDS(10));
	reports(&shaky, "\"last_error\":0,");
	/* ... but that the store refuses one is. */
	shaky.refusing = DW_ESTORE;
	(void)harness_put(h, "a", DW_HOURS(1));
	harness_turn(h);
	(void)snprintf(at, sizeof at, "\"last_error_at\":%lld,", (long long)h->wall);
	shaky.refusing = DW_OK;
	harness_pass(h, DW_SECONDS(20));
	reports(&shaky, "\"last_error\":-8,\"last_error_text\":\"the store failed\",");
	reports(&shaky, at);
	/* Told, and forgotten by dw_sync: not by the report. */
	(void)engine_cancel(h->engine, "nothing", 0, (struct done){NULL, NULL});
	harness_turn(h);
	assert_int_equal(engine_take_failure(h->engine), DW_ENOENT);
	harness_pass(h, DW_SECONDS(20));
	reports(&shaky, "\"last_error\":-3,\"last_error_text\":\"no such timer\",");
	shaky_free(&shaky);
}

static void on_status(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	(void)snprintf(user, REPORT_MAX, "%s", store->owner_report);
}

/* Who asks an idle owner right after its start is not told that it still loads. */
static void report_says_at_once_that_loading_is_over(void **state)
{
	struct harness *h = harness_new();
	char report[REPORT_MAX] = "";

	(void)state;
	assert_int_equal(engine_status(h->engine, on_status, report), DW_OK);
	harness_turn(h);
	assert_int_equal(h->wall, HARNESS_START);
	if (!strstr(report, "\"recovering\":false"))
		fail_msg("%s does not say that all is loaded", report);
	harness_free(h);
}

/* ---- Silent -------------------------------------------------------------------------------- */

static void store_that_is_silent_is_slow_and_holds_only_what_it_owes(void **state)
{
	struct shaky shaky;
	struct harness *h = shaky_new(&shaky);

	(void)state;
	(void)harness_put(h, "claimed", DW_MILLISECONDS(100));
	(void)harness_put(h, "waits", DW_MILLISECONDS(200));
	harness_pass(h, DW_MILLISECONDS(95)); /* the first one is claimed by now */
	shaky.silent = 1;
	harness_pass(h, DW_MILLISECONDS(54)); /* the settle of the first one waits since 49 ms */
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_SLOW), 0);
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_SLOW), 1);
	assert_int_equal(harness_starts_of(h, "claimed"), 1);
	assert_int_equal(harness_starts_of(h, "waits"), 0);
	harness_pass(h, DW_SECONDS(8));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_SLOW), 1);
	harness_pass(h, DW_SECONDS(3));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_SLOW), 2);
	speak(&shaky);
	assert_int_equal(harness_starts_of(h, "waits"), 1);
	assert_int_equal(harness_starts_of(h, "claimed"), 1);
	harness_pass(h, DW_MINUTES(1));
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_SLOW), 2);
	assert_int_equal(harness_events_of(h, DW_EVENT_STORE_FAILED), 0);
	shaky_free(&shaky);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(store_that_fails_is_told_once_and_asked_until_it_is_back),
	    cmocka_unit_test(store_that_fails_again_is_told_again),
	    cmocka_unit_test(report_tells_a_change_within_2_s),
	    cmocka_unit_test(report_names_the_last_failure),
	    cmocka_unit_test(report_says_at_once_that_loading_is_over),
	    cmocka_unit_test(store_that_is_silent_is_slow_and_holds_only_what_it_owes),
	};

	return cmocka_run_group_tests_name("engine_store", tests, NULL, NULL);
}
