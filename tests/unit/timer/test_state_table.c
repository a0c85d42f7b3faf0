/* The whole table of states: each call, in each state, by the owner and by a client of the same
 * file. One line a cell: what is answered, and what is delivered afterwards.
 *
 * The clock stands still until a cell moves it, so a state lasts as long as the cell needs it. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/environment.h"
#include "support/temp.h"

#if DW_WITH_SQLITE

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */
#define START DW_SECONDS(1700000000)
#define OLD_DUE (START + DW_SECONDS(60))
#define RETRY_IN DW_SECONDS(60)
#define NEW_DUE (START + DW_HOURS(1)) /* of what a put brings */
#define MOVED_DUE (START + DW_HOURS(2))
#define LEAD DW_MILLISECONDS(4) /* less than the least lead of the engine */
#define UNANSWERED 1

enum call { PUT, PUT_NEW, CANCEL, MOVE };
enum state { NONE, PENDING, BETWEEN, CLAIMED, FIRING, FIRED, HELD, DEAD };
enum who { OWNER, CLIENT };

struct cell {
	enum call call;
	enum state state;
	enum who who;
	int answer;
	const char *after; /* the starts afterwards: whose data, and the attempt */
};

/* FIRING: asked from its own handler, which then says DW_RETRY. FIRED: asked from the handler of
 * the timer after it, while the DW_RETRY is on its way to the store; the owner's call waits behind
 * it and finds the timer pending. HELD: settled with DW_RETRY after the call. BETWEEN: pending
 * after a first DW_RETRY. */
