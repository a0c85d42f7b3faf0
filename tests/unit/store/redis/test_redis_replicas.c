/* Calls are answered DW_REPLICATED when the replicas have them (replicas=N in the URL). If a
 * replica takes the server's place, nothing that was answered so is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "durawheel/durawheel.h"
#include "durawheel/metrics.h"
#include "durawheel/topic.h"
#include "support/cmocka.h"
#include "support/replicated.h"

#define HOUR DW_SECONDS(3600)
#define TURNS_MAX 6000

static int begin_as(void **state, dw_role role)
{
	struct replicated *r = calloc(1, sizeof *r);

	assert_non_null(r);
	replicated_open(r, role);
	*state = r;
	return 0;
}

static int begin(void **state)
{
	return begin_as(state, DW_OWNER);
}

static int begin_as_client(void **state)
{
	return begin_as(state, DW_CLIENT);
}

static int end(void **state)
{
	replicated_close(*state);
	free(*state);
	return 0;
}

static void expect(struct replicated *r, const struct replicated_answer *answer, int status,
		   dw_level level)
{
	replicated_await(r, answer);
	assert_int_equal(answer->status, status);
	assert_int_equal(answer->level, level);
}

static void put(struct replicated *r, const char *id, dw_level level)
{
	struct replicated_answer answer;

	replicated_put(r, id, HOUR, &answer);
	expect(r, &answer, DW_OK, level);
}

/* hold_one puts a timer that is due at once, and waits until it is held. */
static void hold_one(struct replicated *r, const char *id)
{
	struct replicated_answer answer;

	r->held = 0;
	replicated_put(r, id, 0, &answer);
	for (int i = 0; i < TURNS_MAX && r->held == 0; i++)
		replicated_turn(r);
	assert_int_equal(r->held, 1);
	replicated_await(r, &answer);
}

/* ---- What is stored ------------------------------------------------------------------------ */

static void seen(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		 void *user)
{
	(void)d;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOENT);
	*(dw_usec *)user = count > 0 ? timers[0].due : -1;
}

/* due_of returns the deadline of the timer at the present server, or -1 if there is none. */
static dw_usec due_of(struct replicated *r, const char *id)
{
	dw_usec due = 0;

	assert_int_equal(dw_get(r->d, id, seen, &due), DW_OK);
	for (int i = 0; i < TURNS_MAX && due == 0; i++)
		replicated_turn(r);
	return due;
}

/* ---- Levels -------------------------------------------------------------------------------- */

static void calls_are_answered_replicated(void **state)
{
	struct replicated *r = *state;
	struct replicated_answer answer = {0};

	put(r, "a", DW_REPLICATED);
	assert_int_equal(dw_move(r->d, "a", dw_now(r->d) + 2 * HOUR, replicated_done, &answer),
			 DW_OK);
	expect(r, &answer, DW_OK, DW_REPLICATED);
	answer = (struct replicated_answer){0};
	assert_int_equal(dw_cancel(r->d, "a", replicated_done, &answer), DW_OK);
	expect(r, &answer, DW_OK, DW_REPLICATED);
	hold_one(r, "b");
	answer = (struct replicated_answer){0};
	assert_int_equal(dw_settle(r->d, &r->token, DW_DONE, 0, replicated_done, &answer), DW_OK);
	expect(r, &answer, DW_OK, DW_REPLICATED);
	assert_int_equal(r->late, 0);
}

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	(void)snprintf(user, 128, "%s", messages[0].token);
}

static void acked(dw *d, const dw_result *results, size_t count, void *user)
{
	assert_int_equal(count, 1);
	replicated_done(d, results, user);
}

static void messages_are_answered_replicated(void **state)
{
	struct replicated *r = *state;
	struct replicated_answer answer = {0};
	dw_topic_settings queue = {.size = sizeof queue, .queue = 1};
	dw_timer message = {.size = sizeof message, .topic = "q"};
	const char *topic = "q";
	dw_take_options take = {.size = sizeof take, .topics = &topic, .topic_count = 1, .max = 1};
	char token[128] = "";
	const char *tokens[] = {token};
	dw_answer done = {.size = sizeof done, .tokens = tokens, .count = 1, .verdict = DW_DONE};

	assert_int_equal(dw_topic_set(r->d, "q", &queue, replicated_done, &answer), DW_OK);
	expect(r, &answer, DW_OK, DW_STORED); /* settings wait for nothing */
	answer = (struct replicated_answer){0};
	assert_int_equal(dw_push(r->d, &message, 1, replicated_done, &answer), DW_OK);
	expect(r, &answer, DW_OK, DW_REPLICATED);
	assert_int_equal(dw_take(r->d, &take, taken, token), DW_OK);
	for (int i = 0; i < TURNS_MAX && !token[0]; i++)
		replicated_turn(r);
	answer = (struct replicated_answer){0};
	assert_int_equal(dw_ack(r->d, &done, acked, &answer), DW_OK);
	expect(r, &answer, DW_OK, DW_REPLICATED);
}

