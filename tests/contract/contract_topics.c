/* The settings of topics, and who hears of their changes. */
#include "contract/contract_queue_ops.h"

#include <stdio.h>

#include "port/driven.h"
#include "support/cmocka.h"

static void settings_are_kept(void **state)
{
	struct contract *c = *state;
	dw_topic_info info;

	assert_int_equal(contract_set(&c->owner, "t", "retries=3 queue=1 max=7", 0), DW_OK);
	assert_int_equal(contract_set(&c->owner, "t", "paused=1", DW_OP_PART), DW_OK);
	info = contract_info(&c->owner, "t");
	assert_int_equal(info.settings.retries_max, 3);
	assert_int_equal(info.settings.max, 7);
	assert_int_equal(info.settings.paused, 1);
	assert_int_equal(contract_set(&c->owner, "t", "paused=0", DW_OP_PART), DW_OK);
	assert_int_equal(contract_set(&c->owner, "u", "limit=5", 0), DW_OK);
	assert_int_equal(contract_set(&c->owner, "t", "limit=9", 0), DW_OK);
	info = contract_info(&c->owner, "t");
	assert_int_equal(info.settings.retries_max, 0);
	assert_int_equal(info.settings.limit_us, 9);
	assert_int_equal(contract_info(&c->owner, "u").settings.limit_us, 5);
	contract_crash(c);
	assert_int_equal(contract_info(&c->owner, "t").settings.limit_us, 9);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "t", NULL, 0)), DW_OK);
	assert_int_equal(contract_info(&c->owner, "t").size, 0);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "t", NULL, 0)),
			 DW_ENOENT);
}

static void numbers_of_the_owner_are_shown(void **state)
{
	static const char lines[] = "t\tpending=4 done=9\nq\tdue=2\n";
	struct contract *c = *state;

	assert_int_equal(contract_set(&c->owner, "t", "limit=5", 0), DW_OK);
	assert_int_equal(
	    ask_status(&c->owner, contract_op(DW_OP_TOPIC_COUNT, "", lines, sizeof lines - 1)),
	    DW_OK);
	assert_int_equal(contract_info(&c->owner, "t").pending, 4);
	assert_int_equal(contract_info(&c->owner, "t").done, 9);
	assert_int_equal(contract_info(&c->owner, "t").settings.limit_us, 5);
	assert_int_equal(contract_info(&c->owner, "q").due, 2);
}

static void closed_topic_takes_no_put(void **state)
{
	struct contract *c = *state;
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_put_full("a", "t", 500, "x")), DW_OK);
	assert_int_equal(contract_set(&c->owner, "t", "paused=2", 0), DW_OK);
	for (int i = 0; i < 40; i++) { /* in every shard */
		char id[16];

		(void)snprintf(id, sizeof id, "b%d", i);
		assert_int_equal(ask_status(&c->owner, ask_put_full(id, "t", 500, "x")),
				 DW_EPAUSED);
	}
	assert_int_equal(ask_status(&c->owner, ask_put_full("a", "t", 900, "x")), DW_EPAUSED);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.due, 500);
	assert_int_equal(ask_status(&c->owner, ask_put_full("c", "tt", 500, "x")), DW_OK);
	assert_int_equal(contract_set(&c->owner, "u", "paused=3", 0), DW_OK);
	assert_int_equal(contract_set(&c->owner, "t", "paused=0", DW_OP_PART), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_put_full("d", "t", 500, "x")), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_put_full("d", "u", 500, "x")), DW_EPAUSED);
}

/* Nothing is left of its settings, so it takes puts, and keeps no ends. */
static void dropped_topic_takes_puts_again(void **state)
{
	struct contract *c = *state;

	assert_int_equal(contract_set(&c->owner, "t", "paused=2 keep=3600000000", 0), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_put_full("a", "t", 500, "x")), DW_EPAUSED);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "t", NULL, 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_put_full("a", "t", 500, "x")), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CANCEL, "a", 0, 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_ENDED, "a", 0, 0)), DW_ENOENT);
}