static const struct cell cells[] = {
    {PUT, NONE, OWNER, DW_OK, "new/1"},
    {PUT, NONE, CLIENT, DW_OK, "new/1"},
    {PUT, PENDING, OWNER, DW_OK, "new/1"},
    {PUT, PENDING, CLIENT, DW_OK, "new/1"},
    {PUT, BETWEEN, OWNER, DW_OK, "new/1"},
    {PUT, BETWEEN, CLIENT, DW_OK, "new/1"},
    {PUT, CLAIMED, OWNER, DW_OK, "new/1"},
    {PUT, CLAIMED, CLIENT, DW_OK, "new/1"},
    {PUT, FIRING, OWNER, DW_OK, "new/1"},
    {PUT, FIRING, CLIENT, DW_OK, "new/1"},
    {PUT, FIRED, OWNER, DW_OK, "new/1"},
    {PUT, FIRED, CLIENT, DW_OK, "new/1"},
    {PUT, HELD, OWNER, DW_OK, "new/1"},
    {PUT, HELD, CLIENT, DW_OK, "new/1"},
    {PUT, DEAD, OWNER, DW_OK, "new/1"},
    {PUT, DEAD, CLIENT, DW_OK, "new/1"},

    {PUT_NEW, NONE, OWNER, DW_OK, "new/1"},
    {PUT_NEW, NONE, CLIENT, DW_OK, "new/1"},
    {PUT_NEW, PENDING, OWNER, DW_EEXIST, "old/1"},
    {PUT_NEW, PENDING, CLIENT, DW_EEXIST, "old/1"},
    {PUT_NEW, BETWEEN, OWNER, DW_EEXIST, "old/2"},
    {PUT_NEW, BETWEEN, CLIENT, DW_EEXIST, "old/2"},
    {PUT_NEW, CLAIMED, OWNER, DW_EEXIST, "old/1"},
    {PUT_NEW, CLAIMED, CLIENT, DW_EEXIST, "old/1"},
    {PUT_NEW, FIRING, OWNER, DW_EEXIST, "old/2"},
    {PUT_NEW, FIRING, CLIENT, DW_EEXIST, "old/2"},
    {PUT_NEW, FIRED, OWNER, DW_EEXIST, "old/2"},
    {PUT_NEW, FIRED, CLIENT, DW_EEXIST, "old/2"},
    {PUT_NEW, HELD, OWNER, DW_EEXIST, "old/2"},
    {PUT_NEW, HELD, CLIENT, DW_EEXIST, "old/2"},
    {PUT_NEW, DEAD, OWNER, DW_OK, "new/1"},
    {PUT_NEW, DEAD, CLIENT, DW_OK, "new/1"},

    {CANCEL, NONE, OWNER, DW_ENOENT, ""},
    {CANCEL, NONE, CLIENT, DW_ENOENT, ""},
    {CANCEL, PENDING, OWNER, DW_OK, ""},
    {CANCEL, PENDING, CLIENT, DW_OK, ""},
    {CANCEL, BETWEEN, OWNER, DW_OK, ""},
    {CANCEL, BETWEEN, CLIENT, DW_OK, ""},
    {CANCEL, CLAIMED, OWNER, DW_OK, ""},
    {CANCEL, CLAIMED, CLIENT, DW_ELATE, "old/1"},
    {CANCEL, FIRING, OWNER, DW_ELATE, ""}, /* its retry is dropped */
    {CANCEL, FIRING, CLIENT, DW_ELATE, "old/2"},
    {CANCEL, FIRED, OWNER, DW_OK, ""},
    {CANCEL, FIRED, CLIENT, DW_ELATE, "old/2"},
    {CANCEL, HELD, OWNER, DW_ELATE, ""},
    {CANCEL, HELD, CLIENT, DW_ELATE, "old/2"},
    {CANCEL, DEAD, OWNER, DW_ENOENT, ""},
    {CANCEL, DEAD, CLIENT, DW_ENOENT, ""},

    {MOVE, NONE, OWNER, DW_ENOENT, ""},
    {MOVE, NONE, CLIENT, DW_ENOENT, ""},
    {MOVE, PENDING, OWNER, DW_OK, "moved/1"},
    {MOVE, PENDING, CLIENT, DW_OK, "moved/1"},
    {MOVE, BETWEEN, OWNER, DW_OK, "moved/2"},
    {MOVE, BETWEEN, CLIENT, DW_OK, "moved/2"},
    {MOVE, CLAIMED, OWNER, DW_OK, "moved/2"}, /* the claim taken back was the first attempt */
    {MOVE, CLAIMED, CLIENT, DW_ELATE, "old/1"},
    {MOVE, FIRING, OWNER, DW_ELATE, "old/2"},
    {MOVE, FIRING, CLIENT, DW_ELATE, "old/2"},
    {MOVE, FIRED, OWNER, DW_OK, "moved/2"},
    {MOVE, FIRED, CLIENT, DW_ELATE, "old/2"},
    {MOVE, HELD, OWNER, DW_ELATE, "old/2"},
    {MOVE, HELD, CLIENT, DW_ELATE, "old/2"},
    {MOVE, DEAD, OWNER, DW_ENOENT, ""},
    {MOVE, DEAD, CLIENT, DW_ENOENT, ""},
};

struct stage {
	const struct cell *cell;
	char folder[TEMP_SIZE];
	dw *owner;
	dw *client;
	_Atomic dw_usec now; /* the store's thread reads it, too */
	bool asked;
	int answer;
	int answers;
	int dead;
	int listed_state; /* of "a", -1: none */
	uint64_t inbox;
	dw_token held;
	char starts[128]; /* since the call */
};

static dw_usec read_clock(void *user)
{
	return atomic_load(&((struct stage *)user)->now);
}

static void count_dead(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct stage *)user)->dead += event->kind == DW_EVENT_DEAD;
}

/* ---- The call ------------------------------------------------------------------------------ */

static void answered(dw *d, const dw_result *result, void *user)
{
	struct stage *stage = user;

	(void)d;
	stage->answer = result->status;
	stage->answers++;
}

static int put(struct stage *stage, dw *d, unsigned flags)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = "a",
			  .topic = "t",
			  .due = NEW_DUE,
			  .data = "new",
			  .data_size = 3,
			  .flags = flags};

	return dw_put(d, &timer, answered, stage);
}

