/* The ends of timers: kept in the step that ends the timer, shown by ENDED, one for each id, until
 * they expire. */
#include "contract/contract_queue_ops.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "timer/ended.h"
#include "timer/record.h"

#define WEEK DW_DAYS(7)

/* An answer of ENDED. */
struct shown {
	int status;
	dw_ended ended;
	struct ended_names names;
	char result[DW_RESULT_MAX];
};

static struct shown show(struct ask *ask, const char *id)
{
	struct alloc alloc = alloc_default();
	dw_op *op = ask_done(ask, op_new(&alloc, DW_OP_ENDED, id, NULL, 0));
	struct shown shown = {.status = op->status};

	if (shown.status == DW_OK) {
		assert_int_equal(op->row_count, 1);
		assert_string_equal(op->rows->id, id);
		assert_true(
		    ended_read(op->rows->body, op->rows->body_size, &shown.ended, &shown.names));
		memcpy(shown.result, shown.ended.result, shown.ended.result_size);
	}
	ask_free(op);
	return shown;
}

dw_op *contract_put_kept(const char *id, dw_usec keep, bool every)
{
	struct alloc alloc = alloc_default();
	struct record_rule rule = {.text = "every 1m", .occurrence = 500, .until = DW_NEVER};
	unsigned char blocks[RECORD_BLOCKS_MAX];
	struct record record = {.id = id,
				.topic = "topic",
				.data = "data",
				.data_size = 4,
				.blocks = blocks,
				.id_size = (uint8_t)strlen(id),
				.topic_size = 5};
	dw_op *op;

	if (every)
		record.blocks_size = (uint16_t)record_rule_write(&rule, blocks);
	if (keep)
		record.blocks_size +=
		    (uint16_t)record_keep_write(keep, blocks + record.blocks_size);
	op = op_new(&alloc, DW_OP_PUT, id, NULL, record_size(&record));
	assert_non_null(op);
	record_encode(&record, op_room(op));
	op->topic = "topic";
	op->head.due = 500;
	return op;
}

/* claimed puts such a timer and claims it; its generation. */
static uint64_t claimed(struct contract *c, const char *id, dw_usec keep, bool every)
{
	dw_head head;

	assert_int_equal(ask_head(&c->owner, contract_put_kept(id, keep, every), &head), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, id, head.generation, 0)),
			 DW_OK);
	return head.generation;
}

static void keep_of_topic(struct contract *c, const char *text)
{
	assert_int_equal(contract_set(&c->owner, "topic", text, 0), DW_OK);
}

/* settle_op says a result; known: nothing was written since the claim. */
static dw_op *settle_op(const char *id, uint64_t generation, const char *result, bool known)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, DW_OP_SETTLE, id, result, strlen(result));

	assert_non_null(op);
	op->head.generation = generation;
	op->head.attempt = 1;
	op->started = 777;
	op->flags = known ? DW_OP_KNOWN : 0;
	return op;
}

static void settle(struct contract *c, const char *id, uint64_t generation)
{
	assert_int_equal(ask_status(&c->owner, settle_op(id, generation, "", true)), DW_OK);
}

static dw_op *bury_op(const char *id, uint64_t generation, dw_reason reason)
{
	dw_op *op = ask_about(DW_OP_BURY, id, generation, 1);

	op->reason = reason;
	op->started = 778;
	return op;
}

/* next_op renews the timer for an occurrence of 600; reason 0: its delivery is done. said stands
 * behind the body. */
static dw_op *next_op(const char *id, uint64_t generation, dw_reason reason, const char *said)
{
	struct alloc alloc = alloc_default();
	dw_op *put = contract_put_kept(id, WEEK, true);
	size_t body_size = put->body_size, said_size = strlen(said);
	dw_op *op = op_new(&alloc, DW_OP_NEXT, id, NULL, body_size + said_size);
	struct record_rule rule;

	assert_non_null(op);
	memcpy(op_room(op), put->body, body_size);
	assert_true(record_rule(op_room(op), &rule));
	rule.occurrence = 600;
	record_renew(op_room(op), &rule);
	memcpy(op_room(op) + body_size, said, said_size);
	op->body_size = body_size;
	op->limit = said_size;
	op->topic = "topic";
	op->head = (dw_head){.generation = generation, .attempt = 1, .due = 600};
	op->reason = reason;
	op_free(&alloc, put);
	return op;
}

