/* Scans and the inbox: what answers with many rows. */
#include "contract/contract.h"

#include <string.h>

#include <stdio.h>

#include "port/driven.h"
#include "support/cmocka.h"
#include "support/environment.h"

/* ---- Scan ---- */

/* Which timers a scan shows, and in which order. */
struct way {
	const char *topic;
	const char *prefix;
	dw_usec end;
	unsigned flags;
	unsigned states;
};

/* next_page answers with the page behind *after, and moves it. False: it is the last one. */
static bool next_page(struct ask *ask, struct way way, size_t limit, dw_cursor *after,
		      dw_op **ret_op)
{
	dw_op *op = ask_scan(after, limit, way.topic);

	op->flags = way.flags;
	op->head.due = way.end;
	op->head.state = (uint8_t)way.states;
	op->body = way.prefix;
	op->body_size = way.prefix ? strlen(way.prefix) : 0;
	*ret_op = ask_done(ask, op);
	assert_int_equal(op->status, DW_OK);
	assert_true(op->row_count <= limit);
	*after = op->after;
	return op->row_count == limit || op->flags & DW_OP_PART;
}

/* expect_order scans to the end by pages of limit and compares with ids in order. */
static void expect_order(struct contract *c, struct way way, size_t limit, const char *const *ids,
			 size_t count)
{
	dw_cursor after = {0};
	size_t found = 0;
	bool goes_on;
	dw_op *op;

	do {
		goes_on = next_page(&c->owner, way, limit, &after, &op);
		for (dw_row *row = op->rows; row; row = row->next) {
			assert_true(found < count);
			assert_string_equal(row->id, ids[found++]);
			assert_int_equal(row->status, DW_OK);
		}
		ask_free(op);
	} while (goes_on);
	assert_int_equal(found, count);
}

static void expect_pages(struct contract *c, size_t limit, const char *topic,
			 const char *const *ids, size_t count)
{
	expect_order(c, (struct way){.topic = topic}, limit, ids, count);
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

/* What is submitted at once is inserted in its order, too. */
static void scan_of_one_batch_answers_in_its_order(void **state)
{
	char text[64][8];
	const char *ids[64];
	struct contract *c = *state;
	dw_op *ops[64];

	for (size_t i = 0; i < 64; i++) {
		(void)snprintf(text[i], sizeof text[i], "%zu", 1000 - i);
		ids[i] = text[i];
		ops[i] = ask_put(ids[i], 500, 0);
		if (i > 0)
			ops[i - 1]->next = ops[i];
	}
	ask_send(&c->owner, ops[0]);
	for (size_t i = 0; i < 64; i++) {
		assert_int_equal(ask_await(&c->owner, ops[i])->status, DW_OK);
		ask_free(ops[i]);
	}
	expect_pages(c, 10, NULL, ids, 64);
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
	expect_pages(c, 10, "", NULL, 0);
	expect_pages(c, 10, "mai", NULL, 0);
}

static uint64_t put_of(struct contract *c, const char *id, const char *topic, dw_usec due)
{
	dw_head head;

	assert_int_equal(ask_head(&c->owner, ask_put_full(id, topic, due, ""), &head), DW_OK);
	return head.generation;
}

/* A timer is in the list of its topic wherever it is in its life, and in no other. */
static void scan_of_a_topic_follows_its_timers(void **state)
{
	static const char *const both[] = {"a", "b"};
	static const char *const moved[] = {"b", "a"};
	struct contract *c = *state;
	uint64_t generation;
	dw_op *op;

	put_of(c, "a", "sms", 5);
	put_of(c, "b", "mail", 2);
	expect_pages(c, 10, "mail", both + 1, 1);
	put_of(c, "a", "mail", 1); /* replaces one of another topic */
	expect_pages(c, 10, "sms", NULL, 0);
	expect_pages(c, 10, "mail", both, 2);
	assert_int_equal(ask_status(&c->owner, ask_move("a", 3, 0, 0)), DW_OK);
	expect_pages(c, 10, "mail", moved, 2);
	generation = put_of(c, "b", "mail", 4);
	expect_pages(c, 10, "mail", both, 2);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "b", generation, 0)), DW_OK);
	expect_pages(c, 10, "mail", both, 2);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_BURY, "b", generation, 1)), DW_OK);
	expect_pages(c, 10, "mail", both, 1);
	op = ask_about(DW_OP_REQUEUE, "b", 0, 0);
	op->head.due = 2;
	assert_int_equal(ask_status(&c->owner, op), DW_OK);
	expect_pages(c, 10, "mail", moved, 2);
	assert_int_equal(ask_status(&c->owner, ask_cancel("a", 0)), DW_OK);
	expect_pages(c, 10, "mail", moved, 1);
}

