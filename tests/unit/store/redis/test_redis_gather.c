/* Which operations come together into a command, and which keep their place. */
#include "store/redis/core.h"

#include <stdio.h>
#include <string.h>

#include "support/ask.h"
#include "support/cmocka.h"

static const struct {
	char letter;
	dw_op_kind kind;
} kinds[] = {{'p', DW_OP_PUT},    {'x', DW_OP_CANCEL}, {'c', DW_OP_CLAIM},
	     {'s', DW_OP_SETTLE}, {'a', DW_OP_ACK},    {'m', DW_OP_MOVE}};

static dw_op *op_of(char letter, char id)
{
	const char name[] = {id, '\0'};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].letter == letter)
			return ask_about(kinds[i].kind, name, 1, 0);
	return NULL;
}

static char letter_of(dw_op_kind kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].kind == kind)
			return kinds[i].letter;
	return '?';
}

/* gathered: each operation is two letters, its kind and its id. */
static void gathered(const char *asked, const char *expected)
{
	struct op_queue queue = {0};
	char found[32] = "";
	const dw_op *last = NULL;

	for (const char *at = asked; *at; at += 2)
		op_queue_push(&queue, op_of(at[0], at[1]));
	batch_gather(&queue);
	assert_int_equal(queue.count, strlen(asked) / 2);
	for (const dw_op *op = queue.first; op; op = op->next)
		last = op;
	assert_ptr_equal(queue.last, last);
	for (size_t at = 0; queue.first; at += 2) {
		dw_op *op = op_queue_pop(&queue);

		found[at] = letter_of(op->kind);
		found[at + 1] = op->id[0];
		ask_free(op);
	}
	assert_string_equal(found, expected);
}

static void one_kind_comes_together(void **state)
{
	(void)state;
	gathered("pa", "pa");
	gathered("papbpc", "papbpc");
	gathered("paxbpcxdpe", "papcpexbxd");
	gathered("cbadcesfag", "cbceadsfag");
	gathered("aacbac", "aaaccb");
}

static void what_one_id_is_asked_keeps_its_order(void **state)
{
	(void)state;
	gathered("paxbpb", "paxbpb");
	gathered("paxbpcpbpd", "papcxbpbpd");
	gathered("aacbab", "aacbab"); /* its claim must see that a client was there */
}

static void move_is_passed_by_nothing(void **state)
{
	(void)state;
	gathered("paxbmcpd", "paxbmcpd");
	gathered("mapbmc", "mapbmc");
}

/* numbered: a queue of operations with these numbers. */
static struct op_queue numbered(const char *numbers)
{
	struct op_queue queue = {0};

	for (; *numbers; numbers++) {
		dw_op *op = op_of('p', *numbers);

		place_of(op)->order = (uint64_t)(*numbers - '0');
		op_queue_push(&queue, op);
	}
	return queue;
}

static void taken_back(const char *behind, const char *back, const char *expected)
{
	struct op_queue queue = numbered(behind), ops = numbered(back);
	char found[16] = "";

	batch_take_back(&queue, &ops);
	assert_null(ops.first);
	assert_int_equal(queue.count, strlen(expected));
	for (size_t at = 0; queue.first; at++) {
		dw_op *op = op_queue_pop(&queue);

		found[at] = op->id[0];
		ask_free(op);
	}
	assert_null(queue.last);
	assert_string_equal(found, expected);
}

/* Of several commands that come back one after the other, while others wait behind them. */
static void what_comes_back_takes_its_place(void **state)
{
	(void)state;
	taken_back("", "12", "12");
	taken_back("345", "12", "12345");
	taken_back("1245", "3", "12345");
	taken_back("256", "134", "123456");
	taken_back("12", "34", "1234");
}

/* in_a_command: of 600 operations of this kind, so many make one command. */
static size_t in_a_command(dw_op_kind kind, unsigned flags, uint64_t generation, size_t body_size)
{
	struct op_queue queue = {0};
	size_t count, bytes;

	for (unsigned i = 0; i < 600; i++) {
		char id[16];
		dw_op *op;

		(void)snprintf(id, sizeof id, "%u", i);
		op = ask_about(kind, id, generation, 1);
		op->flags |= flags;
		op->topic = "t";
		op->body_size = body_size; /* nobody reads the body */
		place_of(op)->floor = i + 1;
		op_queue_push(&queue, op);
	}
	count = batch_run(&queue, &bytes);
	while (queue.first)
		ask_free(op_queue_pop(&queue));
	return count;
}

/* While a command runs, the server serves nobody else: what takes long is bounded to 2 ms. */
static void a_command_is_bounded_by_what_it_costs(void **state)
{
	(void)state;
	assert_int_equal(in_a_command(DW_OP_PUT, DW_OP_ABSENT, 0, 100), 285);
	assert_int_equal(in_a_command(DW_OP_PUT, DW_OP_NEW, 0, 100), 285);
	assert_int_equal(in_a_command(DW_OP_PUT, 0, 0, 100), 125);
	assert_int_equal(in_a_command(DW_OP_PUT, 0, 7, 100), 125);
	assert_int_equal(in_a_command(DW_OP_PUT, DW_OP_ABSENT, 0, 2048), 222);
	assert_int_equal(in_a_command(DW_OP_CANCEL, 0, 0, 0), 125);
	assert_int_equal(in_a_command(DW_OP_MOVE, 0, 7, 0), 80);
	assert_int_equal(in_a_command(DW_OP_CLAIM, DW_OP_KNOWN, 7, 0), 400);
	assert_int_equal(in_a_command(DW_OP_CLAIM, 0, 7, 0), 181);
	assert_int_equal(in_a_command(DW_OP_SETTLE, DW_OP_KNOWN, 7, 0), 400);
	assert_int_equal(in_a_command(DW_OP_SETTLE, 0, 7, 0), 125);
	assert_int_equal(in_a_command(DW_OP_BURY, 0, 7, 0), 80);
	assert_int_equal(in_a_command(DW_OP_ACK, 0, 7, 0), 512);
}

/* One operation is sent, whatever it costs. */
static void one_operation_always_makes_a_command(void **state)
{
	(void)state;
	assert_int_equal(in_a_command(DW_OP_PUT, 0, 0, (size_t)4 << 20), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_kind_comes_together),
	    cmocka_unit_test(what_one_id_is_asked_keeps_its_order),
	    cmocka_unit_test(move_is_passed_by_nothing),
	    cmocka_unit_test(what_comes_back_takes_its_place),
	    cmocka_unit_test(a_command_is_bounded_by_what_it_costs),
	    cmocka_unit_test(one_operation_always_makes_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