/* ---- A replica that is late ---------------------------------------------------------------- */

static void expect_metric(struct replicated *r, const char *line)
{
	static char text[1 << 16];

	assert_int_equal(dw_metrics(r->d, text, sizeof text, NULL), DW_OK);
	assert_non_null(strstr(text, line));
}

static void paused_replica_is_told_once(void **state)
{
	struct replicated *r = *state;

	put(r, "a", DW_REPLICATED);
	redis_server_pause(&r->servers[1]);
	put(r, "b", DW_STORED);
	assert_int_equal(r->late, 1);
	if (!strstr(r->message, "replicas=1: too few replicas have the last change (0 have it)"))
		fail_msg("%s", r->message);
	put(r, "c", DW_STORED);
	assert_int_equal(r->late, 1);
	assert_int_equal(r->back, 0);

	redis_server_resume(&r->servers[1]);
	for (int i = 0; i < TURNS_MAX && r->back == 0; i++)
		replicated_turn(r);
	assert_int_equal(r->back, 1);
	put(r, "d", DW_REPLICATED);
	assert_int_equal(r->late, 1);
	expect_metric(r, "durawheel_replicas_waited_total 3");
	expect_metric(r, "durawheel_replicas_late_total 1");
}

/* The claims of timers wait for no replica, and neither do the verdicts of handlers. */
static void timers_fire_without_replicas(void **state)
{
	struct replicated *r = *state;

	replicated_lag(r);
	hold_one(r, "a");
	assert_int_equal(r->late, 1); /* the put was answered after it */
}

