/* The messages of queues. A message is named by a letter. */
#include "contract/contract_queue_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/cmocka.h"

/* ---- Messages ------------------------------------------------------------------------------ */

static void messages_come_once_and_in_order(void **state)
{
	struct contract *c = *state;
	struct taken first, second, third;

	assert_int_equal(contract_push(c, "a"), DW_ENOENT);
	assert_int_equal(contract_take_some(&c->owner, 1, &first), DW_ENOENT);
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "abc"), DW_OK);
	assert_int_equal(contract_push(c, "de"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 2, &first), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &second), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &third), DW_OK);
	assert_string_equal(first.ids, "ab");
	assert_string_equal(second.ids, "cde");
	assert_int_equal(third.count, 0);
	assert_int_equal(contract_answer_one(&c->owner, first.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, first.tokens[0], DW_DONE, 0), DW_ESTALE);
	contract_pass(c, 2 * HIDE);
	assert_int_equal(contract_take_some(&c->owner, 9, &third), DW_OK);
	assert_int_equal(third.count, 4);
	assert_int_equal(third.attempts[0], 2);
	assert_int_equal(contract_answer_one(&c->owner, first.tokens[1], DW_DONE, 0), DW_ESTALE);
	for (size_t i = 0; i < third.count; i++)
		assert_int_equal(contract_answer_one(&c->owner, third.tokens[i], DW_DONE, 0),
				 DW_OK);
	assert_int_equal(contract_length(c), 0);
}

static void client_takes_what_the_owner_pushed(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->client, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_push_due(&c->client, "q", "c", contract_now(c)), DW_OK);
	assert_int_equal(contract_take_some(&c->client, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "abc");
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_answer_one(&c->client, taken.tokens[1], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_length(c), 1);
}

static void full_queue_drops_the_oldest(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=3", 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(contract_push(c, "cd"), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_ESTALE);
	assert_int_equal(contract_push(c, "efghi"), DW_OK);
	assert_int_equal(contract_length(c), 3);
	assert_int_equal(contract_info(&c->owner, "q").dropped, 6);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "ghi");
}

static void full_queue_refuses(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=3 overflow=1", 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_push(c, "cd"), DW_ELIMIT);
	assert_int_equal(contract_push(c, "c"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "abc");
	assert_int_equal(contract_push(c, "d"), DW_ELIMIT); /* what is taken counts, too */
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[1], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_push(c, "d"), DW_OK);
	assert_int_equal(contract_info(&c->owner, "q").dropped, 0);
}

static void retried_message_comes_back(void **state)
{
	struct contract *c = *state;
	struct taken taken, none;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=1", 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_RETRY,
					     contract_now(c) + DW_MILLISECONDS(200)),
			 DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_RETRY, 1), DW_ESTALE);
	assert_int_equal(contract_info(&c->owner, "q").later, 1);
	assert_int_equal(contract_take_some(&c->owner, 9, &none), DW_OK);
	assert_string_equal(none.ids, "b");
	assert_int_equal(contract_answer_one(&c->owner, none.tokens[0], DW_DONE, 0), DW_OK);
	contract_pass(c, DW_MILLISECONDS(250));
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "a");
	assert_int_equal(taken.attempts[0], 2);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_RETRY, 1), DW_ELIMIT);
	assert_int_equal(contract_info(&c->owner, "q").taken, 1); /* it stays until it is buried */
}

/* back_after answers with a retry and takes the message again: how long that took. */
static dw_usec back_after(struct contract *c, struct taken *taken)
{
	dw_usec before = contract_now(c);

	assert_int_equal(contract_answer_one(&c->owner, taken->tokens[0], DW_RETRY, 0), DW_OK);
	for (;;) {
		assert_int_equal(contract_take_some(&c->owner, 1, taken), DW_OK);
		if (taken->count == 1)
			return contract_now(c) - before;
		contract_pass(c, DW_MILLISECONDS(10));
	}
}