static void expect_absent(struct ask *ask, const char *id)
{
	assert_int_equal(show(ask, id).status, DW_ENOENT);
}

/* ---- Kept ---------------------------------------------------------------------------------- */

static void end_is_not_kept_by_default(void **state)
{
	struct contract *c = *state;

	settle(c, "a", claimed(c, "a", 0, false));
	expect_absent(&c->owner, "a");
	keep_of_topic(c, "keep=0 retries=3");
	settle(c, "a", claimed(c, "a", 0, false));
	expect_absent(&c->owner, "a");
	expect_absent(&c->owner, "never");
}

static void end_of_a_settle_has_all_its_fields(void **state)
{
	struct contract *c = *state;
	const dw_usec week = WEEK;
	char text[40];

	(void)snprintf(text, sizeof text, "keep=%lld", (long long)week);
	keep_of_topic(c, text);
	for (int known = 0; known < 2; known++) {
		uint64_t generation = claimed(c, "a", 0, false);
		struct shown shown;

		assert_int_equal(ask_status(&c->owner, settle_op("a", generation, "r\xff", known)),
				 DW_OK);
		assert_int_equal(ask_stored(&c->owner, "a", &(dw_head){0}), DW_ENOENT);
		shown = show(&c->owner, "a");
		assert_int_equal(shown.status, DW_OK);
		assert_int_equal(shown.ended.end, DW_END_DONE);
		assert_int_equal(shown.ended.reason, DW_REASON_UNKNOWN);
		assert_true(shown.ended.generation == generation);
		assert_string_equal(shown.names.topic, "topic");
		assert_true(shown.ended.due == 500 && shown.ended.started == 777);
		assert_true(shown.ended.until == shown.ended.at + week);
		assert_true(c->kind->served || shown.ended.at == c->now);
		assert_int_equal(shown.ended.attempt, 1);
		assert_int_equal(shown.ended.retries, 0);
		assert_true(*shown.names.by);
		assert_int_equal(shown.ended.result_size, 2);
		assert_memory_equal(shown.result, "r\xff", 2);
	}
}

static void end_of_a_timer_is_kept_as_it_says_itself(void **state)
{
	struct contract *c = *state;
	struct shown shown;

	settle(c, "a", claimed(c, "a", DW_HOURS(1), false));
	shown = show(&c->owner, "a");
	assert_true(shown.ended.until == shown.ended.at + DW_HOURS(1));
	keep_of_topic(c, "keep=5000000000");
	settle(c, "a", claimed(c, "a", DW_HOURS(2), false));
	shown = show(&c->owner, "a");
	assert_true(shown.ended.until == shown.ended.at + DW_HOURS(2));
}

static void end_of_a_settle_that_changes_nothing_is_not_kept(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c, "a", WEEK, false);

	assert_int_equal(ask_status(&c->owner, settle_op("a", generation + 1, "", false)),
			 DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, settle_op("b", generation, "", false)), DW_ENOENT);
	expect_absent(&c->owner, "a");
	expect_absent(&c->owner, "b");
	settle(c, "a", generation);
	assert_int_equal(ask_status(&c->owner, settle_op("a", generation, "again", false)),
			 DW_ENOENT);
	assert_int_equal(show(&c->owner, "a").ended.result_size, 0);
}

static void end_of_a_burial_has_its_reason(void **state)
{
	struct contract *c = *state;
	struct shown shown;

	assert_int_equal(
	    ask_status(&c->owner, bury_op("a", claimed(c, "a", WEEK, false), DW_REASON_LATE)),
	    DW_OK);
	shown = show(&c->owner, "a");
	assert_int_equal(shown.status, DW_OK);
	assert_int_equal(shown.ended.end, DW_END_DEAD);
	assert_int_equal(shown.ended.reason, DW_REASON_LATE);
	assert_true(shown.ended.started == 778);
	assert_int_equal(shown.ended.result_size, 0);
	/* A requeue starts it again, and does not forget. */
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_REQUEUE, "a", 0, 0)), DW_OK);
	assert_int_equal(show(&c->owner, "a").ended.end, DW_END_DEAD);
}

