/* What a timer waits for, as a client beside its owner hears it: the store knows what the owner has
 * told, and not its memory. The tests move both clocks, and say when the owner turns. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/ended.h"
#include "durawheel/why.h"
#include "support/newer.h"
#include "support/seen.h"
#include "support/temp.h"

#define START DW_SECONDS(1900000000)

struct place {
	char folder[TEMP_SIZE], url[TEMP_SIZE + 32];
	_Atomic dw_usec now; /* the thread of the store reads it, too */
	dw *owner, *client;
	dw_verdict verdict;
};

struct told {
	int calls, status, is_exact, shard;
	dw_waits waits;
	dw_usec until;
	char who[256], detail[256];
};

static dw_usec read_clock(void *user)
{
	return ((struct place *)user)->now;
}

static dw *open_as(struct place *place, dw_role role)
{
	dw_options options = {.size = sizeof options,
			      .store = place->url,
			      .role = role,
			      .hold_us = DW_HOURS(1),
			      .clock = read_clock,
			      .clock_user = place};
	char message[DW_MESSAGE_SIZE] = "";
	dw *d;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	return d;
}

static void begin(struct place *place)
{
	*place = (struct place){.now = START, .verdict = DW_DONE};
	temp_make(place->folder);
	(void)snprintf(place->url, sizeof place->url, "sqlite:%s/t.db", place->folder); /* fits */
	place->owner = open_as(place, DW_OWNER);
	place->client = open_as(place, DW_CLIENT);
}

static void end(struct place *place)
{
	assert_int_equal(dw_close(place->client, PATIENCE), DW_OK);
	assert_int_equal(dw_close(place->owner, PATIENCE), DW_OK);
	temp_remove(place->folder);
}

static dw_verdict say(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	return ((struct place *)user)->verdict;
}

static void heard_why(dw *d, int status, const dw_why *why, void *user)
{
	struct told *told = user;

	(void)d;
	told->calls++;
	told->status = status;
	assert_int_equal(status == DW_OK, why != NULL);
	if (!why)
		return;
	told->waits = why->waits;
	told->until = why->until;
	told->is_exact = why->is_exact;
	told->shard = why->shard;
	(void)snprintf(told->who, sizeof told->who, "%s", why->who);          /* it fits */
	(void)snprintf(told->detail, sizeof told->detail, "%s", why->detail); /* it fits */
}

static struct told ask(dw *d, const char *id)
{
	struct told told = {0};

	assert_int_equal(dw_why_waiting(d, id, heard_why, &told), DW_OK);
	assert_int_equal(told.calls, 0); /* never from inside the call */
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(told.calls, 1);
	return told;
}

static struct told hears(struct place *place, const char *id, dw_waits waits)
{
	struct told told = ask(place->client, id);

	assert_int_equal(told.status, DW_OK);
	assert_string_equal(dw_describe_waits(told.waits)->name, dw_describe_waits(waits)->name);
	assert_false(told.is_exact);
	assert_int_equal(told.shard, -1);
	return told;
}

static bool owes(const dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	return stats.inflight > 0;
}

/* pass lets time go by, and the owner turns until the store owes nothing, and tells its numbers. */
static void pass(struct place *place, dw_usec time)
{
	struct pollfd fd = {.fd = dw_fd(place->owner), .events = POLLIN};

	for (int i = 0; i < 12; i++) {
		place->now += time / 12;
		assert_int_equal(dw_turn(place->owner), DW_OK);
		while (owes(place->owner)) {
			assert_true(poll(&fd, 1, 20000) > 0);
			assert_int_equal(dw_turn(place->owner), DW_OK);
		}
	}
}

