/* The bounds of a queue: the bytes of a take, the store's memory, and those of its settings. */
#include "contract/contract_queue_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"
#include "timer/record.h"

enum { LARGE = 20, LARGE_SIZE = 1 << 20 };

/* push_large pushes a message of 1 MiB, named by the letter. */
static void push_large(struct contract *c, char letter)
{
	char id[2] = {letter, '\0'};
	unsigned char *data = calloc(1, LARGE_SIZE), *body = malloc(LARGE_SIZE + 1024);
	unsigned char *bytes = malloc(LARGE_SIZE + 2048);
	struct record record = {.id = id,
				.topic = "q",
				.data = data,
				.data_size = LARGE_SIZE,
				.id_size = 1,
				.topic_size = 1};
	struct message message = {
	    .head = {.due = contract_now(c)}, .body = body, .body_size = record_size(&record)};

	assert_true(data && body && bytes);
	record_encode(&record, body);
	assert_int_equal(
	    ask_status(&c->owner, contract_op(DW_OP_PUSH, "q", bytes,
					      (size_t)(message_write(bytes, &message) - bytes))),
	    DW_OK);
	free(data);
	free(body);
	free(bytes);
}

/* take_large takes all that it gets, and answers it; the size of their data. *at: the next one. */
static size_t take_large(struct contract *c, char *at)
{
	dw_op *op = contract_op(DW_OP_TAKE, "q", NULL, 0);
	size_t bytes = 0;

	op->limit = LARGE;
	op = ask_done(&c->owner, op);
	assert_int_equal(op->status, DW_OK);
	for (const dw_row *row = op->rows; row; row = row->next) {
		struct record record;

		assert_int_equal(row->id[0], (*at)++);
		assert_int_equal(record_decode(row->body, row->body_size, &record), DW_OK);
		bytes += record.data_size;
		assert_int_equal(contract_answer_one(&c->owner, row->token, DW_DONE, 0), DW_OK);
	}
	ask_free(op);
	return bytes;
}

static void take_is_bounded_in_bytes(void **state)
{
	struct contract *c = *state;
	char at = 'a';
	size_t bytes;

	assert_int_equal(contract_set(&c->owner, "q", "queue=1 hide=60000000", 0), DW_OK);
	for (int i = 0; i < LARGE; i++)
		push_large(c, (char)('a' + i));
	bytes = take_large(c, &at);
	assert_in_range(bytes, DW_TAKE_BYTES - 2 * LARGE_SIZE, DW_TAKE_BYTES);
	bytes = take_large(c, &at);
	assert_int_equal(at, 'a' + LARGE);
	assert_in_range(bytes, 1, DW_TAKE_BYTES);
}

/* A store without memory takes no message. But its consumers go on, so it becomes empty. */
static void full_store_can_be_emptied(void **state)
{
	static const dw_verdict verdicts[] = {DW_HOLD, DW_RETRY, DW_DONE};
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=9", 0), DW_OK);
	assert_int_equal(contract_push(c, "abcd"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	if (c->kind->fill) {
		c->kind->fill(c->place, true);
		assert_int_equal(contract_push(c, "e"), DW_EFULL);
	}
	contract_pass(c, 2 * HIDE);
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
		assert_int_equal(taken.count, 1);
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], verdicts[i], 1),
				 DW_OK);
	}
	contract_pass(c, 2 * HIDE);
	while (contract_length(c) > 0) {
		assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
		assert_true(taken.count > 0);
		for (size_t i = 0; i < taken.count; i++)
			assert_int_equal(
			    contract_answer_one(&c->owner, taken.tokens[i], DW_DONE, 0), DW_OK);
	}
	if (c->kind->fill)
		c->kind->fill(c->place, false);
	assert_int_equal(contract_push(c, "f"), DW_OK);
}

static void queue_that_was_emptied_counts_nothing(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(contract_length(c), 1);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_length(c), 0);
}