/* ask makes the cell's call. A client waits for its answer at once, also inside a handler. */
static void ask(struct stage *stage)
{
	dw *d = stage->cell->who == OWNER ? stage->owner : stage->client;
	int status = DW_EINVAL;

	assert_false(stage->asked);
	stage->asked = true;
	switch (stage->cell->call) {
	case PUT:
		status = put(stage, d, 0);
		break;
	case PUT_NEW:
		status = put(stage, d, DW_NEW);
		break;
	case CANCEL:
		status = dw_cancel(d, "a", answered, stage);
		break;
	case MOVE:
		status = dw_move(d, "a", MOVED_DUE, answered, stage);
		break;
	}
	assert_int_equal(status, DW_OK);
	assert_int_equal(stage->answers, 0); /* never from inside the call */
	if (d == stage->client)
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
}

/* ---- Handlers ------------------------------------------------------------------------------ */

static void note(struct stage *stage, const dw_firing *firing)
{
	size_t size = strlen(stage->starts);

	(void)snprintf(stage->starts + size, sizeof stage->starts - size, "%s%.*s/%u",
		       size ? " " : "", firing->due == MOVED_DUE ? 5 : (int)firing->data_size,
		       firing->due == MOVED_DUE ? "moved" : (const char *)firing->data,
		       (unsigned)firing->attempt);
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct stage *stage = user;

	if (stage->asked) {
		note(stage, firing);
		return DW_DONE;
	}
	if (stage->cell->state == HELD) {
		stage->held = *firing->token;
		return DW_HOLD;
	}
	if (stage->cell->state == FIRING)
		ask(stage);
	assert_int_equal(dw_retry_in(d, RETRY_IN), DW_OK);
	return DW_RETRY;
}

static dw_verdict on_other(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	ask(user);
	return DW_DONE;
}

/* ---- Time ---------------------------------------------------------------------------------- */

static void on_page(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		    void *user)
{
	(void)d;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOENT);
	((struct stage *)user)->listed_state = count ? (int)timers->state : -1;
}

static bool is_quiet(const struct stage *stage)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(stage->owner, &stats), DW_OK);
	return stats.inflight == 0 && !stats.recovering &&
	       stats.next_due > atomic_load(&stage->now);
}

/* settle_down turns the owner until nothing is left to do at this moment, and only then looks. */
static void settle_down(struct stage *stage)
{
	do {
		assert_int_equal(dw_turn(stage->owner), DW_OK);
		assert_int_equal(dw_sync(stage->owner, PATIENCE), DW_OK);
	} while (!is_quiet(stage));
	assert_int_equal(dw_get(stage->owner, "a", on_page, stage), DW_OK);
	assert_int_equal(dw_sync(stage->owner, PATIENCE), DW_OK);
}

static void go_to(struct stage *stage, dw_usec time)
{
	atomic_store(&stage->now, time);
	settle_down(stage);
}

static void on_status(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	((struct stage *)user)->inbox = store->inbox;
}

/* hear waits until the owner has read what the client wrote. */
static void hear(struct stage *stage)
{
	struct pollfd readable = {.fd = dw_fd(stage->owner), .events = POLLIN};

	for (;;) {
		settle_down(stage);
		assert_int_equal(dw_get_status(stage->owner, on_status, stage), DW_OK);
		assert_int_equal(dw_sync(stage->owner, PATIENCE), DW_OK);
		if (stage->inbox == 0)
			return;
		assert_int_equal(poll(&readable, 1, (int)(PATIENCE / 1000)), 1);
	}
}

/* ---- States -------------------------------------------------------------------------------- */

static void put_old(struct stage *stage, const char *id, const char *topic, dw_usec late_after)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = topic,
			  .due = OLD_DUE,
			  .data = "old",
			  .data_size = 3,
			  .late_after_us = late_after};

	assert_int_equal(dw_put(stage->owner, &timer, NULL, NULL), DW_OK);
}

