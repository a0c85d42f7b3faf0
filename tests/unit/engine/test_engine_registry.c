/* The settings of topics that an owner reads when its term begins, and after each change. */
#include <string.h>

#include "engine/call/numbers.h"
#include "engine/queue/topic_calls.h"
#include "support/cmocka.h"
#include "support/leased.h"

/* list_is_asked: the engine has asked for the settings. Reports that were kept are done. */
static dw_op *list_is_asked(struct leased *leased)
{
	dw_op *op = op_queue_pop(&leased->kept);

	for (; op && op->kind != DW_OP_TOPIC_LIST; op = op_queue_pop(&leased->kept))
		leased_say(leased, op, DW_OK);
	assert_non_null(op);
	return op;
}

/* begin_term: a timer of topic t is claimed, and the settings of topics are asked for. */
static struct harness *begin_term(struct leased *leased)
{
	struct harness *h = leased_begin(leased);

	(void)harness_put(h, "a", DW_SECONDS(1));
	harness_pass(h, DW_MILLISECONDS(999));
	assert_int_equal(leased->asked[DW_OP_CLAIM], 1);
	leased->keeps = true;
	leased_keep_topics(leased);
	harness_turn(h);
	return h;
}

/* The topic may be paused, or a queue, so its timer waits. */
static void nothing_starts_before_the_settings_are_read(void **state)
{
	static const int statuses[] = {DW_ESTORE, DW_ECORRUPT, DW_EUNKNOWN, DW_ENOMEM};
	struct leased leased;
	struct harness *h = begin_term(&leased);

	(void)state;
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		leased_say(&leased, list_is_asked(&leased), statuses[i]);
		harness_pass(h, DW_SECONDS(10)); /* it is asked for again */
		assert_int_equal(h->start_count, 0);
	}
	leased_say(&leased, list_is_asked(&leased), DW_OK);
	harness_turn(h);
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* What was read before counts until a change can be read. */
static void change_that_cannot_be_read_is_asked_for_again(void **state)
{
	struct leased leased;
	struct harness *h = begin_term(&leased);

	(void)state;
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(h->start_count, 0);
	harness_pass(h, DW_MILLISECONDS(1));
	assert_int_equal(h->start_count, 1);
	assert_int_equal(
	    engine_topic_pause(h->engine, "t", DW_PAUSE_DELIVERY, (struct done){harness_done, h}),
	    DW_OK);
	(void)engine_turn(h->engine); /* the change is made, and not yet read */
	leased.keeps = true;
	harness_turn(h);
	leased_say(&leased, list_is_asked(&leased), DW_ESTORE);
	harness_turn(h);
	leased_speak(&leased);
	harness_pass(h, DW_SECONDS(10));
	(void)harness_put(h, "b", 0);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 1);
	leased_end(&leased);
}

/* What a failed reading has applied is not known: so all settings are asked for. */
static void change_that_cannot_be_read_asks_for_all(void **state)
{
	struct leased leased;
	struct harness *h = begin_term(&leased);
	dw_op *list;

	(void)state;
	leased_speak(&leased);
	harness_turn(h);
	assert_int_equal(
	    engine_topic_pause(h->engine, "t", DW_PAUSE_DELIVERY, (struct done){harness_done, h}),
	    DW_OK);
	(void)engine_turn(h->engine); /* the change is made, and not yet read */
	leased.keeps = true;
	harness_turn(h);
	list = list_is_asked(&leased);
	assert_true(list->flags & DW_OP_CHANGES);
	leased_say(&leased, list, DW_ENOMEM);
	harness_pass(h, DW_SECONDS(10));
	list = list_is_asked(&leased);
	assert_false(list->flags & DW_OP_CHANGES);
	leased_say(&leased, list, DW_OK);
	harness_turn(h);
	leased_end(&leased);
}

/* ---- Names --------------------------------------------------------------------------------- */

static void add_row(struct leased *leased, dw_op *list, const char *name)
{
	struct alloc alloc = harness_alloc(leased->harness);
	dw_row *row = row_new(&alloc, name, "paused=1", strlen("paused=1"));

	assert_non_null(row);
	row->next = list->rows;
	list->rows = row;
	list->row_count++;
}

/* numbered: the engine's topics. */
static void numbered(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	(void)user;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	assert_string_equal(topics[0].name, "t");
}

/* Another program may write any name. Such a row is left out, and the others count. */
static void names_that_no_topic_has_are_left_out(void **state)
{
	char long_name[4 * DW_TOPIC_MAX] = "";
	const char *const names[] = {"",         "a\nb",       "\033[2J",      "\x7f",
				     "\xc2\x85", "\xff\xfe t", "\xed\xa0\x80", long_name};
	struct leased leased;
	struct harness *h = begin_term(&leased);
	dw_op *list = list_is_asked(&leased);

	(void)state;
	memset(long_name, 'x', DW_TOPIC_MAX + 1);
	add_row(&leased, list, "t");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_row(&leased, list, names[i]);
	memset(long_name, 'y', sizeof long_name - 1);
	add_row(&leased, list, long_name);
	leased_say(&leased, list, DW_OK);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(leased.asked[DW_OP_TOPIC_LIST], 1);
	assert_int_equal(h->start_count, 0); /* t is paused */
	engine_topic_numbers(h->engine, numbered, h);
	leased_end(&leased);
}

/* The answer comes in the next term: the topic may have been paused between the two. */
static void settings_of_an_earlier_term_do_not_count(void **state)
{
	struct leased leased;
	struct harness *h = begin_term(&leased);
	dw_op *old = list_is_asked(&leased), *list;

	(void)state;
	leased_fenced(&leased);
	leased.is_free = true;
	harness_pass(h, DW_SECONDS(2));
	assert_true(engine_is_owner(h->engine));
	leased_say(&leased, old, DW_OK);
	harness_pass(h, DW_SECONDS(10));
	list = list_is_asked(&leased);
	assert_int_equal(h->start_count, 0);
	add_row(&leased, list, "t");
	leased_say(&leased, list, DW_OK);
	leased_speak(&leased);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(h->start_count, 0);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_starts_before_the_settings_are_read),
	    cmocka_unit_test(change_that_cannot_be_read_is_asked_for_again),
	    cmocka_unit_test(change_that_cannot_be_read_asks_for_all),
	    cmocka_unit_test(settings_of_an_earlier_term_do_not_count),
	    cmocka_unit_test(names_that_no_topic_has_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
