#include "contract/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"

enum { START = 1000000000 };

/* ---- The place ---- */

void contract_open(struct contract *c, struct ask *ask, dw_role role)
{
	ask_init(ask, role, ++c->token, &c->now);
	assert_int_equal(c->kind->open(c->place, &ask->env, &ask->store), DW_OK);
}

void contract_crash(struct contract *c)
{
	ask_end(&c->owner);
	contract_open(c, &c->owner, DW_OWNER);
}

static int set_up(void **state)
{
	struct contract *c = calloc(1, sizeof *c);

	assert_non_null(c);
	c->kind = *state;
	c->place = c->kind->make_place();
	c->now = START;
	c->token = UINT64_C(0x8000000000000000); /* tokens use all 64 bits */
	contract_open(c, &c->owner, DW_OWNER);
	if (c->kind->shared)
		contract_open(c, &c->client, DW_CLIENT);
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct contract *c = *state;

	ask_end(&c->client);
	ask_end(&c->owner);
	c->kind->free_place(c->place);
	free(c);
	return 0;
}

/* ---- Put ---- */

static void put_of_new_id_stores_it(void **state)
{
	struct contract *c = *state;
	dw_op *op = ask_done(&c->owner, ask_put_full("a", "t", 500, "payload"));
	dw_op *get = ask_done(&c->owner, ask_get("a"));

	assert_int_equal(op->status, DW_OK);
	assert_true(op->head.generation >= START);
	assert_int_equal(get->status, DW_OK);
	assert_int_equal(get->rows->head.generation, op->head.generation);
	assert_int_equal(get->rows->head.due, 500);
	assert_int_equal(get->rows->head.state, DW_PENDING);
	assert_int_equal(get->rows->head.attempt, 0);
	assert_int_equal(get->rows->head.open, 0);
	assert_int_equal(get->rows->body_size, op->body_size);
	assert_memory_equal(get->rows->body, op->body, op->body_size);
	ask_free(op);
	ask_free(get);
}

static void put_with_new_of_taken_id_answers_eexist(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_put("a", 700, DW_OP_NEW)), DW_EEXIST);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.generation, generation);
	assert_int_equal(head.due, 500);
	assert_int_equal(ask_status(&c->owner, ask_put("b", 700, DW_OP_NEW)), DW_OK);
}

static void put_again_replaces_with_a_later_generation(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second = ask_put_one(&c->owner, "a", 700);
	dw_op *scan = ask_done(&c->owner, ask_scan(NULL, 10, NULL));

	assert_true(second > first);
	assert_int_equal(scan->row_count, 1);
	assert_int_equal(scan->rows->head.due, 700);
	ask_free(scan);
}

static void put_when_the_clock_steps_back_still_grows(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second;

	c->now = 5;
	second = ask_put_one(&c->owner, "b", 500);
	assert_int_equal(second, first + 1);
	c->now = START * 2LL;
	assert_int_equal(ask_put_one(&c->owner, "c", 500), START * 2LL);
}

static void put_claimed_is_claimed_at_once(void **state)
{
	struct contract *c = *state;
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_put("a", 500, DW_OP_CLAIMED), &head), DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.state, DW_CLAIMED);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", head.generation, 1)),
			 DW_OK);
}

static uint64_t put_and_claim(struct contract *c, const char *id)
{
	uint64_t generation = ask_put_one(&c->owner, id, 500);

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, id, generation, 0)), DW_OK);
	return generation;
}

