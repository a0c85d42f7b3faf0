/* The topics: many cost no more each than few, and what a turn can revive is in front. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "topic/topic.h"
#include "support/cmocka.h"
#include "support/harness.h"

#define MANY 200000u
#define CHAIN_MAX 24u /* of random entries, one a bucket on average, the longest has about 10 */

static dw_verdict nothing(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_DONE;
}

static void begin(struct topics *topics, const struct alloc *alloc)
{
	*topics = (struct topics){0};
	assert_int_equal(topics_init(topics, alloc, 1), DW_OK);
}

static struct topic *get(struct topics *topics, unsigned number)
{
	char name[DW_TOPIC_MAX + 1];
	int size = snprintf(name, sizeof name, "topic %u", number);
	struct topic *topic = topics_get(topics, name, (size_t)size);

	assert_non_null(topic);
	assert_ptr_equal(topics_find(topics, name, (size_t)size), topic);
	return topic;
}

static void count_chain(struct linear_node *node, void *user)
{
	(void)node;
	++*(unsigned *)user;
}

static void many_topics_stand_in_short_chains(void **state)
{
	struct alloc alloc = alloc_default();
	struct topics topics;

	(void)state;
	begin(&topics, &alloc);
	for (unsigned i = 0; i < MANY; i++)
		get(&topics, i)->timer_count = 1;
	for (uint32_t i = 0; i < topics.table.bucket_count; i++) {
		unsigned chain = 0;

		assert_true(linear_visit(&topics.table, i, count_chain, &chain));
		assert_in_range(chain, 0, CHAIN_MAX);
	}
	for (unsigned i = 0; i < MANY; i++) {
		struct topic *topic = get(&topics, i);

		topic->timer_count = 0;
		topics_drop(&topics, topic);
	}
	assert_int_equal(topics.table.count, 0);
	topics_free(&topics);
}

static void waiting_topic_with_a_handler_is_found_at_once(void **state)
{
	struct alloc alloc = alloc_default();
	struct timer timers[3] = {0};
	struct topics topics;

	(void)state;
	begin(&topics, &alloc);
	for (unsigned i = 0; i < 3; i++) {
		timers[i].topic = get(&topics, i);
		timers[i].topic->timer_count = 1;
		topic_wait(&topics, &timers[i]);
	}
	assert_null(topics_revivable(&topics));
	topic_handle(&topics, timers[1].topic, (struct handler){.fire = nothing});
	assert_ptr_equal(topics_revivable(&topics), timers[1].topic);
	topic_handle(&topics, timers[2].topic, (struct handler){.fire = nothing});
	topic_handle(&topics, timers[2].topic, (struct handler){0});
	assert_ptr_equal(topics_revivable(&topics), timers[1].topic);
	topic_unwait(&topics, &timers[1]);
	assert_null(topics_revivable(&topics));
	topics_handle_any(&topics, (struct handler){.fire = nothing});
	assert_ptr_equal(topics_revivable(&topics), timers[0].topic);
	topics_free(&topics);
}

static void put(struct harness *h, unsigned number, dw_usec due)
{
	char id[32], topic[32];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = topic, .due = due};

	(void)snprintf(id, sizeof id, "t%u", number);
	(void)snprintf(topic, sizeof topic, "topic %u", number);
	assert_int_equal(engine_put(h->engine, &timer, (struct done){0}), DW_OK);
}

/* Three thousand topics, more than a turn looks through. */
static void clock_set_back_makes_waiting_timers_pending_again(void **state)
{
	struct harness *h = harness_new();
	dw_usec due = h->wall + DW_SECONDS(100);

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		put(h, i, i % 2 ? due : h->wall);
	harness_pass(h, DW_SECONDS(101));
	assert_int_equal(harness_stats(h).unhandled, 3000);
	h->wall -= DW_SECONDS(50);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(harness_stats(h).unhandled, 1500);
	harness_pass(h, DW_SECONDS(60));
	assert_int_equal(harness_stats(h).unhandled, 3000);
	assert_int_equal(engine_on(h->engine, "topic 7", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(engine_check(h->engine), 0);
	assert_int_equal(engine_on(h->engine, "*", harness_handler, h), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 3000);
	assert_int_equal(engine_check(h->engine), 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(many_topics_stand_in_short_chains),
	    cmocka_unit_test(waiting_topic_with_a_handler_is_found_at_once),
	    cmocka_unit_test(clock_set_back_makes_waiting_timers_pending_again),
	};

	return cmocka_run_group_tests_name("topic", tests, NULL, NULL);
}
