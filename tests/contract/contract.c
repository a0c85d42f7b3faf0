#include "contract/contract.h"

#include <stdlib.h>

#include "support/cmocka.h"

enum { CASES_MAX = 200 };

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
	c->now = CONTRACT_START;
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

	if (c->ahead != 0)
		c->kind->set_ahead(0);
	ask_end(&c->client);
	ask_end(&c->owner);
	c->kind->free_place(c->place);
	free(c);
	return 0;
}

/* ---- What many cases do ---- */

uint64_t contract_claim(struct contract *c, const char *id)
{
	uint64_t generation = ask_put_one(&c->owner, id, 500);

	assert_int_equal(ask_status(&c->owner, ask_about(DW_OP_CLAIM, id, generation, 0)), DW_OK);
	return generation;
}

dw_op *contract_retry(uint64_t generation, uint32_t attempt, dw_usec due, unsigned flags)
{
	dw_op *op = ask_about(DW_OP_RETRY, "a", generation, attempt);

	op->head.due = due;
	op->flags = flags;
	return op;
}

dw_store_status contract_status(struct ask *ask)
{
	dw_op *op = ask_done(ask, ask_plain(DW_OP_STATUS));
	dw_store_status status;

	assert_int_equal(op->status, DW_OK);
	status = *op->store_status;
	ask_free(op);
	status.owner = status.owner_report = NULL; /* they went with the block */
	return status;
}

/* ---- All ---- */

/* add appends the cases that the kind can show. */
static size_t add(const struct contract_kind *kind, const struct contract_case *cases,
		  struct CMUnitTest *tests, size_t count)
{
	for (; cases->test.name; cases++) {
		if (cases->shared && !kind->shared)
			continue;
		assert_true(count < CASES_MAX);
		tests[count] = cases->test;
		tests[count].setup_func = set_up;
		tests[count].teardown_func = tear_down;
		/* cmocka hands it to set_up, which only reads it */
		tests[count++].initial_state = (void *)(uintptr_t)kind;
	}
	return count;
}

int contract_run(const struct contract_kind *kind)
{
	struct CMUnitTest tests[CASES_MAX];
	size_t count = add(kind, contract_timers, tests, 0);

	count = add(kind, contract_pages, tests, count);
	count = add(kind, contract_cancels, tests, count);
	count = add(kind, contract_dead, tests, count);
	count = add(kind, contract_whys, tests, count);
	count = add(kind, contract_batches, tests, count);
	count = add(kind, contract_whole, tests, count);
	count = add(kind, contract_topics, tests, count);
	count = add(kind, contract_queues, tests, count);
	count = add(kind, contract_queue_bounds, tests, count);
	count = add(kind, contract_clock, tests, count);
	count = add(kind, contract_rules, tests, count);
	count = add(kind, contract_ends, tests, count);
	return _cmocka_run_group_tests(kind->name, tests, count, NULL, NULL);
}