static void put_over_claimed_by_the_owner_is_open(void **state)
{
	struct contract *c = *state;
	dw_head head;

	put_and_claim(c, "a");
	assert_int_equal(ask_head(&c->owner, ask_put("a", 900, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(head.attempt, 0);
	assert_int_equal(ask_head(&c->owner, ask_put("a", 901, 0), &head), DW_OK);
	assert_int_equal(head.open, 1); /* of an open one, too */
	assert_int_equal(ask_head(&c->owner, ask_put("a", 902, DW_OP_WITHDRAWN), &head), DW_OK);
	assert_int_equal(head.open, 0);
}

static void put_over_claimed_with_withdrawn_is_not_open(void **state)
{
	struct contract *c = *state;
	dw_head head;

	put_and_claim(c, "a");
	assert_int_equal(ask_head(&c->owner, ask_put("a", 900, DW_OP_WITHDRAWN), &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.open, 0);
	assert_int_equal(head.state, DW_PENDING);
}

/* ---- Claim ---- */

static void claim_of_pending_counts_the_attempt(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.crashes, 0);
	assert_int_equal(head.open, 0);
	assert_int_equal(head.due, 500);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_CLAIMED);
	assert_int_equal(head.attempt, 1);
}

static void claim_repeated_answers_the_same(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.crashes, 0);
	assert_int_equal(head.open, 0);
}

static void claim_of_a_replaced_generation_shows_the_stored_one(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);
	uint64_t second = ask_put_one(&c->owner, "a", 600);
	dw_op *op = ask_done(&c->owner, ask_about(DW_OP_CLAIM, "a", first, 0));
	dw_head head;

	assert_int_equal(op->status, DW_ESTALE);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, second);
	assert_int_equal(op->rows->head.due, 600);
	assert_true(op->rows->body_size > 0);
	assert_int_equal(op->head.generation, first); /* what was asked stays */
	ask_free(op);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_PENDING);
}

static void claim_of_another_attempt_is_stale(void **state)
{
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->owner, "a", 500);

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1)),
			 DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1)),
			 DW_ESTALE);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "x", generation, 0)),
			 DW_ENOENT);
}

static void claim_after_a_crash_counts_it_and_is_open(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	contract_crash(c);
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 1);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 1);
}

/* ---- Settle, retry, bury ---- */

static void settle_deletes_and_repeated_answers_enoent(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)),
			 DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
}

static void verdict_of_an_earlier_delivery_changes_nothing(void **state)
{
	static const dw_op_kind kinds[] = {DW_OP_SETTLE, DW_OP_RETRY, DW_OP_BURY};
	struct contract *c = *state;
	uint64_t old = put_and_claim(c, "a");
	uint64_t generation = put_and_claim(c, "a");

	for (size_t i = 0; i < 3; i++) {
		dw_op *by_attempt = ask_done(&c->owner, ask_about(kinds[i], "a", generation, 2));
		dw_op *by_generation = ask_done(&c->owner, ask_about(kinds[i], "a", old, 1));

		assert_int_equal(by_attempt->status, DW_ESTALE);
		assert_int_equal(by_generation->status, DW_ESTALE);
		assert_int_equal(by_generation->rows->head.generation, generation);
		assert_int_equal(by_generation->rows->head.state, DW_CLAIMED);
		ask_free(by_attempt);
		ask_free(by_generation);
		assert_int_equal(ask_status(&c->owner, ask_about(kinds[i], "x", old, 1)),
				 DW_ENOENT);
	}
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_SETTLE, "a", generation, 1)), DW_OK);
}

static dw_op *retry(uint64_t generation, uint32_t attempt, dw_usec due, unsigned flags)
{
	dw_op *op = ask_about(DW_OP_RETRY, "a", generation, attempt);

	op->head.due = due;
	op->flags = flags;
	return op;
}

static void retry_with_verdict_counts_and_is_pending(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	for (int i = 0; i < 2; i++) { /* repeated blindly, it counts once */
		assert_int_equal(ask_status(&c->owner, retry(generation, 1, 900, DW_OP_VERDICT)),
				 DW_OK);
		assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
		assert_int_equal(head.state, DW_PENDING);
		assert_int_equal(head.due, 900);
		assert_int_equal(head.attempt, 1);
		assert_int_equal(head.retries, 1);
		assert_int_equal(head.generation, generation);
	}
	assert_int_equal(ask_head(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 1), &head),
			 DW_OK);
	assert_int_equal(head.attempt, 2);
	assert_int_equal(head.crashes, 0);
}

static void retry_without_verdict_gives_the_claim_back(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, retry(generation, 1, 500, 0)), DW_OK);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_OK);
	assert_int_equal(head.state, DW_PENDING);
	assert_int_equal(head.attempt, 1);
	assert_int_equal(head.retries, 0);
	/* a late copy of the claim does not claim again */
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)),
			 DW_ESTALE);
}

static dw_store_status status_of(struct ask *ask)
{
	dw_op *op = ask_done(ask, ask_plain(DW_OP_STATUS));
	dw_store_status status;

	assert_int_equal(op->status, DW_OK);
	status = *op->store_status;
	ask_free(op);
	status.owner = status.owner_report = NULL; /* they went with the block */
	return status;
}