/* Many timers of many topics, also with the deadlines at which a score ends. */
static void scan_of_a_topic_answers_in_order_of_due_then_insertion(void **state)
{
	static const char *const ids[] = {"min", "past", "zero", "early", "late", "never"};
	struct contract *c = *state;

	put_of(c, "never", "mail", DW_NEVER);
	put_of(c, "late", "mail", 700);
	put_of(c, "early", "mail", 700);
	put_of(c, "past", "mail", -5);
	put_of(c, "min", "mail", INT64_MIN);
	put_of(c, "zero", "mail", 0);
	put_of(c, "late", "mail", 700); /* a new generation goes to the end */
	put_of(c, "mai", "mai", 600);
	put_of(c, "mailx", "mailx", 600);
	for (size_t limit = 1; limit <= 7; limit++)
		expect_pages(c, limit, "mail", ids, 6);
	expect_order(c, (struct way){.topic = "mail", .end = 700}, 2, ids, 3);
	expect_order(c, (struct way){.topic = "mail", .end = 701}, 2, ids, 5);
	expect_order(c, (struct way){.topic = "mail", .prefix = "la"}, 2, ids + 4, 1);
}

static void scan_follows_a_retry_to_its_new_place(void **state)
{
	static const char *const ids[] = {"b", "a"};
	struct contract *c = *state;
	uint64_t generation = contract_claim(c, "a");

	ask_put_one(&c->owner, "b", 600);
	assert_int_equal(ask_status(&c->owner, contract_retry(generation, 1, 800, DW_OP_VERDICT)),
			 DW_OK);
	expect_pages(c, 1, NULL, ids, 2);
}

static void scan_by_generation_answers_in_order_of_insertion(void **state)
{
	static const char *const ids[] = {"never", "late", "min", "zero", "early", "moved"};
	static const struct way way = {.flags = DW_OP_BY_GENERATION};
	struct contract *c = *state;

	if (!driven_loads_by_generation(c->owner.store))
		return;
	ask_put_one(&c->owner, "moved", 1);
	ask_put_one(&c->owner, "never", DW_NEVER);
	ask_put_one(&c->owner, "early", 700);
	ask_put_one(&c->owner, "late", 900);
	ask_put_one(&c->owner, "min", INT64_MIN);
	ask_put_one(&c->owner, "zero", 0);
	ask_put_one(&c->owner, "early", 700); /* a new generation goes to the end */
	assert_int_equal(ask_status(&c->owner, ask_move("moved", 2, 0, 0)), DW_OK);
	for (size_t limit = 1; limit <= 7; limit++)
		expect_order(c, way, limit, ids, 6);
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
	if (c->kind->served && strcmp(op->rows->id, "b") == 0) { /* of two shards, two orders */
		dw_row *b = op->rows;

		op->rows = b->next;
		op->rows->next = b;
		b->next = NULL;
		put = b->head.generation - 1;
	}
	assert_string_equal(op->rows->id, "a");
	assert_true(c->kind->served || op->rows->head.generation == put);
	assert_int_equal(op->rows->head.due, 600);
	assert_int_equal(op->rows->gone, 0);
	assert_true(op->rows->body_size > 0);
	assert_string_equal(op->rows->next->id, "b");
	assert_int_equal(op->rows->next->gone, 1);
	assert_int_equal(op->rows->next->body_size, 0);
	assert_true(op->rows->next->head.generation > put);
	assert_int_equal(contract_status(&c->owner).inbox, 2);
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
	assert_int_equal(contract_status(&c->owner).inbox, 0);
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
	assert_int_equal(contract_status(&c->owner).inbox, 0);
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
	assert_int_equal(contract_status(&c->owner).inbox, 0);
	expect_pages(c, 10, NULL, ids, 1);
}

