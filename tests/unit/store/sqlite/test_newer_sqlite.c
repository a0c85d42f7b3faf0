/* A file in which a newer durawheel has stored timers, or somebody else what no call accepts: the
 * first are listed and left alone, the second are damage. */
#include "durawheel/select.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "support/newer.h"
#include "support/sqlite_fixture.h"
#include "support/viewer.h"

static int try_open(struct fixture *f, struct viewer *viewer, dw_role role)
{
	char url[TEMP_SIZE + 8];
	dw_options options = {.store = url, .role = role};

	(void)snprintf(url, sizeof url, "sqlite:%s", f->path);
	return viewer_open(viewer, &options);
}

static void open_as(struct fixture *f, struct viewer *viewer, dw_role role)
{
	if (try_open(f, viewer, role) != DW_OK)
		fail_msg("%s", viewer->message);
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
		struct viewer viewer = {0};
		dw_head head = head_of_it;

		head.generation += 1000 * i;
		make(f);
		plant(f->path, &head, body, size);
		open_as(f, &viewer, DW_CLIENT);
		assert_int_equal(
		    viewer_answer(&viewer, dw_list(viewer.d, NULL, NULL, 8, viewer_page, &viewer)),
		    0);
		assert_int_equal(viewer.count, 1);
		assert_string_equal(viewer.ids[0], "mine");
		assert_int_equal(viewer.events[DW_EVENT_CORRUPT], 1);
		assert_int_equal(
		    viewer_answer(&viewer, dw_get(viewer.d, "it", viewer_page, &viewer)),
		    DW_ECORRUPT);
		viewer_sync(&viewer, dw_check(viewer.d, viewer_check, &viewer));
		assert_int_equal(viewer.flaws, 1);
		viewer_close(&viewer);
		open_as(f, &viewer, DW_OWNER);
		viewer_await(&viewer, &viewer.events[DW_EVENT_DEAD], 1);
		viewer_sync(&viewer,
			    dw_dead_list(viewer.d, NULL, NULL, 8, viewer_letters, &viewer));
		assert_int_equal(viewer.damaged, 1);
		assert_int_equal(
		    viewer_answer(&viewer, dw_dead_drop(viewer.d, "it", 0, viewer_done, &viewer)),
		    0);
		viewer_close(&viewer);
	}
}

/* ---- Newer --------------------------------------------------------------------------------- */

static void schema_of_a_newer_version_is_refused_to_all(void **state)
{
	static const dw_role roles[] = {DW_OWNER, DW_CLIENT, DW_STANDBY};
	struct fixture *f = *state;
	struct viewer viewer = {0};

	make(f);
	fixture_raw(f, "PRAGMA user_version = 4");
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		assert_int_equal(try_open(f, &viewer, roles[i]), DW_ENEWER);
		assert_non_null(strstr(viewer.message, "newer durawheel"));
	}
}

static void owner_is_refused_where_a_newer_timer_is(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	struct viewer viewer = {0};
	size_t size;

	make(f);
	size = plant_newer(f, body);
	assert_int_equal(try_open(f, &viewer, DW_OWNER), DW_ENEWER);
	assert_non_null(strstr(viewer.message, "newer durawheel"));
	assert_untouched(f, body, size);
	plant_take_away(f->path, "it");
	open_as(f, &viewer, DW_OWNER);
	viewer_close(&viewer);
}

static void owner_is_refused_where_an_old_timer_is_newer(void **state)
{
	struct fixture *f = *state;
	dw_head head = {.generation = 1, .due = 5}; /* before all others */
	unsigned char body[NEWER_BODY_MAX];
	struct viewer viewer = {0};
	char id[16];

	fixture_open(f, &f->owner, DW_OWNER);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		ask_put_one(&f->owner, id, 100);
	}
	ask_end(&f->owner);
	plant(f->path, &head, body, newer_body("it", "later", body));
	assert_int_equal(try_open(f, &viewer, DW_OWNER), DW_ENEWER);
	assert_non_null(strstr(viewer.message, "newer durawheel"));
}