/* The delay of the topic grows. A server's clock may have gone on by any time when it is asked. */
static void retry_follows_the_topic(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(
	    contract_set(&c->owner, "q", SETTINGS "first=100000 factor=4 jitter=4294967295", 0),
	    DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(taken.count, 1);
	for (int retries = 0; retries < 2; retries++) {
		dw_usec delay = back_after(c, &taken);

		assert_true(delay > DW_MILLISECONDS(retries ? 300 : 40));
		if (!c->kind->served)
			assert_true(delay <= DW_MILLISECONDS(retries ? 450 : 190));
	}
	assert_int_equal(taken.attempts[0], 3);
}

/* A LETTER that is sent twice makes one letter. */
static void dead_message_becomes_a_letter(void **state)
{
	struct contract *c = *state;
	unsigned char body[256];
	struct taken taken;
	dw_op *op;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DEAD, 0), DW_ELIMIT);
	for (int i = 0; i < 2; i++) {
		struct alloc alloc = alloc_default();

		op = op_new(&alloc, DW_OP_LETTER, "a", body, contract_encode(body, "a", "q"));
		op->topic = "q";
		op->reason = DW_REASON_GAVE_UP;
		op->head = (dw_head){.generation = 77, .due = 5, .attempt = 3, .retries = 2};
		assert_int_equal(ask_status(&c->owner, op), DW_OK);
	}
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_length(c), 0);
	op = ask_plain(DW_OP_DEAD_SCAN);
	op->limit = 9;
	ask_done(&c->owner, op);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->status, DW_OK);
	assert_int_equal(op->rows->reason, DW_REASON_GAVE_UP);
	assert_int_equal(op->rows->head.generation, 77);
	assert_int_equal(op->rows->head.attempt, 3);
	ask_free(op);
	op = ask_about(DW_OP_REQUEUE, "a", 77, 0);
	op->head.due = 900;
	assert_int_equal(ask_status(&c->owner, op), DW_OK);
}

static void touched_message_stays_hidden(void **state)
{
	struct contract *c = *state;
	struct taken taken, none;
	dw_usec hidden_until;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	for (int i = 0; i < 3; i++) {
		contract_pass(c, HIDE / 2);
		hidden_until = contract_now(c) + HIDE; /* at least */
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_HOLD, 0),
				 DW_OK);
		assert_int_equal(contract_take_some(&c->owner, 1, &none), DW_OK);
		assert_true(none.count == 0 || contract_now(c) >= hidden_until);
		taken = none.count == 0 ? taken : none;
	}
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
}

static void old_message_is_not_handed_out(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "expire=200000", 0), DW_OK);
	assert_int_equal(contract_push_due(&c->owner, "q", "a", contract_now(c) - DW_SECONDS(1)),
			 DW_OK);
	assert_int_equal(contract_push(c, "b"), DW_OK);
	contract_pass(c, DW_MILLISECONDS(250));
	assert_int_equal(contract_push(c, "c"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "c");
	assert_int_equal(contract_info(&c->owner, "q").expired, 2);
	assert_int_equal(contract_length(c), 1);
}

static void message_at_most_once_is_gone(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", "queue=1 hide=-1", 0), DW_OK);
	assert_int_equal(contract_push(c, "abc"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 2, &taken), DW_OK);
	assert_string_equal(taken.ids, "ab");
	assert_int_equal(contract_length(c), 1);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_ESTALE);
}

static void paused_queue_gives_and_takes_nothing(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_set(&c->owner, "q", "paused=3", DW_OP_PART), DW_OK);
	assert_int_equal(contract_push(c, "b"), DW_EPAUSED);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 0);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "q", NULL, 0)),
			 DW_EBUSY);
	assert_int_equal(contract_set(&c->owner, "q", "paused=0", DW_OP_PART), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "a");
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "q", NULL, 0)), DW_OK);
}

/* A timer was accepted before the pause. */
static void paused_intake_takes_messages_of_timers(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "paused=2", 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_EPAUSED);
	assert_int_equal(contract_push_timers(c, "b"), DW_OK);
	assert_int_equal(contract_push(c, "c"), DW_EPAUSED);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "b");
}

static void messages_outlive_the_owner(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	if (!c->kind->shared)
		return; /* its place is gone with it */
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	contract_crash(c);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "b");
}