static void bury_moves_to_the_dead_letters(void **state)
{
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "a", generation, 1)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "a", generation, 1)),
			 DW_ENOENT);
	assert_int_equal(ask_stored(&c->owner, "a", &head), DW_ENOENT);
	assert_int_equal(status_of(&c->owner).dead, 1);
	assert_int_equal(status_of(&c->owner).claimed, 0);
}

/* ---- Cancel ---- */

static void cancel_by_the_owner_follows_what_it_knows(void **state)
{
	struct contract *c = *state;

	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_ENOENT);
	ask_put_one(&c->owner, "a", 500);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_ENOENT);
	put_and_claim(c, "b");
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", 0)), DW_ELATE);
	assert_int_equal(ask_status(&c->owner, ask_cancel("b", DW_OP_WITHDRAWN)), DW_OK);
	put_and_claim(c, "d");
	ask_put_one(&c->owner, "d", 900); /* open */
	assert_int_equal(ask_status(&c->owner, ask_cancel("d", 0)), DW_OK);
	assert_int_equal(status_of(&c->owner).pending, 0);
	assert_int_equal(status_of(&c->owner).claimed, 0);
}

static void cancel_of_a_dead_owners_claim_is_ok(void **state)
{
	struct contract *c = *state;

	put_and_claim(c, "a");
	contract_crash(c);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
}

/* Claim g1; client puts g2; client cancels; g1 starts. So the cancel cannot promise. */
static void cancel_of_open_by_a_client_deletes_and_is_late(void **state)
{
	struct contract *c = *state;
	uint64_t first = put_and_claim(c, "a");
	dw_head head;

	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_OK);
	assert_int_equal(head.generation, first); /* claimed: unchanged */
	assert_int_equal(ask_head(&c->client, ask_put("a", 900, 0), &head), DW_OK);
	assert_int_equal(head.open, 1);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ELATE);
	assert_int_equal(ask_stored(&c->client, "a", &head), DW_ENOENT);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_ENOENT);
}

static void cancel_of_pending_by_a_client_is_ok(void **state)
{
	struct contract *c = *state;

	ask_put_one(&c->owner, "a", 500);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", 1, 0)), DW_ENOENT);
}

/* ---- Scan ---- */

/* pages scans to the end by pages of limit and compares with ids in order. */
static void expect_pages(struct contract *c, size_t limit, const char *topic,
			 const char *const *ids, size_t count)
{
	dw_cursor after = {0};
	size_t found = 0;
	size_t page;

	do {
		dw_op *op = ask_done(&c->owner, ask_scan(&after, limit, topic));

		assert_int_equal(op->status, DW_OK);
		page = op->row_count;
		assert_true(page <= limit);
		for (dw_row *row = op->rows; row; row = row->next) {
			assert_true(found < count);
			assert_string_equal(row->id, ids[found++]);
			assert_int_equal(row->status, DW_OK);
			after = (dw_cursor){
			    .due = row->head.due, .generation = row->head.generation, .started = 1};
		}
		ask_free(op);
	} while (page == limit);
	assert_int_equal(found, count);
}

static void scan_with_equal_deadlines_neither_skips_nor_repeats(void **state)
{
	static const char *const ids[] = {"f", "e", "d", "c", "b", "a"};
	struct contract *c = *state;

	for (size_t i = 0; i < 6; i++)
		ask_put_one(&c->owner, ids[i], 500);
	for (size_t limit = 1; limit <= 7; limit++)
		expect_pages(c, limit, NULL, ids, 6);
}

static void scan_answers_in_order_of_due_then_insertion(void **state)
{
	static const char *const ids[] = {"min", "past", "zero", "early", "late", "never"};
	struct contract *c = *state;

	ask_put_one(&c->owner, "never", DW_NEVER);
	ask_put_one(&c->owner, "late", 700);
	ask_put_one(&c->owner, "early", 700);
	ask_put_one(&c->owner, "past", -5);
	ask_put_one(&c->owner, "min", INT64_MIN);
	ask_put_one(&c->owner, "zero", 0);
	ask_put_one(&c->owner, "late", 700); /* a new generation goes to the end */
	for (size_t limit = 1; limit <= 7; limit++)
		expect_pages(c, limit, NULL, ids, 6);
}

