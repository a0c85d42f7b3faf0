/* Replies that no Redis server gives, as something between us and the server might make them: each
 * reply of a day in a store's life is changed in its type, its length and its nesting. */
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "keyspace/store.h"

enum change {
	CHANGE_NONE,
	CHANGE_NESTED,
	CHANGE_LONGER,
	CHANGE_SHORTER,
	CHANGE_INTEGER, /* in place of an item, or of all */
	CHANGE_BULK,
	CHANGE_ARRAY,
	CHANGE_NIL,
	CHANGES
};

/* One reply is changed, or each of one script. */
struct liar {
	struct keyspace_store store; /* first */
	unsigned at;                 /* the number of the reply to be changed */
	unsigned item;               /* of it */
	const char *script;          /* or each of that one */
	enum change change;
	bool done; /* there was such an item */
};

/* ---- Changes ------------------------------------------------------------------------------- */

static void copy(struct reply *root, struct reply *to, const struct reply *from)
{
	*to = *from;
	if (from->kind == REPLY_STATUS || from->kind == REPLY_ERROR || from->kind == REPLY_BULK)
		assert_true(reply_bytes(root, to, from->kind, from->bytes, from->size));
	if (from->kind != REPLY_ARRAY)
		return;
	assert_true(reply_items(root, to, from->count));
	for (size_t i = 0; i < from->count; i++)
		copy(root, &to->items[i], &from->items[i]);
}

/* put_instead: another value of the same type would be no other shape. */
static void put_instead(struct reply *root, struct reply *item, enum change change)
{
	static const enum reply_kind kinds[CHANGES] = {[CHANGE_INTEGER] = REPLY_INTEGER,
						       [CHANGE_BULK] = REPLY_BULK,
						       [CHANGE_ARRAY] = REPLY_ARRAY};

	if (item->kind == kinds[change])
		return;
	if (change == CHANGE_BULK)
		assert_true(reply_bytes(root, item, REPLY_BULK, "x", 1));
	else if (change == CHANGE_ARRAY)
		assert_true(reply_items(root, item, 1));
	else
		*item = (struct reply){.kind = change == CHANGE_NIL ? REPLY_NIL : REPLY_INTEGER,
				       .integer = -7};
}

/* place_of: the item of that number, counted through an array and the arrays in it; 0: all. */
static struct reply *place_of(struct reply *reply, unsigned number)
{
	if (number-- == 0)
		return reply;
	for (size_t i = 0; reply->kind == REPLY_ARRAY && i < reply->count; i++) {
		struct reply *item = &reply->items[i];

		if (number-- == 0)
			return item;
		if (item->kind != REPLY_ARRAY)
			continue;
		if (number < item->count)
			return &item->items[number];
		number -= (unsigned)item->count;
	}
	return NULL;
}

/* resized: the reply with so many items of it; those that it does not have are nil. */
static struct reply *resized(struct liar *liar, const struct reply *reply, size_t count)
{
	struct reply *root = reply_new(&liar->store.alloc);

	assert_true(root && reply_items(root, root, count));
	for (size_t i = 0; i < count && i < reply->count; i++)
		copy(root, &root->items[i], &reply->items[i]);
	return root;
}

static struct reply *changed(struct liar *liar, struct reply *reply)
{
	size_t count = reply->kind == REPLY_ARRAY ? reply->count : 0;
	struct reply *fresh = NULL;
	struct reply *place;

	switch (liar->change) {
	case CHANGE_NESTED:
		fresh = resized(liar, reply, 1);
		copy(fresh, &fresh->items[0], reply);
		break;
	case CHANGE_LONGER:
		fresh = resized(liar, reply, count + 1);
		break;
	case CHANGE_SHORTER:
		fresh = count > 0 ? resized(liar, reply, count - 1) : NULL;
		break;
	default:
		place = place_of(reply, liar->item);
		liar->done = place != NULL;
		if (place)
			put_instead(reply, place, liar->change);
		return reply;
	}
	liar->done = fresh != NULL;
	if (!fresh)
		return reply;
	reply_free(reply);
	return fresh;
}

/* lie changes a reply if it is its turn. */
static struct reply *lie(struct keyspace_store *store, const char *script, struct reply *reply)
{
	struct liar *liar = (struct liar *)store;

	if (!liar->change ||
	    (liar->script ? strcmp(liar->script, script) != 0 : store->given != liar->at))
		return reply;
	return changed(liar, reply);
}

static void open_liar(struct liar *liar)
{
	liar->store.change = lie;
	keyspace_store_open(&liar->store);
}

/* ---- A day --------------------------------------------------------------------------------- */

/* done: the operation is answered, whatever the replies were; the caller frees it. */
static dw_op *done(struct liar *liar, dw_op *op)
{
	dw_op_kind kind = op->kind;

	op = keyspace_store_done(&liar->store, op);
	if (!op)
		fail_msg("kind %d is not answered: change %d of reply %u", (int)kind,
			 (int)liar->change, liar->at);
	return op;
}

/* did: its status; *head is what was answered. */
static int did(struct liar *liar, dw_op *op, dw_head *head)
{
	int status = done(liar, op)->status;

	if (head && status == DW_OK && op->kind != DW_OP_SETTLE)
		*head = op->head;
	ask_free(op);
	return status;
}

static dw_op *about(dw_op_kind kind, const dw_head *head)
{
	dw_op *op = ask_about(kind, "a", head->generation, head->attempt);

	op->head.due = 600;
	return op;
}

static dw_op *plain(dw_op_kind kind)
{
	dw_op *op = ask_plain(kind);

	op->head.due = DW_NEVER; /* of an audit */
	return op;
}