/* A close gives what is held: the server has it. */
static void close_answers_what_is_held(void **state)
{
	struct replicated *r = *state;
	struct replicated_answer answer;

	replicated_lag(r);
	replicated_put(r, "a", HOUR, &answer);
	for (int i = 0; i < 20; i++)
		replicated_turn(r);
	assert_int_equal(answer.count, 0);
	assert_int_equal(dw_close(r->d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.status, DW_OK);
	assert_int_equal(answer.level, DW_STORED);
	r->d = NULL;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void user_without_wait_is_refused(void **state)
{
	struct replicated *r = *state;
	char url[TEMP_SIZE + 96], message[DW_MESSAGE_SIZE];
	dw_options options = {.size = sizeof options, .store = url, .name = "r", .role = DW_CLIENT};
	dw *d;

	(void)replicated_command(r, 0, "ACL SETUSER u on nopass ~* &* +@all -wait");
	(void)snprintf(url, sizeof url, "unix://u:x@%s?replicas=1", r->to_master.path);
	assert_int_equal(dw_open(&d, &options, message), DW_ESTORE);
	assert_non_null(strstr(message, "replicas=1: the server answers: NOPERM"));
	assert_non_null(strstr(message, "it needs WAIT, INFO, SET and PEXPIRE"));
	(void)replicated_command(r, 0, "ACL SETUSER u on nopass ~* &* +@all -info");
	assert_int_equal(dw_open(&d, &options, message), DW_ESTORE);
	assert_non_null(strstr(message, "replicas=1"));
}

/* replicas=N that nobody can meet is told before a call waits for it. */
static void too_few_replicas_are_told_at_once(void **state)
{
	struct replicated *r = *state;

	assert_int_equal(dw_close(r->d, DW_SECONDS(60)), DW_OK);
	r->d = NULL;
	(void)replicated_command(r, 1, "REPLICAOF NO ONE");
	replicated_handle(r, DW_OWNER);
	for (int i = 0; i < TURNS_MAX && r->late == 0; i++)
		replicated_turn(r);
	assert_int_equal(r->late, 1);
	put(r, "a", DW_STORED);
	replicated_follow(r, 1);
	for (int i = 0; i < TURNS_MAX && r->back == 0; i++)
		replicated_turn(r);
	assert_int_equal(r->late, 1);
	assert_int_equal(r->back, 1);
	put(r, "b", DW_REPLICATED);
}

/* ---- A failover ---------------------------------------------------------------------------- */

enum phase { UNSENT, REPLY_LOST, LAGS, PAUSED, PHASES };
enum call { PUT, CANCEL, MOVE, SETTLE, CALLS };

static void begin_phase(struct replicated *r, enum phase phase)
{
	if (phase == UNSENT)
		relay_cut_after(&r->to_master, RELAY_REQUESTS, 0);
	else if (phase == PAUSED)
		redis_server_pause(&r->servers[1]);
	else
		replicated_lag(r);
	if (phase == REPLY_LOST)
		relay_cut_after(&r->to_master, RELAY_REPLIES, 0);
}

/* end_phase waits for longer than one WAIT, but not for all of its patience. */
static void end_phase(struct replicated *r, enum phase phase,
		      const struct replicated_answer *answer)
{
	for (int i = 0; i < 50 && answer->count == 0; i++)
		replicated_turn(r);
	if (phase == PAUSED) {
		redis_server_kill(&r->servers[0]);
		redis_server_resume(&r->servers[1]);
	}
	replicated_fail_over(r, 1);
}

static void call(struct replicated *r, enum call call, struct replicated_answer *answer)
{
	*answer = (struct replicated_answer){0};
	if (call == PUT)
		replicated_put(r, "new", HOUR, answer);
	else if (call == CANCEL)
		assert_int_equal(dw_cancel(r->d, "old", replicated_done, answer), DW_OK);
	else if (call == MOVE)
		assert_int_equal(
		    dw_move(r->d, "old", dw_now(r->d) + 5 * HOUR, replicated_done, answer), DW_OK);
	else
		assert_int_equal(dw_settle(r->d, &r->token, DW_DONE, 0, replicated_done, answer),
				 DW_OK);
}

/* expect_kept: what was answered is stored at the server that took the other one's place. A
 * client's session may be lost, so that nobody knows what became of its call. */
static void expect_kept(struct replicated *r, dw_role role, enum call call,
			const struct replicated_answer *answer)
{
	bool was_done = answer->status == DW_OK;

	if (role == DW_CLIENT && answer->status == DW_EUNKNOWN)
		return;
	if (call == PUT || call == MOVE)
		assert_int_equal(answer->status, DW_OK);
	if (call == PUT)
		assert_true(due_of(r, "new") > 0);
	else if (call == CANCEL && (was_done || answer->status == DW_ENOENT))
		assert_int_equal(due_of(r, "old"), -1);
	else if (call == MOVE)
		assert_true(due_of(r, "old") > dw_now(r->d) + 4 * HOUR);
	else if (call == SETTLE && was_done)
		assert_int_equal(due_of(r, "held"), -1);
}

/* An owner writes what it knows to a server that was set back. So a client shows better what the
 * servers have. */
static void fail_over_in(void **state, dw_role role, enum phase phase)
{
	for (int i = 0; i < (role == DW_OWNER ? CALLS : SETTLE); i++) {
		struct replicated *r = *state;
		struct replicated_answer answer;
		bool is_old;

		if (i > 0) {
			replicated_close(r);
			memset(r, 0, sizeof *r);
			replicated_open(r, role);
		}
		put(r, "old", DW_REPLICATED);
		if (i == SETTLE)
			hold_one(r, "held");
		r->held = 0;
		begin_phase(r, phase);
		call(r, (enum call)i, &answer);
		end_phase(r, phase, &answer);
		is_old = answer.count > 0 && answer.level == DW_STORED;
		replicated_follow(r, 2);
		replicated_await(r, &answer);
		if (is_old)
			continue; /* this machine was so slow that the patience was over */
		expect_kept(r, role, (enum call)i, &answer);
		assert_int_equal(r->held, 0);
	}
}

static void owner_fails_over_before_it_is_sent(void **state)
{
	fail_over_in(state, DW_OWNER, UNSENT);
}

static void client_fails_over_before_it_is_sent(void **state)
{
	fail_over_in(state, DW_CLIENT, UNSENT);
}

static void owner_fails_over_before_the_reply(void **state)
{
	fail_over_in(state, DW_OWNER, REPLY_LOST);
}

static void client_fails_over_before_the_reply(void **state)
{
	fail_over_in(state, DW_CLIENT, REPLY_LOST);
}

static void owner_fails_over_while_the_replica_lags(void **state)
{
	fail_over_in(state, DW_OWNER, LAGS);
}

static void client_fails_over_while_the_replica_lags(void **state)
{
	fail_over_in(state, DW_CLIENT, LAGS);
}

static void owner_fails_over_while_the_replica_is_paused(void **state)
{
	fail_over_in(state, DW_OWNER, PAUSED);
}

static void client_fails_over_while_the_replica_is_paused(void **state)
{
	fail_over_in(state, DW_CLIENT, PAUSED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define TEST_AS_CLIENT(name) cmocka_unit_test_setup_teardown(name, begin_as_client, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(calls_are_answered_replicated),
	    TEST(messages_are_answered_replicated),
	    TEST(paused_replica_is_told_once),
	    TEST(timers_fire_without_replicas),
	    TEST(close_answers_what_is_held),
	    TEST(user_without_wait_is_refused),
	    TEST(too_few_replicas_are_told_at_once),
	    TEST(owner_fails_over_before_it_is_sent),
	    TEST_AS_CLIENT(client_fails_over_before_it_is_sent),
	    TEST(owner_fails_over_before_the_reply),
	    TEST_AS_CLIENT(client_fails_over_before_the_reply),
	    TEST(owner_fails_over_while_the_replica_lags),
	    TEST_AS_CLIENT(client_fails_over_while_the_replica_lags),
	    TEST(owner_fails_over_while_the_replica_is_paused),
	    TEST_AS_CLIENT(client_fails_over_while_the_replica_is_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
