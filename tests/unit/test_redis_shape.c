/* Replies that no Redis server gives, as something between us and the server might make them: each
 * reply of a day in a store's life is changed in its type, its length and its nesting. */
#include <stdlib.h>
#include <string.h>

#include "store/redis/inside.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/twin.h"

enum { REPLIES_MAX = 4096, TURNS_MAX = 3000, WORDS_MAX_TEST = 2600 };

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

/* A link to the twin. It answers at once, and changes one reply, or each of one script. */
struct liar {
	struct link link; /* first */
	struct alloc alloc;
	struct twin *twin;
	struct reply *replies[REPLIES_MAX];
	unsigned first, count;
	uint64_t connection;
	bool down;
	unsigned drops;
	unsigned given;     /* replies so far */
	unsigned at;        /* the number of the one to be changed */
	unsigned item;      /* of it */
	const char *script; /* or each of that one */
	enum change change;
	bool done; /* there was such an item */
	dw_usec now;
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
	struct reply *root = reply_new(&liar->alloc);

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

/* ---- The link ------------------------------------------------------------------------------ */

static struct liar *liar_of(struct link *link)
{
	return (struct liar *)link;
}

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void come_up(struct link *link, dw_usec now)
{
	(void)now;
	liar_of(link)->connection += liar_of(link)->down;
	liar_of(link)->down = false;
}

static dw_usec at_once(const struct link *link)
{
	(void)link;
	return 0;
}

static uint64_t connection(const struct link *link)
{
	const struct liar *liar = (const struct liar *)link;

	return liar->down ? 0 : liar->connection;
}

static const char *script_of(int count, const char *const *words, const size_t *sizes)
{
	if (count < 2 || strncmp(words[0], "EVAL", 4) != 0)
		return "";
	return strcmp(words[0], "EVAL") == 0 ? twin_script_of(words[1], sizes[1])
					     : twin_script(words[1], sizes[1]);
}

static int answer_at_once(struct link *link, int count, const char *const *words,
			  const size_t *sizes, dw_usec now)
{
	struct liar *liar = liar_of(link);
	const char *script = script_of(count, words, sizes);
	struct reply *reply;

	if (liar->down)
		return DW_ESTORE;
	twin_set_time(liar->twin, now);
	reply = twin_call(liar->twin, count, words, sizes);
	liar->given++;
	if (liar->change &&
	    (liar->script ? strcmp(liar->script, script) == 0 : liar->given == liar->at))
		reply = changed(liar, reply);
	assert_true(liar->count < REPLIES_MAX);
	liar->replies[(liar->first + liar->count++) % REPLIES_MAX] = reply;
	return DW_OK;
}

static struct reply *take(struct link *link)
{
	struct liar *liar = liar_of(link);
	unsigned at = liar->first % REPLIES_MAX;

	if (liar->count == 0)
		return NULL;
	liar->first++;
	liar->count--;
	return liar->replies[at];
}

static void drop(struct link *link, const char *why)
{
	struct reply *reply;

	(void)why;
	while ((reply = take(link)))
		reply_free(reply);
	liar_of(link)->drops += !liar_of(link)->down;
	liar_of(link)->down = true;
}

static const char *no_trouble(const struct link *link, bool *ret_fatal)
{
	(void)link;
	*ret_fatal = false;
	return "";
}

static void no_free(struct link *link)
{
	(void)link;
}

static const struct link_class liar_class = {.descriptor = no_descriptor,
					     .work = come_up,
					     .due = at_once,
					     .connection = connection,
					     .send = answer_at_once,
					     .take = take,
					     .drop = drop,
					     .trouble = no_trouble,
					     .free = no_free};

/* ---- A day --------------------------------------------------------------------------------- */

static dw_usec read_clock(void *user)
{
	return ((const struct liar *)user)->now;
}

static void *resize(void *user, void *block, size_t size)
{
	(void)user;
	if (size > 0)
		return realloc(block, size);
	free(block);
	return NULL;
}

static void wake(void *user)
{
	(void)user;
}

static dw_store *open_store(struct liar *liar)
{
	dw_store_env env = {.size = sizeof env,
			    .role = DW_CLIENT,
			    .token = 1,
			    .now = read_clock,
			    .now_user = liar,
			    .resize = resize,
			    .wake = wake,
			    .name = "shape",
			    .steady = read_clock,
			    .steady_user = liar};
	struct redis_store *store;

	liar->link.type = &liar_class;
	liar->alloc = alloc_default();
	liar->twin = twin_new(&liar->alloc);
	liar->connection = 1;
	liar->now = DW_SECONDS(1000000);
	twin_load(liar->twin);
	assert_int_equal(redis_new(&store, &env, &liar->link), DW_OK);
	assert_int_equal(redis_shards(store, 1), DW_OK);
	return redis_base(store);
}

static void close_store(struct liar *liar, dw_store *store)
{
	dw_op *op;

	(void)store->type->stop(store, 0);
	for (op = store->type->collect(store); op;) {
		dw_op *next = op->next;

		ask_free(op);
		op = next;
	}
	store->type->free(store);
	drop(&liar->link, "");
	twin_free(liar->twin);
}

/* done: the operation is answered, whatever the replies were; the caller frees it. */
static dw_op *done(struct liar *liar, dw_store *store, dw_op *op)
{
	store->type->submit(store, op);
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		dw_op *answer = store->type->collect(store);

		if (answer) {
			assert_ptr_equal(answer, op);
			assert_null(answer->next);
			return op;
		}
		liar->now += DW_MILLISECONDS(10);
		store->type->turn(store, liar->now);
	}
	fail_msg("kind %d is not answered: change %d of reply %u", (int)op->kind, (int)liar->change,
		 liar->at);
	return NULL;
}