/* The ids of each half stand on another side of the topic's name. */
static void scan_of_a_topic_has_many_pages(void **state)
{
	enum { FEW = 60, MANY = 600 };
	static char room[2 * MANY][16];
	static const char *ids[2 * MANY];
	struct contract *c = *state;
	int count = 2 * (FEW + (int)environment_scaled(MANY - FEW));

	for (int i = 0; i < count; i++) {
		(void)snprintf(room[i], sizeof room[i], "%c%d", i % 2 ? 'a' : 'z', i);
		ids[i] = room[i];
		put_of(c, ids[i], "mail", 100 + i / 4);
		if (i % 3 == 0)
			put_of(c, i % 2 ? "other" : "more", "fax", 100 + i);
	}
	expect_pages(c, (size_t)count * 5 / 6, "mail", ids, (size_t)count);
	expect_pages(c, 7, "mail", ids, (size_t)count);
}

static void scan_of_a_prefix_leaves_the_others_out(void **state)
{
	static const char *const ids[] = {"o:1", "o:2", "o:", "o:\xc3\xa9"};
	const struct way early = {.prefix = "o:", .topic = "topic", .end = 400};
	struct contract *c = *state;

	ask_put_one(&c->owner, "o:1", 100);
	ask_put_one(&c->owner, "o", 100);
	ask_put_one(&c->owner, "O:1", 100);
	ask_put_one(&c->owner, "o:2", 200);
	ask_put_one(&c->owner, "o:", 200);
	ask_put_one(&c->owner, "xo:", 300);
	ask_put_one(&c->owner, "o:\xc3\xa9", 400);
	for (size_t limit = 1; limit <= 5; limit++) {
		expect_order(c, (struct way){.prefix = "o:"}, limit, ids, 4);
		expect_order(c, (struct way){.prefix = "o:\xc3"}, limit, &ids[3], 1);
		expect_order(c, early, limit, ids, 3);
		expect_order(c, (struct way){.prefix = "o:", .topic = "none"}, limit, ids, 0);
	}
	expect_pages(c, 10, NULL,
		     (const char *const[]){"o:1", "o", "O:1", "o:2", "o:", "xo:", "o:\xc3\xa9"}, 7);
}

static void scan_ends_before_a_deadline(void **state)
{
	static const char *const ids[] = {"min", "past", "a", "b", "c", "never"};
	struct contract *c = *state;

	ask_put_one(&c->owner, "min", INT64_MIN);
	ask_put_one(&c->owner, "past", -7);
	ask_put_one(&c->owner, "a", 100);
	ask_put_one(&c->owner, "b", 200);
	ask_put_one(&c->owner, "c", 200);
	ask_put_one(&c->owner, "never", DW_NEVER);
	for (size_t limit = 1; limit <= 7; limit++) {
		expect_order(c, (struct way){.end = -7}, limit, ids, 1);
		expect_order(c, (struct way){.end = 200}, limit, ids, 3);
		expect_order(c, (struct way){.end = 201}, limit, ids, 5);
		expect_order(c, (struct way){.end = DW_NEVER}, limit, ids, 5);
		expect_order(c, (struct way){.end = 0}, limit, ids, 6);
	}
}

