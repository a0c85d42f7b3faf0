/* What the engine of a peer tells of all peers: in events, in its report, and in its health. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "durawheel/rule.h"
#include "engine/call/numbers.h"
#include "engine/core.h"
#include "engine/rule/zones.h"
#include "support/leased.h"
#include "support/temp.h"

/* hear: the store says so from now on. */
static void hear(struct leased *leased, dw_sharing sharing)
{
	leased->sharing = sharing;
	leased->harness->woken = 1;
	harness_pass(leased->harness, DW_SECONDS(1));
	assert_int_equal(engine_check(leased->harness->engine), 0);
}

static void hear_clock(struct leased *leased, dw_usec clock, unsigned events)
{
	hear(leased, (dw_sharing){.members = 1, .share = 4, .clock = clock});
	assert_int_equal(harness_events_of(leased->harness, DW_EVENT_CLOCK_APART), events);
}

static void clock_that_is_apart_is_told_once_until_it_is_right(void **state)
{
	struct leased leased;

	(void)state;
	(void)leased_begin_peer(&leased);
	hear_clock(&leased, DW_MILLISECONDS(100), 0);
	hear_clock(&leased, DW_MILLISECONDS(101), 1);
	hear_clock(&leased, DW_MILLISECONDS(500), 1);
	hear_clock(&leased, DW_MILLISECONDS(60), 1); /* it is not right yet */
	hear_clock(&leased, DW_MILLISECONDS(101), 1);
	hear_clock(&leased, DW_MILLISECONDS(-20), 1);
	hear_clock(&leased, DW_MILLISECONDS(-300), 2);
	assert_non_null(strstr(leased.harness->message, "300 ms behind that of the Redis"));
	leased_end(&leased);
}

/* The harness has four shards. */
static void few_shards_are_told_once(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	size_t before;

	(void)state;
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	before = harness_events_of(h, DW_EVENT_SHARDS);
	hear(&leased, (dw_sharing){.members = 2, .share = 4});
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARDS), before + 1);
	assert_non_null(strstr(h->message, "2 processes share 4 shards"));
	assert_non_null(strstr(h->message, "have at least 8 shards"));
	hear(&leased, (dw_sharing){.members = 3, .share = 4});
	hear(&leased, (dw_sharing){0}); /* the list is not known */
	hear(&leased, (dw_sharing){.members = 2, .share = 4});
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARDS), before + 1);
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	hear(&leased, (dw_sharing){.members = 2, .share = 4});
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARDS), before + 2);
	leased_end(&leased);
}

static void shards_that_move_one_by_one_are_told_together(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	size_t before;

	(void)state;
	harness_pass(h, DW_SECONDS(2));
	before = harness_events_of(h, DW_EVENT_SHARDS);
	for (unsigned i = 0; i < 3; i++) {
		leased_tell_shard(&leased, i, DW_SHARD_FOREIGN);
		harness_pass(h, DW_MILLISECONDS(50));
	}
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(2));
	assert_int_equal(harness_events_of(h, DW_EVENT_SHARDS), before + 1);
	assert_string_equal(h->message, "this process has 2 of 4 shards now: gained 1, lost 3");
	leased_end(&leased);
}

/* ---- Health -------------------------------------------------------------------------------- */

static void shard_without_an_owner_makes_a_peer_unhealthy(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	char report[REPORT_SIZE];

	(void)state;
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	hear(&leased, (dw_sharing){.members = 1, .share = 4, .unowned = 2, .first_unowned = 3});
	assert_int_equal(engine_health(h->engine), HEALTH_UNOWNED);
	assert_int_equal(engine_health_shard(h->engine), 3);
	engine_report(h->engine, report);
	assert_non_null(strstr(report, ",\"share\":4,\"unowned\":2,"));
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	leased_end(&leased);
}