static void end_counts_the_retries(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c, "a", WEEK, false);
	struct shown shown;
	dw_op *op;

	assert_int_equal(ask_status(&c->owner, contract_retry(generation, 1, 800, DW_OP_VERDICT)),
			 DW_OK);
	expect_absent(&c->owner, "a");
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1)), DW_OK);
	op = settle_op("a", generation, "", true);
	op->head.attempt = 2;
	assert_int_equal(ask_status(&c->owner, op), DW_OK);
	shown = show(&c->owner, "a");
	assert_int_equal(shown.ended.attempt, 2);
	assert_int_equal(shown.ended.retries, 1);
	assert_true(shown.ended.due == 800);
}

/* ---- Cancelled ----------------------------------------------------------------------------- */

static void end_of_an_owners_cancel_is_kept(void **state)
{
	struct contract *c = *state;
	struct shown shown;

	assert_int_equal(ask_status(&c->owner, contract_put_kept("a", WEEK, false)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	shown = show(&c->owner, "a");
	assert_int_equal(shown.status, DW_OK);
	assert_int_equal(shown.ended.end, DW_END_CANCELLED);
	assert_int_equal(shown.ended.attempt, 0);
	assert_true(shown.ended.started == 0 && shown.ended.due == 500);
	assert_true(*shown.names.by);
	/* One that is too late ends nothing. */
	(void)claimed(c, "b", WEEK, false);
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", 0)), DW_ELATE);
	expect_absent(&c->owner, "b");
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", DW_OP_WITHDRAWN)), DW_OK);
	assert_int_equal(show(&c->owner, "b").ended.end, DW_END_CANCELLED);
	assert_int_equal(ask_status(&c->owner, ask_cancel("c", 0)), DW_ENOENT);
	expect_absent(&c->owner, "c");
}

/* A client's cancel knows no topic. */
static void end_of_a_clients_cancel_is_kept(void **state)
{
	struct contract *c = *state;
	struct shown shown;

	assert_int_equal(contract_set(&c->client, "topic", "keep=900000000", 0), DW_OK);
	for (int i = 0; i < 40; i++) { /* in every shard */
		char id[16];

		(void)snprintf(id, sizeof id, "a%d", i);
		assert_int_equal(ask_status(&c->owner, contract_put_kept(id, 0, false)), DW_OK);
		assert_int_equal(ask_status(&c->client, ask_cancel(id, 0)), DW_OK);
		shown = show(&c->owner, id);
		assert_int_equal(shown.status, DW_OK);
		assert_int_equal(shown.ended.end, DW_END_CANCELLED);
		assert_true(shown.ended.until == shown.ended.at + 900000000);
		assert_true(*shown.names.by);
	}
	/* The owner's settings count at once, also for a client. */
	keep_of_topic(c, "keep=0");
	assert_int_equal(ask_status(&c->owner, contract_put_kept("b", 0, false)), DW_OK);
	assert_int_equal(ask_status(&c->client, ask_cancel("b", 0)), DW_OK);
	expect_absent(&c->client, "b");
	(void)claimed(c, "c", WEEK, false);
	assert_int_equal(ask_status(&c->client, ask_cancel("c", 0)), DW_ELATE);
	expect_absent(&c->client, "c");
}

static void end_of_a_put_over_a_timer_is_none(void **state)
{
	struct contract *c = *state;

	assert_int_equal(ask_status(&c->owner, contract_put_kept("a", WEEK, false)), DW_OK);
	assert_int_equal(ask_status(&c->owner, contract_put_kept("a", WEEK, false)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_move("a", 900, 0, 0)), DW_OK);
	expect_absent(&c->owner, "a");
}

/* ---- Recurring ----------------------------------------------------------------------------- */

static void end_of_each_occurrence_is_kept(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c, "a", WEEK, true);
	struct shown shown;
	dw_head head;
	dw_op *op = next_op("a", generation, DW_REASON_UNKNOWN, "result");

	op->started = 779;
	assert_int_equal(ask_head(&c->owner, op, &head), DW_OK);
	shown = show(&c->owner, "a");
	assert_int_equal(shown.ended.end, DW_END_DONE);
	assert_true(shown.ended.generation == generation && shown.ended.started == 779);
	assert_true(shown.ended.due == 500);
	assert_int_equal(shown.ended.result_size, 6);
	assert_memory_equal(shown.result, "result", 6);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 0)),
			 DW_OK);
	assert_int_equal(
	    ask_status(&c->owner, next_op("a", head.generation, DW_REASON_RETRIES, "a why")),
	    DW_OK);
	shown = show(&c->owner, "a");
	assert_int_equal(shown.ended.end, DW_END_DEAD);
	assert_int_equal(shown.ended.reason, DW_REASON_RETRIES);
	assert_true(shown.ended.generation == head.generation && shown.ended.started == 0);
	assert_int_equal(shown.ended.result_size, 0);
}