/* reach brings "a" into the state; FIRING and FIRED also make the call, for they last no longer. */
static void reach(struct stage *stage)
{
	enum state state = stage->cell->state;

	if (state == NONE)
		return;
	put_old(stage, "a", "t", state == DEAD ? 1 : 0);
	if (state == FIRED)
		put_old(stage, "b", "other", 0);
	settle_down(stage);
	assert_int_equal(stage->listed_state, DW_PENDING);
	if (state == CLAIMED)
		go_to(stage, OLD_DUE - LEAD);
	else if (state != PENDING)
		go_to(stage, state == DEAD ? OLD_DUE + 2 : OLD_DUE);
	if (state == CLAIMED || state == HELD)
		assert_int_equal(stage->listed_state, DW_CLAIMED);
	if (state == BETWEEN)
		assert_int_equal(stage->listed_state, DW_PENDING);
	assert_int_equal(stage->dead, state == DEAD);
}

static void settle_held(struct stage *stage)
{
	int status = dw_settle(stage->owner, &stage->held, DW_RETRY, RETRY_IN, NULL, NULL);

	/* A put in its place has ended the delivery. */
	assert_int_equal(status, stage->cell->call == PUT ? DW_ESTALE : DW_OK);
}

/* ---- A cell -------------------------------------------------------------------------------- */

static dw *open_as(struct stage *stage, dw_role role)
{
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	char message[DW_MESSAGE_SIZE];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .on_event = count_dead,
			      .on_event_user = stage,
			      .clock = read_clock,
			      .clock_user = stage};
	dw *d = NULL;

	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, stage->folder, "t.db"));
	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static void play(struct stage *stage)
{
	assert_int_equal(dw_on(stage->owner, "t", on_due, stage), DW_OK);
	assert_int_equal(dw_on(stage->owner, "other", on_other, stage), DW_OK);
	settle_down(stage);
	reach(stage);
	if (!stage->asked)
		ask(stage);
	hear(stage);
	assert_int_equal(stage->answers, 1);
	if (stage->cell->state == HELD)
		settle_held(stage);
	go_to(stage, OLD_DUE + RETRY_IN);
	go_to(stage, NEW_DUE);
	go_to(stage, MOVED_DUE);
	assert_int_equal(stage->listed_state, -1); /* all is over */
}

static bool run(const struct cell *cell)
{
	static const char *const calls[] = {"put", "put DW_NEW", "cancel", "move"};
	static const char *const states[] = {
	    "none", "pending", "between attempts", "claimed", "firing", "fired", "held", "dead"};
	struct stage stage = {.cell = cell, .now = START, .answer = UNANSWERED};
	bool right;

	temp_make(stage.folder);
	stage.owner = open_as(&stage, DW_OWNER);
	stage.client = open_as(&stage, DW_CLIENT);
	play(&stage);
	right = stage.answer == cell->answer && strcmp(stage.starts, cell->after) == 0;
	if (!right)
		print_message("%s, %s, %s: answered %d, not %d; then \"%s\", not \"%s\"\n",
			      calls[cell->call], states[cell->state],
			      cell->who == OWNER ? "owner" : "client", stage.answer, cell->answer,
			      stage.starts, cell->after);
	assert_int_equal(dw_close(stage.client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(stage.owner, PATIENCE), DW_OK);
	temp_remove(stage.folder);
	return right;
}

static void every_cell_answers_and_delivers_as_the_table_says(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i += environment_step(10))
		wrong += !run(&cells[i]);
	assert_int_equal(wrong, 0);
}

static void table_has_every_cell_once(void **state)
{
	(void)state;
	assert_int_equal(sizeof cells / sizeof *cells, (MOVE + 1) * (DEAD + 1) * (CLIENT + 1));
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		assert_int_equal(cells[i].call, i / ((DEAD + 1) * (CLIENT + 1)));
		assert_int_equal(cells[i].state, i / (CLIENT + 1) % (DEAD + 1));
		assert_int_equal(cells[i].who, i % (CLIENT + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(table_has_every_cell_once),
	    cmocka_unit_test(every_cell_answers_and_delivers_as_the_table_says),
	};

	return cmocka_run_group_tests_name("state_table", tests, NULL, NULL);
}

#else

int main(void)
{
	return nothing_tested("built without SQLite");
}

#endif
