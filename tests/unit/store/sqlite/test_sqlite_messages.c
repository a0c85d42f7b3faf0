/* Messages that somebody else has changed. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/topic.h"
#include "support/newer.h"
#include "support/sqlite_fixture.h"
#include "support/viewer.h"

/* What a program hears of its queue. */
struct hearer {
	struct viewer viewer;
	char ids[8];
	int takes; /* that were answered */
	uint64_t dropped, hidden;
};

static void hear_messages(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct hearer *hearer = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	memset(hearer->ids, 0, sizeof hearer->ids);
	for (size_t i = 0; i < count && i + 1 < sizeof hearer->ids; i++)
		hearer->ids[i] = *messages[i].id;
	hearer->takes++;
}

/* hear takes at most two messages. */
static void hear(struct hearer *hearer)
{
	static const char *const topic = "q";
	dw_take_options take = {.size = sizeof take, .topics = &topic, .topic_count = 1, .max = 2};
	int takes = hearer->takes;

	assert_int_equal(dw_take(hearer->viewer.d, &take, hear_messages, hearer), DW_OK);
	viewer_await(&hearer->viewer, &hearer->takes, takes + 1);
}

static void hear_topics(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	((struct hearer *)user)->dropped = topics[0].dropped;
	((struct hearer *)user)->hidden = topics[0].taken;
}

static int push(struct hearer *hearer, const char *id)
{
	dw_timer message = {.size = sizeof message, .id = id, .topic = "q"};

	return viewer_answer(&hearer->viewer,
			     dw_push(hearer->viewer.d, &message, 1, viewer_done, &hearer->viewer));
}

/* check_finds: so many flaws; the first one says these words of the topic. */
static void check_finds(struct fixture *f, uint64_t count, const char *words)
{
	dw_op *op;

	fixture_open(f, &f->other, DW_CLIENT);
	op = ask_done(&f->other, ask_plain(DW_OP_CHECK));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, count);
	if (count > 0) {
		assert_string_equal(op->rows->id, "q");
		assert_non_null(strstr(op->rows->body, words));
	}
	ask_free(op);
	ask_end(&f->other);
}

/* push_three: the message b between a and c is damaged, and the queue is full. */
static void push_three(struct fixture *f, struct hearer *hearer, dw_usec hide)
{
	dw_topic_settings settings = {
	    .size = sizeof settings, .queue = 1, .max = 3, .overflow = DW_REFUSE, .hide_us = hide};
	struct viewer *viewer = &hearer->viewer;

	assert_int_equal(
	    viewer_answer(viewer, dw_topic_set(viewer->d, "q", &settings, viewer_done, viewer)),
	    DW_OK);
	assert_int_equal(push(hearer, "a"), DW_OK);
	assert_int_equal(push(hearer, "b"), DW_OK);
	assert_int_equal(push(hearer, "c"), DW_OK);
	assert_int_equal(push(hearer, "d"), DW_ELIMIT);
	fixture_raw(f, "UPDATE message SET body = x'4411' WHERE number ="
		       " (SELECT number FROM message ORDER BY number LIMIT 1 OFFSET 1)");
}

/* A damaged message is told once, is counted as dropped, and leaves its place, also if its queue
 * hides nothing. */
static void damaged_message_is_dropped(void **state)
{
	static const dw_usec hides[] = {0, DW_AT_MOST_ONCE};
	struct fixture *f = *state;
	char url[TEMP_SIZE + 8];
	dw_options options = {.store = url};

	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	for (size_t i = 0; i < 2; i++) {
		struct hearer hearer = {0};

		assert_int_equal(viewer_open(&hearer.viewer, &options), DW_OK);
		push_three(f, &hearer, hides[i]);
		check_finds(f, 1, "the next take drops it");
		hear(&hearer);
		assert_string_equal(hearer.ids, "a");
		viewer_await(&hearer.viewer, &hearer.viewer.events[DW_EVENT_CORRUPT], 1);
		hear(&hearer);
		assert_string_equal(hearer.ids, "c");
		viewer_sync(&hearer.viewer,
			    dw_topic_list(hearer.viewer.d, "q", hear_topics, &hearer));
		assert_int_equal(hearer.dropped, 1);
		check_finds(f, 0, "");
		assert_int_equal(push(&hearer, "d"), DW_OK);
		assert_int_equal(hearer.viewer.events[DW_EVENT_CORRUPT], 1);
		viewer_close(&hearer.viewer);
		fixture_raw(f, "DELETE FROM message; DELETE FROM topic");
	}
}

/* make_newer: a newer durawheel has written the message b. */
static void make_newer(struct fixture *f)
{
	unsigned char body[NEWER_BODY_MAX];
	size_t size = newer_body("b", "q", body);
	char words[256] = "UPDATE message SET body = x'";
	size_t used = strlen(words);

	for (size_t i = 0; i < size; i++, used += 2)
		(void)snprintf(words + used, sizeof words - used, "%02x", body[i]);
	(void)snprintf(words + used, sizeof words - used, "' WHERE length(body) = 2");
	fixture_raw(f, words);
}

/* Nobody takes it, and it stays for the newer one, also if its queue hides nothing. */
static void newer_message_is_left_alone(void **state)
{
	static const dw_usec hides[] = {0, DW_AT_MOST_ONCE};
	struct fixture *f = *state;
	char url[TEMP_SIZE + 8];
	dw_options options = {.store = url};

	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	for (size_t i = 0; i < 2; i++) {
		struct hearer hearer = {0};

		assert_int_equal(viewer_open(&hearer.viewer, &options), DW_OK);
		push_three(f, &hearer, hides[i]);
		make_newer(f);
		hear(&hearer);
		assert_string_equal(hearer.ids, "a");
		hear(&hearer);
		assert_string_equal(hearer.ids, "c");
		assert_int_equal(hearer.viewer.events[DW_EVENT_CORRUPT], 1);
		viewer_sync(&hearer.viewer,
			    dw_topic_list(hearer.viewer.d, "q", hear_topics, &hearer));
		assert_int_equal(hearer.dropped, 0);
		assert_int_equal(hearer.hidden, hides[i] ? 1 : 3);
		viewer_close(&hearer.viewer);
		fixture_raw(f, "DELETE FROM message; DELETE FROM topic");
	}
}

/* A counter that is wrong makes a queue full that is not. The next owner counts again. */
static void counter_of_a_queue_is_checked(void **state)
{
	struct fixture *f = *state;
	struct hearer hearer = {0};
	char url[TEMP_SIZE + 8];
	dw_options options = {.store = url};

	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	assert_int_equal(viewer_open(&hearer.viewer, &options), DW_OK);
	push_three(f, &hearer, 0);
	fixture_raw(f, "DELETE FROM message WHERE length(body) = 2");
	assert_int_equal(push(&hearer, "d"), DW_ELIMIT);
	check_finds(f, 1, "its queue has 2 messages, and its counter says 3: the next owner");
	viewer_close(&hearer.viewer);
	assert_int_equal(viewer_open(&hearer.viewer, &options), DW_OK);
	check_finds(f, 0, "");
	assert_int_equal(push(&hearer, "d"), DW_OK);
	assert_int_equal(push(&hearer, "e"), DW_ELIMIT);
	viewer_close(&hearer.viewer);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(damaged_message_is_dropped),
	    CASE(newer_message_is_left_alone),
	    CASE(counter_of_a_queue_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