static void purge_takes_the_messages(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "ab"), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_PURGE)), DW_OK);
	assert_int_equal(contract_length(c), 0);
	assert_int_equal(contract_push(c, "c"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "c");
}

/* ---- Random -------------------------------------------------------------------------------- */

enum { ROUNDS = 400, MESSAGES = 4096, MOST = 12 };

/* One message, as it must be. */
struct expected {
	enum { UNKNOWN, WAITS, IS_TAKEN, COMES_LATER, GONE } state;
	dw_usec until;
	char token[MESSAGE_TOKEN_SIZE];
};

struct oracle {
	struct contract *c;
	struct rng rng;
	struct expected all[MESSAGES];
	int count;
	int handed_out; /* the last one that was handed out for the first time */
};

static void push_some(struct oracle *oracle)
{
	int count = 1 + (int)rng_below(&oracle->rng, 4);
	unsigned char room[4096], body[256];
	unsigned char *at = room;
	int live = 0;

	for (int i = 0; i < count; i++) {
		char id[16];
		struct message message = {.head = {.due = contract_now(oracle->c)}, .body = body};

		(void)snprintf(id, sizeof id, "m%d", oracle->count + i);
		message.body_size = contract_encode(body, id, "q");
		at = message_write(at, &message);
	}
	assert_int_equal(
	    ask_status(&oracle->c->owner, contract_op(DW_OP_PUSH, "q", room, (size_t)(at - room))),
	    DW_OK);
	for (int i = 0; i < count; i++)
		oracle->all[oracle->count++].state = WAITS;
	/* The oldest go. One that came back may be behind others, so only the number is sure. */
	for (int i = 0; i < oracle->count; i++)
		live += oracle->all[i].state != GONE;
	if (live > MOST)
		for (int i = 0; i < oracle->count; i++)
			if (oracle->all[i].state != GONE)
				oracle->all[i].state = UNKNOWN;
}

/* take_some: nothing is handed out twice while it is hidden, and what is new comes in order. */
static void take_some(struct oracle *oracle)
{
	dw_op *op = contract_op(DW_OP_TAKE, "q", NULL, 0);
	dw_usec asked = contract_now(oracle->c);

	op->limit = 1 + rng_below(&oracle->rng, 5);
	ask_done(&oracle->c->owner, op);
	assert_int_equal(op->status, DW_OK);
	for (const dw_row *row = op->rows; row; row = row->next) {
		int number = (int)strtol(row->id + 1, NULL, 10);
		struct expected *message = &oracle->all[number];

		assert_true(message->state != GONE);
		if (row->head.attempt == 1) {
			assert_true(number > oracle->handed_out);
			oracle->handed_out = number;
		}
		if (message->state == IS_TAKEN || message->state == COMES_LATER)
			assert_true(contract_now(oracle->c) >= message->until - 2000);
		message->state = IS_TAKEN;
		message->until = asked + HIDE - DW_MILLISECONDS(50);
		(void)snprintf(message->token, sizeof message->token, "%s", row->token);
	}
	ask_free(op);
}

static void answer_one(struct oracle *oracle)
{
	struct expected *message =
	    &oracle->all[rng_below(&oracle->rng, (uint64_t)oracle->count + 1) %
			 (uint64_t)(oracle->count ? oracle->count : 1)];
	bool done = rng_below(&oracle->rng, 3) > 0;
	dw_usec back = contract_now(oracle->c) + (dw_usec)rng_below(&oracle->rng, 200000);
	int status;

	if (!message->token[0])
		return;
	status =
	    contract_answer_one(&oracle->c->owner, message->token, done ? DW_DONE : DW_RETRY, back);
	assert_true(status == DW_OK || status == DW_ESTALE);
	if (message->state == GONE || message->state == COMES_LATER)
		assert_int_equal(status, DW_ESTALE);
	if (status == DW_OK) {
		message->state = done ? GONE : COMES_LATER;
		message->until = back;
	}
}