static void scan_of_a_topic_leaves_the_others_out(void **state)
{
	static const char *const mail[] = {"b", "d"};
	struct contract *c = *state;

	ask_free(ask_done(&c->owner, ask_put_full("a", "sms", 1, "")));
	ask_free(ask_done(&c->owner, ask_put_full("b", "mail", 2, "")));
	ask_free(ask_done(&c->owner, ask_put_full("c", "sms", 3, "")));
	ask_free(ask_done(&c->owner, ask_put_full("d", "mail", 4, "")));
	expect_pages(c, 1, "mail", mail, 2);
	expect_pages(c, 10, "mail", mail, 2);
	expect_pages(c, 10, "fax", NULL, 0);
}

static void scan_follows_a_retry_to_its_new_place(void **state)
{
	static const char *const ids[] = {"b", "a"};
	struct contract *c = *state;
	uint64_t generation = put_and_claim(c, "a");

	ask_put_one(&c->owner, "b", 600);
	assert_int_equal(ask_status(&c->owner, retry(generation, 1, 800, DW_OP_VERDICT)), DW_OK);
	expect_pages(c, 1, NULL, ids, 2);
}

/* ---- Inbox ---- */

static dw_op *inbox_of(struct contract *c)
{
	dw_op *op = ask_done(&c->owner, ask_plain(DW_OP_INBOX));

	assert_int_equal(op->status, DW_OK);
	return op;
}

static void inbox_shows_what_clients_wrote(void **state)
{
	struct contract *c = *state;
	dw_op *op;
	uint64_t put;

	ask_put_one(&c->owner, "mine", 500); /* the owner's own writes are no news */
	ask_put_one(&c->owner, "b", 500);
	put = ask_put_one(&c->client, "a", 600);
	assert_int_equal(ask_status(&c->client, ask_cancel("b", 0)), DW_OK);
	op = inbox_of(c);
	assert_int_equal(op->row_count, 2);
	assert_string_equal(op->rows->id, "a");
	assert_int_equal(op->rows->head.generation, put);
	assert_int_equal(op->rows->head.due, 600);
	assert_int_equal(op->rows->gone, 0);
	assert_true(op->rows->body_size > 0);
	assert_string_equal(op->rows->next->id, "b");
	assert_int_equal(op->rows->next->gone, 1);
	assert_int_equal(op->rows->next->body_size, 0);
	assert_true(op->rows->next->head.generation > put);
	assert_int_equal(status_of(&c->owner).inbox, 2);
	ask_free(op);
}

/* Inbox read, client writes again, ack of what was read: the second write must stay. */
static void inbox_ack_of_an_older_generation_keeps_the_news(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->client, "a", 600);
	uint64_t second = ask_put_one(&c->client, "a", 700);
	dw_op *op;

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_ACK, "a", first, 0)), DW_OK);
	op = inbox_of(c);
	assert_int_equal(op->row_count, 1);
	assert_int_equal(op->rows->head.generation, second);
	ask_free(op);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_ACK, "a", second, 0)), DW_OK);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_ACK, "a", second, 0)), DW_OK);
	assert_int_equal(status_of(&c->owner).inbox, 0);
}

/* The owner replaces what a client wrote, before it has read the news: the row shows the stored
 * timer, and acknowledging that takes the older news away, too. */
static void inbox_of_a_timer_replaced_since_shows_the_stored_one(void **state)
{
	struct contract *c = *state;
	uint64_t owners;
	dw_op *op;

	ask_put_one(&c->client, "a", 600);
	owners = ask_put_one(&c->owner, "a", 800);
	op = inbox_of(c);
	assert_int_equal(op->rows->head.generation, owners);
	assert_int_equal(op->rows->head.due, 800);
	ask_free(op);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_ACK, "a", owners, 0)), DW_OK);
	assert_int_equal(status_of(&c->owner).inbox, 0);
}

static void inbox_that_is_empty_answers_when_a_client_writes(void **state)
{
	struct contract *c = *state;
	dw_op *op = ask_plain(DW_OP_INBOX);

	ask_send(&c->owner, op);
	ask_put_one(&c->owner, "b", 500);
	assert_false(ask_is_answered(&c->owner, op));
	ask_put_one(&c->client, "a", 600);
	ask_await(&c->owner, op);
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "a");
	ask_free(op);
}