static void client_of_a_closed_topic_hears_it(void **state)
{
	struct contract *c = *state;

	assert_int_equal(contract_set(&c->client, "t", "paused=2", 0), DW_OK);
	assert_int_equal(ask_status(&c->client, ask_put_full("b", "t", 500, "x")), DW_EPAUSED);
	assert_int_equal(ask_status(&c->owner, ask_put_full("b", "t", 500, "x")), DW_EPAUSED);
}

/* The note comes again until it is acknowledged, and not after that. */
static void owner_hears_of_a_clients_change(void **state)
{
	struct contract *c = *state;
	dw_op *op;

	assert_int_equal(contract_set(&c->client, "t", "limit=5", 0), DW_OK);
	op = ask_done(&c->owner, ask_plain(DW_OP_INBOX));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "");
	assert_int_equal(
	    ask_status(&c->owner, ask_about(DW_OP_ACK, "", op->rows->head.generation, 0)), DW_OK);
	ask_free(op);
	assert_int_equal(ask_status(&c->client, ask_put_full("a", "t", 500, "x")), DW_OK);
	op = ask_done(&c->owner, ask_plain(DW_OP_INBOX));
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "a");
	ask_free(op);
}

/* settle_into_queue ends a timer, whose message is made in the same step. */
static int settle_into_queue(struct contract *c, uint64_t generation, uint32_t attempt,
			     int *ret_pushed)
{
	dw_op *op = ask_about(DW_OP_SETTLE, "a", generation, attempt);
	int status;

	op->topic = "q";
	op->message = contract_push_op("q", "a", (dw_head){.generation = generation, .due = 500});
	ask_done(&c->owner, op);
	status = op->status;
	*ret_pushed = op->message->status;
	ask_free(op);
	return status;
}

/* The timer ends and its message is there, or neither. Other stores never get such an operation. */
static void message_is_made_with_the_end_of_its_timer(void **state)
{
	struct contract *c = *state;
	uint64_t generation;
	dw_head stored;
	int pushed;

	if (!driven_settles_messages(c->owner.store))
		return;
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=1 overflow=1", 0), DW_OK);
	generation = contract_claim(c, "a");
	assert_int_equal(settle_into_queue(c, generation, 2, &pushed), DW_ESTALE);
	assert_int_equal(settle_into_queue(c, generation + 1, 1, &pushed), DW_ESTALE);
	assert_int_equal(contract_length(c), 0);
	assert_int_equal(contract_push(c, "b"), DW_OK);
	assert_int_equal(settle_into_queue(c, generation, 1, &pushed), DW_EBUSY);
	assert_int_equal(pushed, DW_ELIMIT);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_OK);
	assert_int_equal(stored.state, DW_CLAIMED);
	assert_int_equal(contract_length(c), 1);
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=2 overflow=1", 0), DW_OK);
	assert_int_equal(settle_into_queue(c, generation, 1, &pushed), DW_OK);
	assert_int_equal(pushed, DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &stored), DW_ENOENT);
	assert_int_equal(contract_length(c), 2);
	assert_int_equal(settle_into_queue(c, generation, 1, &pushed), DW_EBUSY);
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=9", 0), DW_OK);
	assert_int_equal(settle_into_queue(c, generation, 1, &pushed), DW_ENOENT);
	assert_int_equal(contract_length(c), 2);
}

const struct contract_case contract_topics[] = {
    CONTRACT_CASE(settings_are_kept, true),
    CONTRACT_CASE(numbers_of_the_owner_are_shown, false),
    CONTRACT_CASE(closed_topic_takes_no_put, false),
    CONTRACT_CASE(dropped_topic_takes_puts_again, false),
    CONTRACT_CASE(client_of_a_closed_topic_hears_it, true),
    CONTRACT_CASE(owner_hears_of_a_clients_change, true),
    CONTRACT_CASE(message_is_made_with_the_end_of_its_timer, false),
    CONTRACT_CASES_END,
};