static void random_queue_keeps_its_promises(void **state)
{
	static struct oracle oracle;
	struct contract *c = *state;
	struct taken taken;
	dw_topic_info info;
	uint64_t gone = 0;

	oracle = (struct oracle){.c = c, .rng = {.state = 7}, .handed_out = -1};
	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=12 retries=255", 0), DW_OK);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t what = rng_below(&oracle.rng, 8);

		if (what < 2)
			push_some(&oracle);
		else if (what < 4)
			take_some(&oracle);
		else if (what < 7)
			answer_one(&oracle);
		else
			contract_pass(c, (dw_usec)rng_below(&oracle.rng, 40000));
		assert_true(contract_length(c) <= MOST);
	}
	/* Every message was answered, was dropped, or is still there. */
	for (int i = 0; i < oracle.count; i++)
		gone += oracle.all[i].state == GONE;
	info = contract_info(&c->owner, "q");
	assert_int_equal(gone + info.dropped + contract_length(c), oracle.count);
	contract_pass(c, DW_SECONDS(1));
	assert_int_equal(contract_take_some(&c->owner, 64, &taken), DW_OK);
	assert_int_equal(taken.count, contract_length(c));
}

/* put_off takes so many messages, and answers that they come back after an hour. */
static void put_off(struct contract *c, size_t count)
{
	struct taken taken;

	assert_int_equal(contract_take_some(&c->owner, count, &taken), DW_OK);
	assert_int_equal(taken.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[i], DW_RETRY,
						     contract_now(c) + DW_HOURS(1)),
				 DW_OK);
}

/* What comes back later was pushed before what waits, and makes room for it. */
static void full_queue_drops_what_comes_back_first(void **state)
{
	struct contract *c = *state;
	struct taken taken;
	dw_topic_info info;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "max=4 retries=9", 0), DW_OK);
	assert_int_equal(contract_push(c, "abcd"), DW_OK);
	put_off(c, 3);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_string_equal(taken.ids, "d");
	assert_int_equal(contract_push(c, "ef"), DW_OK);
	info = contract_info(&c->owner, "q");
	assert_int_equal(info.waiting, 2);
	assert_int_equal(info.taken, 1);
	assert_int_equal(info.later, 1);
	assert_int_equal(info.dropped, 2);
	assert_int_equal(contract_push(c, "gh"), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0), DW_ESTALE);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_string_equal(taken.ids, "efgh");
}

static void message_that_comes_back_is_before_the_others(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS "retries=9", 0), DW_OK);
	assert_int_equal(contract_push(c, "abc"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 2, &taken), DW_OK);
	assert_int_equal(contract_answer_one(&c->owner, taken.tokens[1], DW_RETRY, 1), DW_OK);
	assert_int_equal(contract_push(c, "d"), DW_OK);
	contract_pass(c, 2 * HIDE);
	assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
	assert_int_equal(taken.count, 4);
	taken.ids[4] = '\0';
	assert_string_equal(taken.ids + 2, "cd");
}

/* However many are hidden before it, what was abandoned comes back when its time is over. */
static void abandoned_message_behind_touched_ones_comes_back(void **state)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	struct contract *c = *state;
	struct taken taken, last;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(contract_push(c, letters), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 51, &taken), DW_OK);
	assert_int_equal(taken.count, 51);
	assert_int_equal(contract_take_some(&c->owner, 9, &last), DW_OK);
	assert_string_equal(last.ids, "z");
	contract_pass(c, HIDE / 2);
	for (size_t i = 0; i < taken.count; i++)
		assert_int_equal(contract_answer_one(&c->owner, taken.tokens[i], DW_HOLD, 0),
				 DW_OK);
	contract_pass(c, HIDE / 2 + DW_MILLISECONDS(20));
	assert_int_equal(contract_take_some(&c->owner, 1, &last), DW_OK);
	assert_string_equal(last.ids, "z");
}

static void message_taken_before_a_change_of_the_hide_time_comes_back(void **state)
{
	static const char *const hides[] = {"hide=-1", "hide=3600000000", "hide=300000"};
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	for (size_t i = 0; i < sizeof hides / sizeof hides[0]; i++) {
		assert_int_equal(contract_set(&c->owner, "q", SETTINGS, DW_OP_PART), DW_OK);
		assert_int_equal(contract_push(c, "ab"), DW_OK);
		assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
		assert_int_equal(contract_set(&c->owner, "q", hides[i], DW_OP_PART), DW_OK);
		assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
		assert_string_equal(taken.ids, "b");
		(void)contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0);
		contract_pass(c, 2 * HIDE);
		assert_int_equal(contract_take_some(&c->owner, 9, &taken), DW_OK);
		assert_string_equal(taken.ids, "a");
		(void)contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0);
		assert_int_equal(contract_length(c), 0);
	}
}