static void inbox_after_a_generation_shows_later_news_only(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->client, "a", 600);
	dw_op *op = ask_plain(DW_OP_INBOX);

	op->after = (dw_cursor){.generation = first, .started = 1};
	ask_send(&c->owner, op);
	ask_put_one(&c->owner, "x", 1);
	assert_false(ask_is_answered(&c->owner, op));
	ask_put_one(&c->client, "b", 600);
	ask_await(&c->owner, op);
	assert_int_equal(op->row_count, 1);
	assert_string_equal(op->rows->id, "b");
	ask_free(op);
}

static void inbox_is_emptied_by_a_new_owner_that_reads_everything(void **state)
{
	struct contract *c = *state;
	static const char *const ids[] = {"a"};

	ask_put_one(&c->client, "a", 600);
	contract_crash(c);
	assert_int_equal(status_of(&c->owner).inbox, 0);
	expect_pages(c, 10, NULL, ids, 1);
}

/* ---- The rest ---- */

static void status_counts_what_is_there(void **state)
{
	struct contract *c = *state;
	dw_store_status status = status_of(&c->owner);

	assert_int_equal(status.pending + status.claimed + status.dead + status.inbox, 0);
	assert_int_equal(status.next_due, DW_NEVER);
	assert_int_equal(status.owner_since, START);
	put_and_claim(c, "claimed");
	ask_put_one(&c->owner, "b", 900);
	ask_put_one(&c->owner, "c", 800);
	status = status_of(&c->owner);
	assert_int_equal(status.pending, 2);
	assert_int_equal(status.claimed, 1);
	assert_int_equal(status.next_due, 800);
}

static void status_repeats_the_owners_report(void **state)
{
	struct contract *c = *state;
	struct alloc alloc = alloc_default();
	dw_op *report = op_new(&alloc, DW_OP_REPORT, NULL, "{\"fired\":3}", 11);
	dw_op *op;

	c->now = START + 77;
	assert_int_equal(ask_status(&c->owner, report), DW_OK);
	op = ask_done(&c->owner, ask_plain(DW_OP_STATUS));
	assert_string_equal(op->store_status->owner_report, "{\"fired\":3}");
	assert_int_equal(op->store_status->owner_seen, START + 77);
	assert_true(strlen(op->store_status->owner) > 0);
	ask_free(op);
}

static void client_may_not_do_what_owners_do(void **state)
{
	static const dw_op_kind kinds[] = {DW_OP_CLAIM, DW_OP_SETTLE, DW_OP_RETRY,
					   DW_OP_BURY,  DW_OP_ACK,    DW_OP_INBOX};
	struct contract *c = *state;
	uint64_t generation = ask_put_one(&c->client, "a", 500);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		assert_int_equal(ask_status(&c->client, ask_about(kinds[i], "a", generation, 0)),
				 DW_EROLE);
	assert_int_equal(ask_status(&c->client, ask_put("b", 1, DW_OP_CLAIMED)), DW_EROLE);
	assert_int_equal(ask_status(&c->client, ask_cancel("a", DW_OP_WITHDRAWN)), DW_EROLE);
	assert_int_equal(status_of(&c->client).pending, 1);
}

static void batch_is_carried_out_in_its_order(void **state)
{
	struct contract *c = *state;
	dw_op *first = ask_put("a", 500, 0);
	dw_op *again = ask_put("a", 600, DW_OP_NEW);
	dw_op *cancel = ask_cancel("a", 0);
	dw_op *last = ask_put("a", 700, DW_OP_NEW);
	dw_op *answers;

	first->next = again;
	again->next = cancel;
	cancel->next = last;
	ask_send(&c->owner, first);
	answers = ask_await(&c->owner, last);
	assert_int_equal(first->status, DW_OK);
	assert_int_equal(again->status, DW_EEXIST);
	assert_int_equal(cancel->status, DW_OK);
	assert_int_equal(answers->status, DW_OK);
	ask_free(first);
	ask_free(again);
	ask_free(cancel);
	ask_free(last);
}

static void generations_survive_a_reopening(void **state)
{
	struct contract *c = *state;
	uint64_t first = ask_put_one(&c->owner, "a", 500);

	c->now = 1;
	contract_crash(c);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	assert_true(ask_put_one(&c->owner, "a", 500) > first);
}