static void scan_of_states_leaves_the_others_out(void **state)
{
	static const char *const ids[] = {"b", "a", "c"};
	struct contract *c = *state;
	uint64_t generation = put_of(c, "a", "mail", 200);

	put_of(c, "b", "mail", 100);
	put_of(c, "c", "sms", 300);
	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, "a", generation, 0)), DW_OK);
	expect_order(c, (struct way){.states = 1u << DW_CLAIMED}, 2, ids + 1, 1);
	expect_order(c, (struct way){.states = 1u << DW_CLAIMED, .topic = "sms"}, 2, NULL, 0);
	expect_order(c, (struct way){.states = 1u << DW_PENDING, .topic = "mail"}, 2, ids, 1);
	expect_order(c, (struct way){.states = 1u << DW_PENDING | 1u << DW_CLAIMED}, 2, ids, 3);
	expect_order(c, (struct way){.states = 1u << DW_NEWER}, 2, NULL, 0);
	expect_order(c, (struct way){.flags = DW_OP_RECURRING}, 2, NULL, 0);
}

/* ---- Few among many ---- */

/* A crowd of timers of which one in EACH is wanted. */
enum { EACH = 100, STEP = 32 };

static const char *crowd_id(char id[24], unsigned number)
{
	(void)snprintf(id, 24, "%s%u", number % EACH ? "no:" : "yes:", number);
	return id;
}

static dw_usec crowd_due(unsigned number)
{
	return 1000 + number / 3;
}

static unsigned crowd_size(void)
{
	return EACH * (unsigned)environment_scaled(80);
}

/* put_crowd puts those from `first` on, of which each is STEPth, as far as `end`. */
static void put_crowd(struct contract *c, unsigned first, unsigned end)
{
	dw_op *ops[STEP];
	char id[24];

	for (unsigned at = first; at < end; at += STEP) {
		unsigned count = end - at < STEP ? end - at : STEP;

		for (unsigned i = 0; i < count; i++) {
			ops[i] = ask_put_full(crowd_id(id, at + i), (at + i) % EACH ? "no" : "yes",
					      crowd_due(at + i), "");
			if (i > 0)
				ops[i - 1]->next = ops[i];
		}
		ask_send(&c->owner, ops[0]);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(ask_await(&c->owner, ops[i])->status, DW_OK);
			ask_free(ops[i]);
		}
	}
}

/* A page looks at about DW_SCAN_LOOKS timers, and says how far it has looked. What was left out
 * counts. With Redis some pages more are on their way. */
static void expect_steps(struct contract *c, struct way way, uint64_t wanted)
{
	uint64_t most = DW_SCAN_LOOKS * (c->kind->served ? 4 : 1), found = 0;
	dw_cursor after = {0};
	dw_usec from = 0;
	bool goes_on;
	dw_op *op;

	do {
		uint64_t before = after.looked;

		goes_on = next_page(&c->owner, way, 1000, &after, &op);
		found += op->row_count;
		ask_free(op);
		assert_true(after.looked - before <= most);
		assert_true(!goes_on || after.due > from);
		from = after.due;
	} while (goes_on);
	assert_int_equal(found, wanted);
	assert_int_equal(after.looked, crowd_size());
}

static void scan_of_few_among_many_goes_in_steps(void **state)
{
	struct contract *c = *state;

	put_crowd(c, 0, crowd_size());
	expect_steps(c, (struct way){.topic = "yes"}, crowd_size() / EACH);
	expect_steps(c, (struct way){.topic = "none"}, 0);
	expect_steps(c, (struct way){.prefix = "yes:"}, crowd_size() / EACH);
	expect_steps(c, (struct way){.prefix = "none"}, 0);
	expect_steps(c, (struct way){.flags = DW_OP_RECURRING}, 0);
	expect_steps(c, (struct way){.states = 1u << DW_PENDING}, crowd_size());
}

/* change_crowd ends and adds timers before, at and behind the place: those that are wanted among
 * them have a number of their own. */