static void client_lists_a_newer_timer_and_cannot_change_it(void **state)
{
	struct fixture *f = *state;
	dw_timer timer = {.size = sizeof timer, .id = "it", .topic = "t", .flags = DW_NEW};
	unsigned char body[NEWER_BODY_MAX];
	struct viewer viewer = {0};
	size_t size;

	make(f);
	size = plant_newer(f, body);
	open_as(f, &viewer, DW_CLIENT);
	assert_int_equal(viewer_answer(&viewer, dw_list(viewer.d,
							&(dw_select){.size = sizeof(dw_select),
								     .topic = "later"},
							NULL, 8, viewer_page, &viewer)),
			 DW_OK);
	assert_int_equal(viewer.count, 1);
	assert_string_equal(viewer.ids[0], "it");
	assert_string_equal(viewer.topics[0], "later");
	assert_int_equal(viewer.states[0], DW_NEWER);
	assert_int_equal(viewer_answer(&viewer, dw_get(viewer.d, "it", viewer_page, &viewer)),
			 DW_OK);
	assert_int_equal(viewer.states[0], DW_NEWER);
	assert_int_equal(viewer.events[DW_EVENT_CORRUPT], 0);
	assert_int_equal(viewer_answer(&viewer, dw_put(viewer.d, &timer, viewer_done, &viewer)),
			 DW_EEXIST);
	timer.flags = 0;
	assert_int_equal(viewer_answer(&viewer, dw_put(viewer.d, &timer, viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_cancel(viewer.d, "it", viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_move(viewer.d, "it", 7, viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer.events[DW_EVENT_STORE_FAILED], 0);
	viewer_sync(&viewer, dw_check(viewer.d, viewer_check, &viewer));
	assert_int_equal(viewer.flaws, 1);
	assert_non_null(strstr(viewer.flaw, "newer durawheel"));
	assert_int_equal(viewer_answer(&viewer, dw_cancel(viewer.d, "mine", viewer_done, &viewer)),
			 DW_OK);
	viewer_close(&viewer);
	assert_untouched(f, body, size);
}

/* It is met at work: written by a client of a newer version, over a timer that the owner knows. */
static void owner_that_meets_a_newer_timer_gives_the_store_up(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	struct viewer viewer = {0};
	size_t size;

	open_as(f, &viewer, DW_OWNER);
	assert_int_equal(dw_on(viewer.d, "*", viewer_due, &viewer), DW_OK);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "it", DW_HOURS(1), NULL, 0));
	size = plant_newer(f, body);
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	assert_int_equal(viewer.statuses[DW_EVENT_OWNER_LOST], DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_cancel(viewer.d, "it", viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_after(viewer.d, "t", "mine", 0, NULL, 0)),
			 DW_ENEWER);
	assert_untouched(f, body, size);
	fixture_open(f, &f->other, DW_CLIENT); /* and nobody owns it */
	assert_int_equal(ask_status(&f->other, ask_plain(DW_OP_OWN)), DW_ENEWER);
	ask_end(&f->other);
	plant_take_away(f->path, "it");
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER], 1);
	viewer_await(&viewer, &viewer.starts, 1); /* "mine" */
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	assert_int_equal(viewer.events[DW_EVENT_CORRUPT] + viewer.events[DW_EVENT_DEAD], 0);
	viewer_close(&viewer);
}

static void newer_letter_is_listed_and_stays(void **state)
{
	struct fixture *f = *state;
	unsigned char body[NEWER_BODY_MAX];
	size_t size = newer_body("it", "later", body);
	struct viewer viewer = {0};

	make(f);
	plant_dead(f->path, &head_of_it, body, size);
	open_as(f, &viewer, DW_OWNER);
	for (int i = 0; i < 2; i++) {
		viewer_sync(&viewer, dw_dead_list(viewer.d,
						  &(dw_dead_select){.size = sizeof(dw_dead_select),
								    .topic = "later"},
						  NULL, 8, viewer_letters, &viewer));
		assert_int_equal(viewer.count, 1);
		assert_int_equal(viewer.newer, 1);
		assert_int_equal(viewer.damaged, 0);
		assert_int_equal(viewer_answer(&viewer, dw_dead_requeue(viewer.d, "it", 0, 5,
									viewer_done, &viewer)),
				 DW_ENEWER);
		assert_int_equal(
		    viewer_answer(&viewer, dw_dead_drop(viewer.d, "it", 0, viewer_done, &viewer)),
		    DW_ENEWER);
		assert_int_equal(
		    viewer_answer(&viewer, dw_dead_drop(viewer.d, NULL, 0, viewer_done, &viewer)),
		    DW_ENEWER);
	}
	viewer_close(&viewer);
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
	    CASE(owner_is_refused_where_an_old_timer_is_newer),
	    CASE(client_lists_a_newer_timer_and_cannot_change_it),
	    CASE(owner_that_meets_a_newer_timer_gives_the_store_up),
	    CASE(newer_letter_is_listed_and_stays),
	    CASE(newer_timer_is_neither_claimed_nor_buried_nor_purged),
	    CASE(newer_body_under_another_seal_is_damage),
	};

	return cmocka_run_group_tests_name("newer_sqlite", tests, NULL, NULL);
}