/* A shard that moves is loaded in a moment: a peer that was ready stays so. */
static void peer_stays_ready_while_a_shard_is_loaded(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	dw_stats stats;

	(void)state;
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	leased_tell_shard(&leased, 1, DW_SHARD_FOREIGN);
	harness_turn(h);
	leased.keeps = true;
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	recovery_need(&h->engine->recovery, 1);
	assert_true(recovery_loads(h->engine));
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	stats = harness_stats(h);
	assert_false(stats.recovering);
	h->engine->ownership.sharing.loads_since =
	    usec_sub(engine_steady(h->engine), DW_SECONDS(10));
	assert_int_equal(engine_health(h->engine), HEALTH_LOADS);
	leased.keeps = false;
	harness_pass(h, DW_SECONDS(1));
	assert_int_equal(engine_health(h->engine), HEALTH_OK);
	leased_end(&leased);
}

/* ---- What is in the way -------------------------------------------------------------------- */

static void expect_busy(struct harness *h, const char *words)
{
	char report[REPORT_SIZE];

	engine_report(h->engine, report);
	if (!strstr(report, words))
		fail_msg("%s is not in %s", words, report);
}

static void report_says_which_deliveries_are_in_the_way(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);

	(void)state;
	h->verdict = DW_HOLD;
	(void)harness_put(h, "a", 0);
	(void)harness_put(h, "b", DW_SECONDS(10));
	harness_pass(h, DW_SECONDS(15));
	assert_int_equal(harness_stats(h).held, 2);
	hear(&leased, (dw_sharing){.members = 2, .share = 4});
	expect_busy(h, ",\"busy_shards\":0,\"busy_topics\":\"\",");
	hear(&leased, (dw_sharing){.members = 2, .share = 2});
	expect_busy(h, ",\"busy_shards\":2,\"busy_topics\":\"t (17 s)\",");
	leased_end(&leased);
}

/* ---- Time zones ---------------------------------------------------------------------------- */

/* set_zone gives the zone "Some" of the folder the rules of another one. */
static void set_zone(const char *folder, const char *zone)
{
	char path[TEMP_SIZE], from[TEMP_SIZE];

	(void)snprintf(from, sizeof from, "/usr/share/zoneinfo/%s", zone);
	(void)unlink(temp_file(path, folder, "Some"));
	temp_copy(from, path);
}

/* The other peer has computed the occurrence. When it is gone, the zones of this one count. */
static void peer_with_older_zones_corrects_nothing(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_peer(&leased);
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t"};
	dw_sharing newer = {.members = 1, .share = 4, .has_newer_zones = 1};
	char folder[TEMP_SIZE], message[DW_MESSAGE_SIZE];
	dw_rule *rule = NULL;

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	set_zone(folder, "Europe/London");
	assert_int_equal(dw_rule_parse("cron 0 12 1 * *; zone Some", &rule, message), DW_OK);
	timer.rule = rule;
	assert_int_equal(engine_put(h->engine, &timer, (struct done){harness_done, h}), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	set_zone(folder, "Asia/Tokyo");
	hear(&leased, newer);
	h->engine->timers.rules.look_at = 0;
	hear(&leased, newer);
	zones_correct(h->engine, index_find(&h->engine->timers.index, "a"));
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_NEXT], 0);
	hear(&leased, (dw_sharing){.members = 1, .share = 4});
	zones_correct(h->engine, index_find(&h->engine->timers.index, "a"));
	harness_turn(h);
	assert_int_equal(leased.asked[DW_OP_NEXT], 1);
	dw_rule_free(rule);
	(void)unsetenv("TZDIR");
	temp_remove(folder);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clock_that_is_apart_is_told_once_until_it_is_right),
	    cmocka_unit_test(few_shards_are_told_once),
	    cmocka_unit_test(shards_that_move_one_by_one_are_told_together),
	    cmocka_unit_test(shard_without_an_owner_makes_a_peer_unhealthy),
	    cmocka_unit_test(peer_stays_ready_while_a_shard_is_loaded),
	    cmocka_unit_test(report_says_which_deliveries_are_in_the_way),
	    cmocka_unit_test(peer_with_older_zones_corrects_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