static void change_crowd(struct contract *c, unsigned turn, dw_usec due)
{
	char id[24];

	for (int i = -1; i <= 1; i++) {
		(void)snprintf(id, sizeof id, "yes:new%u%d", turn, i);
		put_of(c, id, "yes", due + i);
		(void)ask_status(&c->owner, ask_cancel(crowd_id(id, 1 + turn * EACH), 0));
	}
}

/* Timers come and go between the pages. Each timer that was there all the time is told once, and in
 * order. */
static void scan_in_steps_tells_each_timer_once(void **state)
{
	struct contract *c = *state;
	unsigned next = 0, turn = 0;
	dw_cursor after = {0};
	bool goes_on;
	dw_op *op;

	put_crowd(c, 0, crowd_size());
	do {
		goes_on = next_page(&c->owner, (struct way){.topic = "yes"}, 7, &after, &op);
		for (const dw_row *row = op->rows; row; row = row->next) {
			char id[24];

			if (strncmp(row->id, "yes:new", 7) == 0)
				continue;
			assert_string_equal(row->id, crowd_id(id, next));
			next += EACH;
		}
		ask_free(op);
		change_crowd(c, turn++, after.due);
	} while (goes_on);
	assert_int_equal(next, crowd_size());
}

/* A handle that has not read the pages before goes on at their place. */
static void scan_goes_on_where_another_handle_has_ended(void **state)
{
	struct contract *c = *state;
	unsigned next = 1, turn = 0;
	dw_cursor after = {0};
	bool goes_on;
	dw_op *op;

	put_crowd(c, 0, crowd_size());
	do {
		goes_on = next_page(turn++ % 2 ? &c->client : &c->owner,
				    (struct way){.topic = "no"}, 1000, &after, &op);
		for (const dw_row *row = op->rows; row; row = row->next) {
			char id[24];

			assert_string_equal(row->id, crowd_id(id, next++));
			next += next % EACH == 0;
		}
		ask_free(op);
	} while (goes_on);
	assert_int_equal(next, crowd_size() + 1);
}

/* ---- All ---- */

const struct contract_case contract_pages[] = {
    CONTRACT_CASE(scan_with_equal_deadlines_neither_skips_nor_repeats, false),
    CONTRACT_CASE(scan_answers_in_order_of_due_then_insertion, false),
    CONTRACT_CASE(scan_of_one_batch_answers_in_its_order, false),
    CONTRACT_CASE(scan_of_a_topic_leaves_the_others_out, false),
    CONTRACT_CASE(scan_of_a_topic_follows_its_timers, false),
    CONTRACT_CASE(scan_of_a_topic_has_many_pages, false),
    CONTRACT_CASE(scan_of_a_topic_answers_in_order_of_due_then_insertion, false),
    CONTRACT_CASE(scan_of_a_prefix_leaves_the_others_out, false),
    CONTRACT_CASE(scan_ends_before_a_deadline, false),
    CONTRACT_CASE(scan_of_states_leaves_the_others_out, false),
    CONTRACT_CASE(scan_of_few_among_many_goes_in_steps, false),
    CONTRACT_CASE(scan_in_steps_tells_each_timer_once, false),
    CONTRACT_CASE(scan_goes_on_where_another_handle_has_ended, true),
    CONTRACT_CASE(scan_follows_a_retry_to_its_new_place, false),
    CONTRACT_CASE(scan_by_generation_answers_in_order_of_insertion, false),
    CONTRACT_CASE(inbox_shows_what_clients_wrote, true),
    CONTRACT_CASE(inbox_ack_of_an_older_generation_keeps_the_news, true),
    CONTRACT_CASE(inbox_of_a_timer_replaced_since_shows_the_stored_one, true),
    CONTRACT_CASE(inbox_that_is_empty_answers_when_a_client_writes, true),
    CONTRACT_CASE(inbox_after_a_generation_shows_later_news_only, true),
    CONTRACT_CASE(inbox_is_emptied_by_a_new_owner_that_reads_everything, true),
    CONTRACT_CASES_END,
};
