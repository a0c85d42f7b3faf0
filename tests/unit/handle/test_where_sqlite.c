/* dw_cancel_where() of a client, beside an owner that goes on. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>

#include "durawheel/select.h"
#include "support/seen.h"
#include "support/temp.h"

static void tallied(dw *d, const dw_tally *tally, void *user)
{
	(void)d;
	if (tally->over)
		*(dw_tally *)user = *tally;
}

/* put_recurring returns when the first occurrence is due. */
static dw_usec put_recurring(dw *d)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(1)};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &rule};

	rule.start = dw_now(d) + DW_MILLISECONDS(50);
	assert_int_equal(dw_put(d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return rule.start;
}

/* read_page lets the client's store read the page that the client has asked for. The client does
 * not see the answer yet. */
static void read_page(dw *client)
{
	struct pollfd fd = {.fd = dw_fd(client), .events = POLLIN};

	assert_int_equal(dw_turn(client), DW_OK);
	assert_true(poll(&fd, 1, 20000) > 0);
}

static void note_due(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		     void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_usec *)user = timers->due;
}

/* await_next turns the owner until its store has the occurrence after this one. */
static void await_next(dw *owner, dw_usec first)
{
	dw_usec due = first;

	while (due <= first) {
		assert_int_equal(dw_get(owner, "a", note_due, &due), DW_OK);
		assert_int_equal(dw_sync(owner, PATIENCE), DW_OK);
	}
}

struct place {
	char folder[TEMP_SIZE];
	struct seen seen;
	dw *owner, *client;
	dw_usec first; /* the first occurrence of the timer "a" */
	dw_tally tally;
};

/* begin opens an owner with a recurring timer, and a client that has found it. */
static void begin(struct place *place)
{
	static const dw_select select = {.size = sizeof select, .topic = "t"};
	char url[TEMP_SIZE + 32];

	*place = (struct place){.seen = {.verdict = DW_DONE}};
	temp_make(place->folder);
	(void)snprintf(url, sizeof url, "sqlite:%s/t.db", place->folder); /* it fits */
	place->owner = open_store(url, DW_OWNER);
	place->client = open_store(url, DW_CLIENT);
	assert_int_equal(dw_on(place->owner, "t", on_due, &place->seen), DW_OK);
	place->first = put_recurring(place->owner);
	assert_int_equal(dw_cancel_where(place->client, &select, tallied, &place->tally), DW_OK);
	read_page(place->client);
}

/* end lets the client cancel what it has found. */
static void end(struct place *place, uint64_t done, uint64_t gone)
{
	dw_usec due;

	while (!place->tally.over)
		assert_int_equal(dw_turn(place->client), DW_OK);
	assert_int_equal(place->tally.status, DW_OK);
	assert_int_equal(place->tally.matched, 1);
	assert_int_equal(place->tally.done, done);
	assert_int_equal(place->tally.gone, gone);
	if (gone > 0) { /* it is still there */
		assert_int_equal(dw_get(place->client, "a", note_due, &due), DW_OK);
		assert_int_equal(dw_sync(place->client, PATIENCE), DW_OK);
	}
	assert_int_equal(dw_close(place->client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(place->owner, PATIENCE), DW_OK);
	temp_remove(place->folder);
}

/* An occurrence starts between the page and its cancel. */
static void recurring_timer_that_has_gone_on_is_cancelled(void **state)
{
	struct place place;

	(void)state;
	begin(&place);
	await_next(place.owner, place.first);
	assert_int_equal(place.seen.starts, 1);
	end(&place, 1, 0);
}

static void recurring_timer_that_is_put_again_stays(void **state)
{
	struct place place;

	(void)state;
	begin(&place);
	(void)put_recurring(place.owner); /* its rule starts later */
	end(&place, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recurring_timer_that_has_gone_on_is_cancelled),
	    cmocka_unit_test(recurring_timer_that_is_put_again_stays),
	};

	return cmocka_run_group_tests_name("where_sqlite", tests, NULL, NULL);
}