static void end_of_an_occurrence_without_a_start_is_none(void **state)
{
	struct contract *c = *state;
	uint64_t generation = claimed(c, "a", WEEK, true);

	assert_int_equal(ask_status(&c->owner, next_op("a", generation, DW_REASON_UNKNOWN, "")),
			 DW_OK);
	expect_absent(&c->owner, "a");
}

static void end_of_a_claimed_rule_that_a_client_cancels_is_kept(void **state)
{
	struct contract *c = *state;

	(void)claimed(c, "a", WEEK, true);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(show(&c->client, "a").ended.end, DW_END_CANCELLED);
}

/* ---- One an id, for a while ---------------------------------------------------------------- */

static void last_end_of_an_id_counts(void **state)
{
	struct contract *c = *state;
	uint64_t generation;

	settle(c, "a", claimed(c, "a", WEEK, false));
	generation = claimed(c, "a", WEEK, false);
	assert_int_equal(show(&c->owner, "a").ended.end, DW_END_DONE); /* a put leaves it */
	assert_int_equal(ask_status(&c->owner, bury_op("a", generation, DW_REASON_GAVE_UP)), DW_OK);
	assert_int_equal(show(&c->owner, "a").ended.end, DW_END_DEAD);
	contract_crash(c);
	if (c->kind->shared)
		assert_int_equal(show(&c->owner, "a").ended.end, DW_END_DEAD);
	/* An end that is not kept replaces none. */
	settle(c, "a", claimed(c, "a", 0, false));
	if (c->kind->shared)
		assert_int_equal(show(&c->owner, "a").ended.end, DW_END_DEAD);
}

static void end_expires(void **state)
{
	struct contract *c = *state;
	dw_usec keep = DW_MILLISECONDS(30);

	settle(c, "b", claimed(c, "b", WEEK, false));
	do { /* a busy machine may read it too late */
		keep *= 2;
		settle(c, "a", claimed(c, "a", keep, false));
	} while (show(&c->owner, "a").status != DW_OK && keep < DW_SECONDS(60));
	assert_true(keep < DW_SECONDS(60));
	contract_pass(c, keep);
	expect_absent(&c->owner, "a");
	assert_int_equal(show(&c->owner, "b").status, DW_OK);
	/* It goes for good with the next one, or with a report. */
	settle(c, "c", claimed(c, "c", WEEK, false));
	assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_REPORT)), DW_OK);
	c->now -= DW_MILLISECONDS(60);
	expect_absent(&c->owner, "a");
}

static void purge_forgets_all_ends(void **state)
{
	struct contract *c = *state;

	settle(c, "a", claimed(c, "a", WEEK, false));
	assert_int_equal(ask_status(&c->owner, ask_plain(DW_OP_PURGE)), DW_OK);
	expect_absent(&c->owner, "a");
}

static void check_finds_no_flaw_in_ends(void **state)
{
	struct contract *c = *state;
	dw_op *op;

	for (int i = 0; i < 5; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "a%d", i % 3);
		settle(c, id, claimed(c, id, WEEK, false));
	}
	op = ask_done(&c->owner, ask_plain(DW_OP_CHECK));
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->count, 0);
	ask_free(op);
}