static void put(dw *d, const char *id, dw_usec delay)
{
	assert_int_equal(dw_after(d, "t", id, delay, NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
}

/* begin_with_handler also registers a handler of the topic, which the owner has told the store. */
static void begin_with_handler(struct place *place)
{
	begin(place);
	assert_int_equal(dw_on(place->owner, "t", say, place), DW_OK);
	put(place->owner, "far", DW_DAYS(1));
	pass(place, DW_SECONDS(20));
}

static void owner_is_exact_and_a_client_is_not(void **state)
{
	struct place place;
	struct told told;

	(void)state;
	begin(&place);
	put(place.owner, "a", DW_HOURS(1));
	told = ask(place.owner, "a");
	assert_true(told.status == DW_OK && told.is_exact && told.waits == DW_WAITS_DUE);
	assert_string_equal(told.who, "");
	told = hears(&place, "a", DW_WAITS_DUE);
	assert_int_equal(told.until, START + DW_HOURS(1));
	assert_string_not_equal(told.who, "");
	assert_int_equal(ask(place.client, "none").status, DW_ENOENT);
	assert_int_equal(ask(place.owner, "none").status, DW_ENOENT);
	assert_int_equal(dw_why_waiting(place.client, "", heard_why, &told), DW_EINVAL);
	assert_int_equal(dw_why_waiting(place.client, "a", NULL, NULL), DW_EINVAL);
	end(&place);
}

static void owner_that_has_not_read_it_loads(void **state)
{
	struct place place;

	(void)state;
	begin(&place);
	put(place.client, "a", 0);
	(void)hears(&place, "a", DW_WAITS_LOADS);
	end(&place);
}

static void owner_that_tells_nothing_is_silent(void **state)
{
	struct place place;

	(void)state;
	begin(&place);
	pass(&place, DW_SECONDS(20));
	put(place.client, "a", 0);
	place.now += DW_SECONDS(31);
	(void)hears(&place, "a", DW_WAITS_SILENT);
	end(&place);
}

static void missing_owner_is_told(void **state)
{
	struct place place;

	(void)state;
	begin(&place);
	put(place.client, "a", 0);
	assert_int_equal(dw_close(place.owner, PATIENCE), DW_OK);
	assert_string_equal(hears(&place, "a", DW_WAITS_OWNER).who, "");
	place.owner = open_as(&place, DW_OWNER);
	end(&place);
}

static void claimed_timer_runs_once_its_owner_has_told_so(void **state)
{
	struct place place;

	(void)state;
	begin_with_handler(&place);
	place.verdict = DW_HOLD;
	put(place.owner, "a", 0);
	(void)hears(&place, "a", DW_WAITS_CLAIMED);
	pass(&place, DW_SECONDS(20));
	(void)hears(&place, "a", DW_WAITS_RUNS);
	assert_int_equal(ask(place.owner, "a").waits, DW_WAITS_HOLD);
	end(&place);
}

/* A deadline of 0 is an ordinary one. */
static void timer_that_waits_for_a_worker_does_not_run(void **state)
{
	struct place place;

	(void)state;
	begin_with_handler(&place);
	place.verdict = DW_HOLD_UNSTARTED;
	assert_int_equal(dw_at(place.owner, "t", "a", 0, NULL, 0), DW_OK);
	pass(&place, DW_SECONDS(1));
	assert_int_equal(dw_on(place.owner, "t", NULL, NULL), DW_OK);
	pass(&place, DW_SECONDS(20));
	(void)hears(&place, "a", DW_WAITS_WORKERS);
	end(&place);
}

/* A due timer of a topic of which the owner has told no reason: it starts next, or is not read. */
static void due_timer_without_a_reason_starts_next(void **state)
{
	struct place place;

	(void)state;
	begin_with_handler(&place);
	put(place.client, "a", 0);
	(void)hears(&place, "a", DW_WAITS_TURN);
	place.now += DW_SECONDS(12);
	(void)hears(&place, "a", DW_WAITS_LOADS);
	end(&place);
}

static void newer_timer_is_told(void **state)
{
	const dw_head head = {.generation = (uint64_t)START, .due = START + DW_HOURS(1)};
	unsigned char body[NEWER_BODY_MAX];
	char path[TEMP_SIZE];
	struct place place;

	(void)state;
	begin(&place);
	assert_int_equal(dw_close(place.owner, PATIENCE), DW_OK);
	plant(temp_file(path, place.folder, "t.db"), &head, body, newer_body("a", "t", body));
	(void)hears(&place, "a", DW_WAITS_NEWER);
	assert_int_equal(dw_close(place.client, PATIENCE), DW_OK);
	temp_remove(place.folder);
}

static void timer_that_became_a_message_is_one_of_its_queue(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .keep_us = DW_DAYS(1)};
	struct place place;

	(void)state;
	begin(&place);
	assert_int_equal(dw_topic_set(place.owner, "t", &settings, NULL, NULL), DW_OK);
	pass(&place, DW_SECONDS(20));
	put(place.owner, "a", 0);
	pass(&place, DW_SECONDS(2));
	assert_non_null(strstr(hears(&place, "a", DW_WAITS_MESSAGE).detail, "1 wait, 0 are taken"));
	end(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(owner_is_exact_and_a_client_is_not),
	    cmocka_unit_test(owner_that_has_not_read_it_loads),
	    cmocka_unit_test(owner_that_tells_nothing_is_silent),
	    cmocka_unit_test(missing_owner_is_told),
	    cmocka_unit_test(claimed_timer_runs_once_its_owner_has_told_so),
	    cmocka_unit_test(timer_that_waits_for_a_worker_does_not_run),
	    cmocka_unit_test(due_timer_without_a_reason_starts_next),
	    cmocka_unit_test(newer_timer_is_told),
	    cmocka_unit_test(timer_that_became_a_message_is_one_of_its_queue),
	};

	return cmocka_run_group_tests_name("why_waiting", tests, NULL, NULL);
}