static void deadline_of_a_message_may_be_any_number(void **state)
{
	static const dw_usec dues[] = {INT64_MIN, INT64_MIN + 1, -1,       0,
				       1,         INT64_MAX - 1, INT64_MAX};
	struct contract *c = *state;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	for (size_t i = 0; i < sizeof dues / sizeof dues[0]; i++) {
		dw_op *take = contract_op(DW_OP_TAKE, "q", "", 0);

		assert_int_equal(contract_push_due(&c->owner, "q", "a", dues[i]), DW_OK);
		take->limit = 9;
		take = ask_done(&c->owner, take);
		assert_int_equal(take->status, DW_OK);
		assert_int_equal(take->row_count, 1);
		assert_int_equal(take->rows->status, DW_OK);
		assert_true(take->rows->head.due == dues[i]);
		assert_int_equal(contract_answer_one(&c->owner, take->rows->token, DW_DONE, 0),
				 DW_OK);
		ask_free(take);
	}
}

/* What is taken, or comes back later, keeps its queue. */
static void queue_with_messages_in_any_state_is_not_dropped(void **state)
{
	struct contract *c = *state;
	struct taken taken;

	assert_int_equal(contract_set(&c->owner, "q", SETTINGS, 0), DW_OK);
	assert_int_equal(contract_push(c, "a"), DW_OK);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "q", NULL, 0)),
			 DW_EBUSY);
	(void)contract_answer_one(&c->owner, taken.tokens[0], DW_RETRY, contract_now(c) + HIDE);
	assert_int_equal(contract_info(&c->owner, "q").later, 1);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "q", NULL, 0)),
			 DW_EBUSY);
	contract_pass(c, 2 * HIDE);
	assert_int_equal(contract_take_some(&c->owner, 1, &taken), DW_OK);
	(void)contract_answer_one(&c->owner, taken.tokens[0], DW_DONE, 0);
	assert_int_equal(ask_status(&c->owner, contract_op(DW_OP_TOPIC_DROP, "q", NULL, 0)), DW_OK);
}

const struct contract_case contract_queues[] = {
    CONTRACT_CASE(messages_come_once_and_in_order, false),
    CONTRACT_CASE(client_takes_what_the_owner_pushed, true),
    CONTRACT_CASE(full_queue_drops_the_oldest, false),
    CONTRACT_CASE(full_queue_drops_what_comes_back_first, false),
    CONTRACT_CASE(full_queue_refuses, false),
    CONTRACT_CASE(retried_message_comes_back, false),
    CONTRACT_CASE(message_that_comes_back_is_before_the_others, false),
    CONTRACT_CASE(abandoned_message_behind_touched_ones_comes_back, false),
    CONTRACT_CASE(message_taken_before_a_change_of_the_hide_time_comes_back, false),
    CONTRACT_CASE(deadline_of_a_message_may_be_any_number, false),
    CONTRACT_CASE(retry_follows_the_topic, false),
    CONTRACT_CASE(dead_message_becomes_a_letter, false),
    CONTRACT_CASE(touched_message_stays_hidden, false),
    CONTRACT_CASE(old_message_is_not_handed_out, false),
    CONTRACT_CASE(message_at_most_once_is_gone, false),
    CONTRACT_CASE(paused_queue_gives_and_takes_nothing, false),
    CONTRACT_CASE(paused_intake_takes_messages_of_timers, false),
    CONTRACT_CASE(messages_outlive_the_owner, true),
    CONTRACT_CASE(queue_with_messages_in_any_state_is_not_dropped, false),
    CONTRACT_CASE(purge_takes_the_messages, false),
    CONTRACT_CASE(random_queue_keeps_its_promises, false),
    CONTRACT_CASES_END,
};
