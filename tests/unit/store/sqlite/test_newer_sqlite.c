/* A file in which a newer durawheel has stored timers, or somebody else what no call accepts: the
 * first are listed and left alone, the second are damage. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "support/newer.h"
#include "support/sqlite_fixture.h"

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */

enum { LISTED_MAX = 8 };

struct seen {
	int events[32];
	int statuses[32]; /* of the last event of a kind */
	int starts;
	int status; /* of the last answer */
	size_t count;
	dw_state states[LISTED_MAX];
	char topics[LISTED_MAX][DW_TOPIC_MAX + 1];
	char ids[LISTED_MAX][16];
	int newer;
	int damaged;
	uint64_t flaws;
	char flaw[128];
};

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct seen *)user)->starts++;
	return DW_DONE;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->events[event->kind]++;
	seen->statuses[event->kind] = event->status;
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct seen *)user)->status = result->status;
}

static void on_page(dw *d, int status, const dw_info *infos, size_t count, const dw_cursor *next,
		    void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)next;
	seen->status = status;
	seen->count = count;
	assert_true(count <= LISTED_MAX);
	for (size_t i = 0; i < count; i++) {
		seen->states[i] = infos[i].state;
		(void)snprintf(seen->ids[i], sizeof seen->ids[i], "%s", infos[i].id);
		(void)snprintf(seen->topics[i], sizeof seen->topics[i], "%s", infos[i].topic);
		if (infos[i].state == DW_NEWER)
			assert_int_equal(infos[i].data_size, 0);
	}
}

static void on_letters(dw *d, int status, const dw_dead *letters, size_t count,
		       const dw_cursor *next, void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	seen->count = count;
	seen->newer = count > 0 ? letters[0].newer : 0;
	seen->damaged = count > 0 ? letters[0].damaged : 0;
}

static void on_check(dw *d, int status, const dw_check_report *report, void *user)
{
	struct seen *seen = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	seen->flaws = report->flaw_count;
	if (report->flaws_shown > 0)
		(void)snprintf(seen->flaw, sizeof seen->flaw, "%s", report->flaws[0].what);
}

static int try_open(struct fixture *f, struct seen *seen, dw_role role, dw **ret_dw)
{
	char url[TEMP_SIZE + 8];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .on_event = on_event,
			      .on_event_user = seen};

	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	return dw_open(ret_dw, &options, f->message);
}

static dw *open_as(struct fixture *f, struct seen *seen, dw_role role)
{
	dw *d = NULL;

	if (try_open(f, seen, role, &d) != DW_OK)
		fail_msg("%s", f->message);
	return d;
}

static void await(dw *d, const int *counter, int wanted)
{
	struct pollfd fd = {.fd = dw_fd(d), .events = POLLIN};

	for (int i = 0; *counter < wanted; i++) {
		assert_true(i < 1000000);
		assert_true(poll(&fd, 1, (int)(PATIENCE / 1000)) > 0);
		assert_int_equal(dw_turn(d), DW_OK);
	}
}

