/* A put that a pause refuses, and whose reply is lost, is not told as done. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "support/relay.h"
#include "support/setter.h"

#define PATIENCE DW_SECONDS(600)

enum { TRIES = 60 }; /* on a slow machine a put that is in doubt runs out of patience */

/* A handle behind a relay, which loses a reply. The setter's handle is connected directly. */
struct lost {
	struct setter *setter;
	struct relay relay;
	char path[TEMP_SIZE];
	dw *d;
	int status[2]; /* of the puts whose reply is lost */
};

static void open_behind(struct lost *lost, dw_role role, const char *name)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options, .store = url, .name = name, .role = role};

	(void)snprintf(lost->path, sizeof lost->path, "%s.relay",
		       lost->setter->redis->unix_sock.path);
	relay_start(&lost->relay, lost->path, lost->setter->redis->unix_sock.path);
	(void)snprintf(url, sizeof url, "unix://%s", lost->path);
	assert_int_equal(dw_open(&lost->d, &options, NULL), DW_OK);
}

static void close_behind(struct lost *lost)
{
	assert_int_equal(dw_close(lost->d, PATIENCE), DW_OK);
	relay_end(&lost->relay);
	assert_int_equal(unlink(lost->path), 0);
}

static void note(dw *d, const dw_result *result, void *user)
{
	(void)d;
	*(int *)user = result->status;
}

/* begin_put: all ids are in one shard. */
static void begin_put(struct lost *lost, const char *topic, const char *id, int *status)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = topic};

	timer.due = dw_now(lost->d) + DW_HOURS(1);
	assert_int_equal(dw_put(lost->d, &timer, note, status), DW_OK);
}

static int put(struct lost *lost, const char *topic, const char *id)
{
	int status = DW_EUNKNOWN;

	begin_put(lost, topic, id, &status);
	assert_int_equal(dw_sync(lost->d, PATIENCE), DW_OK);
	return status;
}

/* lose_reply: the connection is cut before the next reply. */
static void lose_reply(struct lost *lost)
{
	while (!lost->relay.cut) {
		struct pollfd readable = {.fd = dw_fd(lost->d), .events = POLLIN};

		(void)poll(&readable, 1, 50);
		assert_int_equal(dw_turn(lost->d), DW_OK);
	}
}

static void find(struct lost *lost)
{
	relay_open(&lost->relay);
	assert_int_equal(dw_sync(lost->d, PATIENCE), DW_OK);
}

/* put_and_lose: a put that the pause refuses, and one that is stored. */
static void put_and_lose(struct lost *lost)
{
	lost->status[1] = DW_EUNKNOWN;
	for (int i = 0; i < TRIES && lost->status[1] == DW_EUNKNOWN; i++) {
		relay_cut_after(&lost->relay, RELAY_REPLIES, 0);
		begin_put(lost, "paused", "{a}refused", &lost->status[0]);
		begin_put(lost, "open", "{a}stored", &lost->status[1]);
		lose_reply(lost);
		find(lost);
		assert_int_not_equal(lost->status[0], DW_OK);
	}
	assert_int_equal(lost->status[1], DW_OK);
}

static void a_refusal_whose_reply_a_client_loses_is_no_success(void **state)
{
	struct lost lost = {.setter = *state};

	setter_set_three(lost.setter);
	open_behind(&lost, DW_CLIENT, "set");
	assert_int_equal(put(&lost, "open", "{a}first"), DW_OK);
	put_and_lose(&lost);
	close_behind(&lost);
}

static void a_refusal_whose_reply_the_owner_loses_is_no_success(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .paused = DW_PAUSE_INTAKE};
	struct lost lost = {.setter = *state};
	int status = DW_EUNKNOWN;

	open_behind(&lost, DW_OWNER, "other");
	assert_int_equal(dw_topic_set(lost.d, "paused", &settings, note, &status), DW_OK);
	assert_int_equal(put(&lost, "open", "{a}first"), DW_OK);
	assert_int_equal(status, DW_OK);
	put_and_lose(&lost);
	close_behind(&lost);
}

/* A pause that has refused an earlier put leaves no doubt about later ones. */
static void a_put_after_a_refusal_is_done_although_it_is_gone(void **state)
{
	struct lost lost = {.setter = *state};
	int status = DW_EUNKNOWN;

	setter_set_three(lost.setter);
	open_behind(&lost, DW_CLIENT, "set");
	assert_int_equal(put(&lost, "paused", "{a}refused"), DW_EPAUSED);
	for (int i = 0; i < TRIES && status == DW_EUNKNOWN; i++) {
		relay_cut_after(&lost.relay, RELAY_REPLIES, 0);
		begin_put(&lost, "open", "{a}stored", &status);
		lose_reply(&lost);
		assert_int_equal(dw_cancel(lost.setter->d, "{a}stored", NULL, NULL), DW_OK);
		setter_sync_all(lost.setter);
		find(&lost);
	}
	assert_int_equal(status, DW_OK);
	close_behind(&lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_refusal_whose_reply_a_client_loses_is_no_success,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_refusal_whose_reply_the_owner_loses_is_no_success,
					    setter_set_up, setter_tear_down),
	    cmocka_unit_test_setup_teardown(a_put_after_a_refusal_is_done_although_it_is_gone,
					    setter_set_up, setter_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