/* So many retries a message has, and no more. */
static void retries_of_a_message_are_counted(void **state)
{
	static const char *const words[] = {"retries=4294967295", "retries=1", "retries=2"};
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	for (int most = 0; most < 3; most++) {
		assert_int_equal(contract_set(&c->owner, "q", words[most], DW_OP_PART), DW_OK);
		assert_int_equal(contract_push(c, "a"), DW_OK);
		for (int retries = 0; retries <= most; retries++) {
			assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
			assert_string_equal(taken.ids, "a");
			assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_RETRY,
							     contract_now(c)),
					 retries < most ? DW_OK : DW_ELIMIT);
		}
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0),
				 DW_OK);
	}
}

/* The hide time may be gone meanwhile: who works on the message has it, as long as by default. */
static void touched_message_stays_hidden_where_none_is_hidden(void **state)
{
	struct contract *c = *state;
	struct taken taken, none;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(contract_set(&c->owner, "q", "hide=-1", DW_OP_PART), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_HOLD, 0), DW_OK);
	contract_pass(c, 2 * HIDE);
	assert_int_equal(contract_take_some(&c->owner, 1, &none), DW_OK);
	assert_int_equal(none.count, 0);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
}

/* Those that are too old may stand anywhere, because timers keep their deadlines as messages. */
static void message_behind_old_ones_is_handed_out(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", "queue=1 hide=60000000 expire=3600000000", 0),
			 DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(
	    contract_push_due(&c->owner, "q", "bcd", contract_now(c) - DW_SECONDS(3601)), DW_OK);
	assert_int_equal(contract_push(c, "e"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_string_equal(taken.ids, "a");
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_string_equal(taken.ids, "e");
	assert_int_equal(contract_info(&c->owner, "q").expired, 3);
}

/* A server may have taken a push whose reply was lost. It knows the message while it is in the
 * queue, also if no other one has room. */
static void repeated_push_is_known_in_a_full_queue(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	if (!c->kind->served)
		return; /* no reply is lost */
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=1 overflow=1", 0), DW_OK);
	assert_int_equal(contract_push_timers(c, "a"), DW_OK);
	assert_int_equal(contract_push(c, "b"), DW_ELIMIT);
	assert_int_equal(contract_push_timers(c, "a"), DW_OK);
	assert_int_equal(contract_length(c), 1);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "a");
	assert_int_equal(contract_push_timers(c, "a"), DW_OK);
	assert_int_equal(contract_length(c), 1);
}

/* What is pushed after a change of settings is under these, also if nobody has waited for it. */
static void push_does_not_overtake_a_change(void **state)
{
	struct contract *c = *state;
	dw_head head = {.due = contract_now(c)};
	dw_op *before = contract_push_op("q", "a", head),
	      *behind = contract_push_op("q", "b", head);
	dw_op *change = contract_op(DW_OP_TOPIC_SET, "q", "paused=2", strlen("paused=2"));

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	change->flags = DW_OP_PART;
	before->next = change;
	change->next = behind;
	ask_send(&c->owner, before);
	assert_int_equal(ask_await(&c->owner, before)->status, DW_OK);
	assert_int_equal(ask_await(&c->owner, change)->status, DW_OK);
	assert_int_equal(ask_await(&c->owner, behind)->status, DW_EPAUSED);
	ask_free(before);
	ask_free(change);
	ask_free(behind);
}

const struct contract_case contract_queue_bounds[] = {
    CONTRACT_CASE(take_is_bounded_in_bytes, false),
    CONTRACT_CASE(full_store_can_be_emptied, false),
    CONTRACT_CASE(queue_that_was_emptied_counts_nothing, false),
    CONTRACT_CASE(retries_of_a_message_are_counted, false),
    CONTRACT_CASE(touched_message_stays_hidden_where_none_is_hidden, false),
    CONTRACT_CASE(message_behind_old_ones_is_handed_out, false),
    CONTRACT_CASE(repeated_push_is_known_in_a_full_queue, false),
    CONTRACT_CASE(push_does_not_overtake_a_change, false),
    CONTRACT_CASES_END,
};
