/* The clock of the store was 30 days ahead, and is right again. Messages that it has hidden come
 * back; those that somebody has given a delay keep it. Ends are remembered as long as they say. */
#include "contract/contract_queue_ops.h"
#include "support/cmocka.h"

#define AHEAD DW_DAYS(30)

/* begin_ahead: by a clock that is ahead, "a" is taken and answered. */
static void begin_ahead(struct contract *c, const char *settings, dw_verdict verdict, dw_usec due,
			struct taken *ret_taken)
{
	assert_int_equal(contract_set(&c->owner, "q", settings, 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	contract_set_clock(c, AHEAD);
	assert_int_equal(contract_take_some(&c->owner, 1, ret_taken), DW_OK);
	assert_string_equal(ret_taken->ids, "a");
	if (verdict != DW_DONE)
		assert_int_equal(contract_answer_one(&c->owner, ret_taken->tokens[0], verdict, due),
				 DW_OK);
}

/* end_ahead: the clock is right again. "a" does not come at once. */
static void end_ahead(struct contract *c)
{
	struct taken taken;

	contract_set_clock(c, -AHEAD);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "b");
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
}

static void expect_a(struct contract *c)
{
	struct taken taken;

	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "a");
	assert_int_equal(taken.attempts[0], 2);
}

static void message_hidden_by_a_clock_ahead_comes_back(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	begin_ahead(c, SETTINGS, DW_DONE, 0, &taken);
	end_ahead(c);
	contract_pass(c, 2 * HIDE);
	expect_a(c);
}

static void message_touched_by_a_clock_ahead_comes_back(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	begin_ahead(c, SETTINGS, DW_HOLD, 0, &taken);
	end_ahead(c);
	contract_pass(c, 2 * HIDE);
	expect_a(c);
}

/* The consumer that works on it still has its hide time. */
static void message_hidden_by_a_clock_ahead_stays_hidden(void **state)
{
	struct contract *c = *state;
	struct taken taken, none;

	begin_ahead(c, "queue=1 hide=600000000", DW_DONE, 0, &taken);
	end_ahead(c);
	assert_int_equal(contract_take_some(&c->owner, 9, &none), DW_OK);
	assert_int_equal(none.count, 0);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_length(c), 0);
}

static bool finds(struct ask *ask)
{
	dw_op *op = contract_op(DW_OP_TAKE, "q", NULL, 0);
	bool found;

	op->flags = DW_OP_LOOK;
	found = ask_done(ask, op)->count > 0;
	ask_free(op);
	return found;
}

/* look_and_take: as a consumer that waits, the messages that it gets. One that a server calls does
 * not look. */
static size_t look_and_take(struct contract *c)
{
	struct taken taken = {0};

	if (c->kind->served || finds(&c->owner))
		assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	return taken.count;
}

static void consumer_that_looks_gets_the_message_hidden_by_a_clock_ahead(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	begin_ahead(c, SETTINGS, DW_DONE, 0, &taken);
	assert_int_equal(look_and_take(c), 1);
	contract_set_clock(c, -AHEAD);
	assert_int_equal(look_and_take(c), 0);
	contract_pass(c, 2 * HIDE);
	assert_int_equal(look_and_take(c), 2);
	assert_int_equal(look_and_take(c), 0);
}

static void message_hidden_by_a_clock_ahead_comes_back_in_a_full_store(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	begin_ahead(c, SETTINGS, DW_DONE, 0, &taken);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	contract_set_clock(c, -AHEAD);
	if (c->kind->fill)
		c->kind->fill(c->place, true);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 0);
	if (c->kind->fill)
		c->kind->fill(c->place, false);
	contract_pass(c, 2 * HIDE);
	expect_a(c);
}