/* ---- DW_OP_ONCE ---------------------------------------------------------------------------- */

static int put_once(struct ask *ask, const char *id, dw_usec keep)
{
	dw_op *op = contract_put_kept(id, keep, false);

	op->flags = DW_OP_NEW | DW_OP_ONCE;
	return ask_status(ask, op);
}

static void once_is_refused_while_the_end_is_remembered(void **state)
{
	struct contract *c = *state;
	dw_head head;

	assert_int_equal(put_once(&c->owner, "a", DW_MILLISECONDS(80)), DW_OK);
	assert_int_equal(put_once(&c->owner, "a", DW_MILLISECONDS(80)), DW_EEXIST); /* pending */
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", head.generation, 0)),
			 DW_OK);
	assert_int_equal(put_once(&c->owner, "a", DW_MILLISECONDS(80)), DW_EEXIST); /* claimed */
	settle(c, "a", head.generation);
	assert_int_equal(put_once(&c->owner, "a", DW_MILLISECONDS(80)), DW_EEXIST);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT); /* nothing was stored */
	/* A put without the flag does not care. */
	assert_int_equal(ask_status(&c->owner, ask_put("a", 500, DW_OP_NEW)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	contract_pass(c, DW_MILLISECONDS(80));
	assert_int_equal(put_once(&c->owner, "a", DW_MILLISECONDS(80)), DW_OK);
}

static void once_of_a_client_is_refused_too(void **state)
{
	struct contract *c = *state;

	assert_int_equal(put_once(&c->client, "a", WEEK), DW_OK);
	assert_int_equal(put_once(&c->client, "a", WEEK), DW_EEXIST);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(put_once(&c->client, "a", WEEK), DW_EEXIST);
	assert_int_equal(put_once(&c->owner, "a", WEEK), DW_EEXIST);
	assert_int_equal(put_once(&c->client, "b", WEEK), DW_OK);
}

static void once_without_keep_is_new(void **state)
{
	struct contract *c = *state;
	uint64_t generation;

	assert_int_equal(put_once(&c->owner, "a", 0), DW_OK);
	assert_int_equal(put_once(&c->owner, "a", 0), DW_EEXIST);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(put_once(&c->owner, "a", 0), DW_OK);
	generation = claimed(c, "b", 0, false);
	settle(c, "b", generation);
	assert_int_equal(put_once(&c->owner, "b", 0), DW_OK);
}

const struct contract_case contract_ends[] = {
    CONTRACT_CASE(end_is_not_kept_by_default, false),
    CONTRACT_CASE(end_of_a_settle_has_all_its_fields, false),
    CONTRACT_CASE(end_of_a_timer_is_kept_as_it_says_itself, false),
    CONTRACT_CASE(end_of_a_settle_that_changes_nothing_is_not_kept, false),
    CONTRACT_CASE(end_of_a_burial_has_its_reason, false),
    CONTRACT_CASE(end_counts_the_retries, false),
    CONTRACT_CASE(end_of_an_owners_cancel_is_kept, false),
    CONTRACT_CASE(end_of_a_clients_cancel_is_kept, true),
    CONTRACT_CASE(end_of_a_put_over_a_timer_is_none, false),
    CONTRACT_CASE(end_of_each_occurrence_is_kept, false),
    CONTRACT_CASE(end_of_an_occurrence_without_a_start_is_none, false),
    CONTRACT_CASE(end_of_a_claimed_rule_that_a_client_cancels_is_kept, true),
    CONTRACT_CASE(last_end_of_an_id_counts, false),
    CONTRACT_CASE(end_expires, false),
    CONTRACT_CASE(purge_forgets_all_ends, false),
    CONTRACT_CASE(check_finds_no_flaw_in_ends, false),
    CONTRACT_CASE(once_is_refused_while_the_end_is_remembered, false),
    CONTRACT_CASE(once_of_a_client_is_refused_too, true),
    CONTRACT_CASE(once_without_keep_is_new, false),
    CONTRACT_CASES_END,
};