static void stop_answers_everything_once(void **state)
{
	enum { COUNT = 3000 };
	struct contract *c = *state;
	dw_op *ops[COUNT];
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	char id[16];

	ask_send(&c->owner, inbox);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ops[i] = ask_put(id, i, 0);
		ask_send(&c->owner, ops[i]);
	}
	ask_end(&c->owner); /* checks that as many came back */
	assert_int_equal(inbox->status, DW_ECLOSED);
	for (int i = 0; i < COUNT; i++) {
		assert_true(ops[i]->status == DW_OK || ops[i]->status == DW_ECLOSED);
		ask_free(ops[i]);
	}
	ask_free(inbox);
}

static void stop_leaves_what_was_confirmed(void **state)
{
	enum { COUNT = 500 };
	struct contract *c = *state;
	dw_op *ops[COUNT];
	char id[16];
	dw_head head;

	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ops[i] = ask_put(id, i, 0);
		ask_send(&c->owner, ops[i]);
	}
	contract_crash(c);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(ask_stored(&c->owner, id, &head),
				 ops[i]->status == DW_OK ? DW_OK : DW_ENOENT);
		ask_free(ops[i]);
	}
}

/* ---- All ---- */

#define CASE(name, needs)                                                                          \
	{                                                                                          \
		{#name, name, set_up, tear_down, NULL}, needs                                      \
	}

static const struct {
	struct CMUnitTest test;
	bool shared; /* needs a store that can be opened more than once */
} cases[] = {
    CASE(put_of_new_id_stores_it, false),
    CASE(put_with_new_of_taken_id_answers_eexist, false),
    CASE(put_again_replaces_with_a_later_generation, false),
    CASE(put_when_the_clock_steps_back_still_grows, false),
    CASE(put_claimed_is_claimed_at_once, false),
    CASE(put_over_claimed_by_the_owner_is_open, false),
    CASE(put_over_claimed_with_withdrawn_is_not_open, false),
    CASE(claim_of_pending_counts_the_attempt, false),
    CASE(claim_repeated_answers_the_same, false),
    CASE(claim_of_a_replaced_generation_shows_the_stored_one, false),
    CASE(claim_of_another_attempt_is_stale, false),
    CASE(claim_after_a_crash_counts_it_and_is_open, true),
    CASE(settle_deletes_and_repeated_answers_enoent, false),
    CASE(verdict_of_an_earlier_delivery_changes_nothing, false),
    CASE(retry_with_verdict_counts_and_is_pending, false),
    CASE(retry_without_verdict_gives_the_claim_back, false),
    CASE(bury_moves_to_the_dead_letters, false),
    CASE(cancel_by_the_owner_follows_what_it_knows, false),
    CASE(cancel_of_a_dead_owners_claim_is_ok, true),
    CASE(cancel_of_open_by_a_client_deletes_and_is_late, true),
    CASE(cancel_of_pending_by_a_client_is_ok, true),
    CASE(scan_with_equal_deadlines_neither_skips_nor_repeats, false),
    CASE(scan_answers_in_order_of_due_then_insertion, false),
    CASE(scan_of_a_topic_leaves_the_others_out, false),
    CASE(scan_follows_a_retry_to_its_new_place, false),
    CASE(inbox_shows_what_clients_wrote, true),
    CASE(inbox_ack_of_an_older_generation_keeps_the_news, true),
    CASE(inbox_of_a_timer_replaced_since_shows_the_stored_one, true),
    CASE(inbox_that_is_empty_answers_when_a_client_writes, true),
    CASE(inbox_after_a_generation_shows_later_news_only, true),
    CASE(inbox_is_emptied_by_a_new_owner_that_reads_everything, true),
    CASE(status_counts_what_is_there, false),
    CASE(status_repeats_the_owners_report, false),
    CASE(client_may_not_do_what_owners_do, true),
    CASE(batch_is_carried_out_in_its_order, false),
    CASE(generations_survive_a_reopening, true),
    CASE(stop_answers_everything_once, false),
    CASE(stop_leaves_what_was_confirmed, true),
    CASE(contract_random, false),
};

int contract_run(const struct contract_kind *kind)
{
	enum { COUNT = sizeof cases / sizeof *cases };
	struct CMUnitTest tests[COUNT];
	size_t count = 0;

	for (size_t i = 0; i < COUNT; i++) {
		if (cases[i].shared && !kind->shared)
			continue;
		tests[count] = cases[i].test;
		/* cmocka hands it to set_up, which only reads it */
		tests[count].initial_state = (void *)(uintptr_t)kind;
		count++;
	}
	return _cmocka_run_group_tests(kind->name, tests, count, NULL, NULL);
}