static int answer_of(dw *d, int status, const struct seen *seen)
{
	assert_int_equal(status, DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return seen->status;
}

/* make: a file with a timer of ours, "mine", due long ago. */
static void make(struct fixture *f)
{
	fixture_open(f, &f->owner, DW_OWNER);
	ask_put_one(&f->owner, "mine", 100);
	ask_end(&f->owner);
}

static const dw_head head_of_it = {.generation = INT64_C(4000000000000000), .due = 5};

static size_t plant_newer(struct fixture *f, unsigned char *ret_body)
{
	size_t size = newer_body("it", "later", ret_body);

	plant(f->path, &head_of_it, ret_body, size);
	return size;
}

/* assert_untouched: the timer is stored as it was planted. */
static void assert_untouched(struct fixture *f, const unsigned char *body, size_t size)
{
	unsigned char now[NEWER_BODY_MAX];

	assert_int_equal(plant_body(f->path, "it", now), size);
	assert_memory_equal(now, body, size);
}

/* ---- Beyond a limit ------------------------------------------------------------------------ */

static void stored_topic_beyond_the_limit_is_damage(void **state)
{
	static const size_t sizes[] = {64, 65, 200, 255};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unsigned char body[NEWER_BODY_MAX];
		size_t size = body_of_topic("it", sizes[i], body);
		struct seen seen = {0};
		dw_head head = head_of_it;
		dw *d;

		head.generation += 1000 * i;
		make(f);
		plant(f->path, &head, body, size);
		d = open_as(f, &seen, DW_CLIENT);
		assert_int_equal(answer_of(d, dw_list(d, NULL, NULL, 8, on_page, &seen), &seen), 0);
		assert_int_equal(seen.count, 1);
		assert_string_equal(seen.ids[0], "mine");
		assert_int_equal(seen.events[DW_EVENT_CORRUPT], 1);
		assert_int_equal(answer_of(d, dw_get(d, "it", on_page, &seen), &seen), DW_ECORRUPT);
		assert_int_equal(dw_check(d, on_check, &seen), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		assert_int_equal(seen.flaws, 1);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
		d = open_as(f, &seen, DW_OWNER);
		await(d, &seen.events[DW_EVENT_DEAD], 1);
		assert_int_equal(dw_dead_list(d, NULL, NULL, 8, on_letters, &seen), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		assert_int_equal(seen.damaged, 1);
		assert_int_equal(answer_of(d, dw_dead_drop(d, "it", 0, on_done, &seen), &seen), 0);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	}
}

/* ---- Newer --------------------------------------------------------------------------------- */

static void schema_of_a_newer_version_is_refused_to_all(void **state)
{
	static const dw_role roles[] = {DW_OWNER, DW_CLIENT, DW_STANDBY};
	struct fixture *f = *state;
	struct seen seen = {0};
	dw *d;

	make(f);
	fixture_raw(f, "PRAGMA user_version = 2");
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		assert_int_equal(try_open(f, &seen, roles[i], &d), DW_ENEWER);
		fixture_words(f, "newer durawheel");
	}
}

static void owner_is_refused_where_a_newer_timer_is(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	struct seen seen = {0};
	size_t size;
	dw *d;

	make(f);
	size = plant_newer(f, body);
	assert_int_equal(try_open(f, &seen, DW_OWNER, &d), DW_ENEWER);
	fixture_words(f, "newer durawheel");
	assert_untouched(f, body, size);
	plant_take_away(f->path, "it");
	d = open_as(f, &seen, DW_OWNER);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void client_lists_a_newer_timer_and_cannot_change_it(void **state)
{
	struct fixture *f = *state;
	dw_timer timer = {.size = sizeof timer, .id = "it", .topic = "t", .flags = DW_NEW};
	unsigned char body[NEWER_BODY_MAX];
	struct seen seen = {0};
	size_t size;
	dw *d;

	make(f);
	size = plant_newer(f, body);
	d = open_as(f, &seen, DW_CLIENT);
	assert_int_equal(answer_of(d, dw_list(d, "later", NULL, 8, on_page, &seen), &seen), DW_OK);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.ids[0], "it");
	assert_string_equal(seen.topics[0], "later");
	assert_int_equal(seen.states[0], DW_NEWER);
	assert_int_equal(answer_of(d, dw_get(d, "it", on_page, &seen), &seen), DW_OK);
	assert_int_equal(seen.states[0], DW_NEWER);
	assert_int_equal(seen.events[DW_EVENT_CORRUPT], 0);
	assert_int_equal(answer_of(d, dw_put(d, &timer, on_done, &seen), &seen), DW_EEXIST);
	timer.flags = 0;
	assert_int_equal(answer_of(d, dw_put(d, &timer, on_done, &seen), &seen), DW_ENEWER);
	assert_int_equal(answer_of(d, dw_cancel(d, "it", on_done, &seen), &seen), DW_ENEWER);
	assert_int_equal(answer_of(d, dw_move(d, "it", 7, on_done, &seen), &seen), DW_ENEWER);
	assert_int_equal(seen.events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(dw_check(d, on_check, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.flaws, 1);
	assert_non_null(strstr(seen.flaw, "newer durawheel"));
	assert_int_equal(answer_of(d, dw_cancel(d, "mine", on_done, &seen), &seen), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_untouched(f, body, size);
}

/* It is met at work: written by a client of a newer version, over a timer that the owner knows. */
static void owner_that_meets_a_newer_timer_gives_the_store_up(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	struct seen seen = {0};
	size_t size;
	dw *d;

	d = open_as(f, &seen, DW_OWNER);
	assert_int_equal(dw_on(d, "*", on_due, &seen), DW_OK);
	assert_int_equal(dw_after(d, "t", "it", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	size = plant_newer(f, body);
	await(d, &seen.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	assert_int_equal(seen.statuses[DW_EVENT_OWNER_LOST], DW_ENEWER);
	assert_int_equal(answer_of(d, dw_cancel(d, "it", on_done, &seen), &seen), DW_ENEWER);
	assert_int_equal(answer_of(d, dw_after(d, "t", "mine", 0, NULL, 0), &seen), DW_ENEWER);
	assert_untouched(f, body, size);
	fixture_open(f, &f->other, DW_CLIENT); /* and nobody owns it */
	assert_int_equal(ask_status(&f->other, ask_plain(DW_OP_OWN)), DW_ENEWER);
	ask_end(&f->other);
	plant_take_away(f->path, "it");
	await(d, &seen.events[DW_EVENT_OWNER], 1);
	await(d, &seen.starts, 1); /* "mine" */
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	assert_int_equal(seen.events[DW_EVENT_CORRUPT] + seen.events[DW_EVENT_DEAD], 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void newer_letter_is_listed_and_stays(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	size_t size = newer_body("it", "later", body);
	struct seen seen = {0};
	dw *d;

	make(f);
	plant_dead(f->path, &head_of_it, body, size);
	d = open_as(f, &seen, DW_OWNER);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dw_dead_list(d, "later", NULL, 8, on_letters, &seen), DW_OK);
		assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
		assert_int_equal(seen.count, 1);
		assert_int_equal(seen.newer, 1);
		assert_int_equal(seen.damaged, 0);
		assert_int_equal(
		    answer_of(d, dw_dead_requeue(d, "it", 0, 5, on_done, &seen), &seen), DW_ENEWER);
		assert_int_equal(answer_of(d, dw_dead_drop(d, "it", 0, on_done, &seen), &seen),
				 DW_ENEWER);
		assert_int_equal(answer_of(d, dw_dead_drop(d, NULL, 0, on_done, &seen), &seen),
				 DW_ENEWER);
	}
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

/* ---- The store ----------------------------------------------------------------------------- */

static void newer_timer_is_neither_claimed_nor_buried_nor_purged(void **state)
{
	static const dw_op_kind kinds[] = {DW_OP_CLAIM, DW_OP_SETTLE, DW_OP_RETRY, DW_OP_BURY};
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	size_t size;

	fixture_open(f, &f->owner, DW_OWNER);
	size = plant_newer(f, body);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		dw_op *op =
		    ask_done(&f->owner, ask_about(kinds[i], "it", head_of_it.generation, 0));

		assert_int_equal(op->status, DW_ESTALE);
		assert_int_equal(op->rows->status, DW_ENEWER);
		ask_free(op);
	}
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_PURGE)), DW_ENEWER);
	assert_untouched(f, body, size);
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_DISOWN)), DW_OK);
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_DISOWN)), DW_EROLE);
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_PURGE)), DW_EROLE);
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_OWN)), DW_ENEWER);
	plant_take_away(f->path, "it");
	assert_int_equal(ask_status(&f->owner, ask_plain(DW_OP_OWN)), DW_OK);
}

static void newer_body_under_another_seal_is_damage(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	dw_head head;

	fixture_open(f, &f->owner, DW_OWNER);
	(void)plant_newer(f, body);
	fixture_raw(f, "UPDATE timer SET due = due + 1 WHERE id = 'it'");
	assert_int_equal(ask_stored(&f->owner, "it", &head), DW_ECORRUPT);
	assert_int_equal(ask_status(&f->owner, ask_cancel("it", 0)), DW_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(stored_topic_beyond_the_limit_is_damage),
	    CASE(schema_of_a_newer_version_is_refused_to_all),
	    CASE(owner_is_refused_where_a_newer_timer_is),
	    CASE(client_lists_a_newer_timer_and_cannot_change_it),
	    CASE(owner_that_meets_a_newer_timer_gives_the_store_up),
	    CASE(newer_letter_is_listed_and_stays),
	    CASE(newer_timer_is_neither_claimed_nor_buried_nor_purged),
	    CASE(newer_body_under_another_seal_is_damage),
	};

	return cmocka_run_group_tests_name("newer_sqlite", tests, NULL, NULL);
}