/* Many that were given a delay do not keep it back. */
static void retry_computed_by_a_clock_ahead_comes_back(void **state)
{
	struct contract *c = *state;
	struct taken given, taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=9 first=100000", 0), DW_OK);
	assert_int_equal(contract_push(c, "cdefghijklmnopqrstuvwxyz"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 24, &given), DW_OK);
	for (size_t i = 0; i < given.count; i++)
		assert_int_equal(contract_answer_one(&c->owner, given.tokens[i], DW_RETRY,
						     contract_now(c) + 2 * AHEAD),
				 DW_OK);
	begin_ahead(c, SETTINGS "retries=9 first=100000", DW_RETRY, 0, &taken);
	end_ahead(c);
	contract_pass(c, 2 * HIDE);
	expect_a(c);
	assert_int_equal(contract_info(&c->owner, "q").later, 24);
}

static void retry_given_while_the_clock_was_ahead_stays(void **state)
{
	struct contract *c = *state;
	struct taken taken;
	dw_usec due = contract_now(c) + AHEAD + DW_HOURS(1);

	begin_ahead(c, SETTINGS "retries=9", DW_RETRY, due | 1, &taken);
	end_ahead(c);
	contract_set_clock(c, DW_DAYS(29));
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 0);
	contract_set_clock(c, DW_DAYS(1) + DW_HOURS(1));
	contract_pass(c, DW_MILLISECONDS(1));
	expect_a(c);
}

/* An hour, as when summer ends and the clock is a local one: what waits waits for longer. */
static void small_step_back_brings_no_message_forward(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=9 first=100000", 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 2, &taken), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[1], DW_RETRY, 0), DW_OK);
	contract_set_clock(c, -DW_HOURS(1));
	contract_pass(c, 2 * HIDE);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 0);
	contract_set_clock(c, DW_HOURS(1));
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 2);
}

/* ---- Ends ---------------------------------------------------------------------------------- */

static int put_once(struct contract *c, const char *id, dw_usec keep)
{
	dw_op *op = contract_put_kept(id, keep, false);

	op->flags = DW_OP_NEW | DW_OP_ONCE;
	return ask_status(&c->owner, op);
}

static void end_once(struct contract *c, const char *id, dw_usec keep)
{
	assert_int_equal(put_once(c, id, keep), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_cancel(id, 0)), DW_OK);
}

/* From when somebody asks for an end of such a clock, it is remembered as long as it says. */
static void end_by_a_clock_ahead_is_remembered_as_long_as_it_says(void **state)
{
	struct contract *c = *state;

	end_once(c, "before", DW_DAYS(60));
	contract_set_clock(c, AHEAD);
	end_once(c, "hour", DW_HOURS(1));
	end_once(c, "week", DW_DAYS(7));
	contract_set_clock(c, -AHEAD);
	assert_int_equal(put_once(c, "hour", 0), DW_EEXIST);
	assert_int_equal(put_once(c, "week", 0), DW_EEXIST);
	assert_int_equal(put_once(c, "before", 0), DW_EEXIST);
	contract_set_clock(c, DW_MINUTES(50));
	assert_int_equal(put_once(c, "hour", 0), DW_EEXIST);
	contract_set_clock(c, DW_MINUTES(11));
	assert_int_equal(put_once(c, "hour", 0), DW_OK);
	assert_int_equal(put_once(c, "week", 0), DW_EEXIST);
	contract_set_clock(c, DW_DAYS(7));
	assert_int_equal(put_once(c, "week", 0), DW_OK);
	assert_int_equal(put_once(c, "before", 0), DW_EEXIST);
}

const struct contract_case contract_clock[] = {
    CONTRACT_CASE(message_hidden_by_a_clock_ahead_comes_back, false),
    CONTRACT_CASE(message_touched_by_a_clock_ahead_comes_back, false),
    CONTRACT_CASE(message_hidden_by_a_clock_ahead_stays_hidden, false),
    CONTRACT_CASE(consumer_that_looks_gets_the_message_hidden_by_a_clock_ahead, false),
    CONTRACT_CASE(message_hidden_by_a_clock_ahead_comes_back_in_a_full_store, false),
    CONTRACT_CASE(retry_computed_by_a_clock_ahead_comes_back, false),
    CONTRACT_CASE(retry_given_while_the_clock_was_ahead_stays, false),
    CONTRACT_CASE(small_step_back_brings_no_message_forward, false),
    CONTRACT_CASE(end_by_a_clock_ahead_is_remembered_as_long_as_it_says, false),
    CONTRACT_CASES_END,
};