/* did: its status; *head is what was answered. */
static int did(struct liar *liar, dw_store *store, dw_op *op, dw_head *head)
{
	int status = done(liar, store, op)->status;

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

static void tear(struct liar *liar)
{
	static const char *const words[] = {"ZADD", "{shape:00}:z", "7", "torn"};
	static const size_t sizes[] = {4, 12, 1, 4};

	twin_set_time(liar->twin, liar->now);
	reply_free(twin_call(liar->twin, 4, words, sizes));
}

/* live: every kind of operation, as a client and then as the owner. */
static void live(struct liar *liar, dw_store *store)
{
	static const dw_op_kind whole[] = {DW_OP_STATUS,    DW_OP_CHECK,  DW_OP_SCAN, DW_OP_AUDIT,
					   DW_OP_DEAD_SCAN, DW_OP_REPORT, DW_OP_PURGE};
	static const dw_op_kind life[] = {DW_OP_CLAIM, DW_OP_RETRY,   DW_OP_CLAIM, DW_OP_SETTLE,
					  DW_OP_BURY,  DW_OP_REQUEUE, DW_OP_BURY};
	dw_head head = {0};

	(void)did(liar, store, ask_put("a", 500, 0), &head);
	(void)did(liar, store, ask_move("a", 550, 0, 0), &head);
	(void)did(liar, store, ask_cancel("b", 0), NULL);
	(void)did(liar, store, plain(DW_OP_OWN), NULL);
	(void)did(liar, store, ask_get("a"), NULL);
	(void)did(liar, store, about(DW_OP_ACK, &head), NULL);
	for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
		if (life[i] == DW_OP_BURY)
			(void)did(liar, store, ask_put("a", 500, 0), &head);
		(void)did(liar, store, about(life[i], &head), &head);
	}
	(void)did(liar, store, ask_put("b", 500, DW_OP_CLAIMED), &head);
	tear(liar);
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		(void)did(liar, store, plain(whole[i]), NULL);
	for (unsigned i = 0; i < 500; i++) { /* renewals, which find what was torn */
		liar->now += DW_MILLISECONDS(10);
		store->type->turn(store, liar->now);
	}
	(void)did(liar, store, about(DW_OP_DROP, &head), NULL);
}

static void expect_good(struct liar *liar, dw_store *store)
{
	liar->change = CHANGE_NONE;
	assert_int_equal(did(liar, store, ask_put("z", 500, 0), NULL), DW_OK);
	assert_int_equal(did(liar, store, ask_cancel("z", 0), NULL), DW_OK);
}

static void day_with(struct liar *liar)
{
	dw_store *store = open_store(liar);

	live(liar, store);
	if (liar->change == CHANGE_NESTED || liar->change == CHANGE_LONGER)
		assert_int_equal(liar->drops, liar->done);
	assert_true(liar->drops <= liar->done);
	expect_good(liar, store);
	close_store(liar, store);
}

static void day_without_changes_keeps_its_connection(void **state)
{
	struct liar *liar = calloc(1, sizeof *liar);

	(void)state;
	day_with(liar);
	assert_true(liar->given > 40);
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
			replies = liar->given;
	}
	free(liar);
}

/* What a server answers wrongly again and again is given up, and the rest goes on. */
static void reply_that_is_always_wrong_ends_the_operation(void **state)
{
	struct liar *liar = calloc(1, sizeof *liar);
	dw_store *store = open_store(liar);
	dw_head head = {0};

	(void)state;
	assert_int_equal(did(liar, store, plain(DW_OP_OWN), NULL), DW_OK);
	assert_int_equal(did(liar, store, ask_put("a", 500, 0), &head), DW_OK);
	liar->change = CHANGE_LONGER;
	liar->script = "claim";
	assert_int_equal(did(liar, store, about(DW_OP_CLAIM, &head), NULL), DW_ESTORE);
	assert_int_equal(liar->drops, 2);
	liar->script = "put";
	assert_int_equal(did(liar, store, ask_put("b", 500, 0), NULL), DW_OK); /* it is found */
	assert_int_equal(liar->drops, 3);
	expect_good(liar, store);
	close_store(liar, store);
	free(liar);
}

/* The server was restarted, or somebody has flushed its scripts. */
static void script_that_the_server_has_forgotten_is_loaded_again(void **state)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};
	struct liar *liar = calloc(1, sizeof *liar);
	dw_store *store = open_store(liar);

	(void)state;
	reply_free(twin_call(liar->twin, 2, words, sizes));
	expect_good(liar, store);
	assert_int_equal(did(liar, store, plain(DW_OP_SCAN), NULL), DW_OK);
	assert_int_equal(liar->drops, 0);
	close_store(liar, store);
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