static dw_op *due(void)
{
	static const dw_usec times[] = {1, 500, 1000};
	struct alloc alloc = alloc_default();

	return op_new(&alloc, DW_OP_DUE, NULL, times, sizeof times);
}

static void tear(struct liar *liar)
{
	static const char *const words[] = {"ZADD", "{twin:00}:z", "7", "torn", NULL};

	keyspace_store_command(&liar->store, words);
}

/* live: every kind of operation, as a client and then as the owner. */
static void live(struct liar *liar)
{
	static const dw_op_kind whole[] = {DW_OP_STATUS,    DW_OP_CHECK,  DW_OP_SCAN, DW_OP_AUDIT,
					   DW_OP_DEAD_SCAN, DW_OP_REPORT, DW_OP_PURGE};
	static const dw_op_kind life[] = {DW_OP_CLAIM, DW_OP_RETRY,   DW_OP_CLAIM, DW_OP_SETTLE,
					  DW_OP_BURY,  DW_OP_REQUEUE, DW_OP_BURY};
	dw_head head = {0};

	(void)did(liar, ask_put("a", 500, 0), &head);
	(void)did(liar, ask_move("a", 550, 0, 0), &head);
	(void)did(liar, ask_cancel("b", 0), NULL);
	(void)did(liar, plain(DW_OP_OWN), NULL);
	(void)did(liar, ask_get("a"), NULL);
	(void)did(liar, about(DW_OP_ACK, &head), NULL);
	for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
		if (life[i] == DW_OP_BURY)
			(void)did(liar, ask_put("a", 500, 0), &head);
		(void)did(liar, about(life[i], &head), &head);
	}
	(void)did(liar, ask_put("b", 500, DW_OP_CLAIMED), &head);
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		(void)did(liar, plain(whole[i]), NULL);
	(void)did(liar, due(), NULL);
	tear(liar);
	liar->store.store->type->submit(liar->store.store, plain(DW_OP_LOSS));
	keyspace_store_wait(&liar->store, DW_SECONDS(10)); /* renewals find what was torn */
	assert_true(liar->done || keyspace_is_even(liar->store.keyspace, "{twin:00}:"));
	(void)did(liar, about(DW_OP_DROP, &head), NULL);
}

static void expect_good(struct liar *liar)
{
	liar->change = CHANGE_NONE;
	assert_int_equal(did(liar, ask_put("z", 500, 0), NULL), DW_OK);
	assert_int_equal(did(liar, ask_cancel("z", 0), NULL), DW_OK);
}

static void day_with(struct liar *liar)
{
	open_liar(liar);
	live(liar);
	if (liar->change == CHANGE_NESTED || liar->change == CHANGE_LONGER)
		assert_int_equal(liar->store.drops, liar->done);
	assert_true(liar->store.drops <= liar->done);
	expect_good(liar);
	keyspace_store_close(&liar->store);
}

static void day_without_changes_keeps_its_connection(void **state)
{
	struct liar *liar = calloc(1, sizeof *liar);

	(void)state;
	day_with(liar);
	assert_true(liar->store.given > 40);
	free(liar);
}

static void each_reply_of_a_day_may_have_another_shape(void **state)
{
	struct liar *liar = calloc(1, sizeof *liar);
	unsigned replies = 1;

	(void)state;
	for (unsigned at = 1; at <= replies; at++) {
		for (enum change change = CHANGE_NESTED; change < CHANGES; change++) {
			bool more = true;

			for (unsigned item = 0; more; item++) {
				*liar = (struct liar){.at = at, .item = item, .change = change};
				day_with(liar);
				more = liar->done && change >= CHANGE_INTEGER;
			}
		}
		if (at == 1)
			replies = liar->store.given;
	}
	free(liar);
}

/* What a server answers wrongly again and again is given up, and the rest goes on. */
static void reply_that_is_always_wrong_ends_the_operation(void **state)
{
	struct liar *liar = calloc(1, sizeof *liar);
	dw_head head = {0};

	(void)state;
	open_liar(liar);
	assert_int_equal(did(liar, plain(DW_OP_OWN), NULL), DW_OK);
	assert_int_equal(did(liar, ask_put("a", 500, 0), &head), DW_OK);
	liar->change = CHANGE_LONGER;
	liar->script = "claim";
	assert_int_equal(did(liar, about(DW_OP_CLAIM, &head), NULL), DW_ESTORE);
	assert_int_equal(liar->store.drops, 2);
	liar->script = "put";
	assert_int_equal(did(liar, ask_put("b", 500, 0), NULL), DW_OK); /* it is found */
	assert_int_equal(liar->store.drops, 3);
	expect_good(liar);
	keyspace_store_close(&liar->store);
	free(liar);
}

/* The server was restarted, or somebody has flushed its scripts. */
static void script_that_the_server_has_forgotten_is_loaded_again(void **state)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};
	struct liar *liar = calloc(1, sizeof *liar);

	(void)state;
	open_liar(liar);
	reply_free(keyspace_call(liar->store.keyspace, 2, words, sizes));
	expect_good(liar);
	assert_int_equal(did(liar, plain(DW_OP_SCAN), NULL), DW_OK);
	assert_int_equal(liar->store.drops, 0);
	keyspace_store_close(&liar->store);
	free(liar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(day_without_changes_keeps_its_connection),
	    cmocka_unit_test(each_reply_of_a_day_may_have_another_shape),
	    cmocka_unit_test(reply_that_is_always_wrong_ends_the_operation),
	    cmocka_unit_test(script_that_the_server_has_forgotten_is_loaded_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
