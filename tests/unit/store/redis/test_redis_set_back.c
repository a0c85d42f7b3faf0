/* The server comes back as it was before its present owner acquired it, as when a replica that
 * lagged is promoted. The living owner keeps the ownership, and its confirmed timers fire once. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(60)
#define TIMERS 5
#define TURNS_MAX 6000

struct party {
	dw *d;
	int owned, lost, fired;
	int starts[TIMERS];
};

struct scene {
	struct redis_server server;
	struct party former, owner, taker;
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct party *party = user;

	(void)d;
	party->owned += event->kind == DW_EVENT_OWNER;
	party->lost += event->kind == DW_EVENT_OWNER_LOST;
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct party *party = user;

	(void)d;
	party->fired++;
	party->starts[firing->id[1] - '0']++;
	return DW_DONE;
}

static void open_with(struct scene *scene, struct party *party, dw_role role, dw_usec lease,
		      const char *journal)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = "back",
			      .role = role,
			      .lease_us = lease,
			      .journal = journal,
			      .on_event = happened,
			      .on_event_user = party};

	(void)snprintf(url, sizeof url, "unix://%s", scene->server.path);
	assert_int_equal(dw_open(&party->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(party->d, "*", fire, party), DW_OK);
}

static void open_party(struct scene *scene, struct party *party, dw_role role, dw_usec lease)
{
	open_with(scene, party, role, lease, NULL);
}

static void turn(const struct party *party)
{
	struct pollfd readable = {.fd = dw_fd(party->d), .events = POLLIN};

	(void)poll(&readable, 1, 10);
	assert_int_equal(dw_turn(party->d), DW_OK);
}

static void put_all(const struct party *party)
{
	for (int i = 0; i < TIMERS; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		assert_int_equal(dw_after(party->d, "t", id, DW_SECONDS(2), NULL, 0), DW_OK);
	}
	assert_int_equal(dw_sync(party->d, PATIENCE), DW_OK);
}

/* save writes the data to a file, which the server loads when it is restarted. */
static void save(const struct redis_server *server)
{
	redisContext *redis = redisConnectUnix(server->path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, "SAVE");
	assert_non_null(reply);
	assert_string_equal(reply->str, "OK");
	freeReplyObject(reply);
	redisFree(redis);
}

static dw_usec usec_of(struct timespec time)
{
	return time.tv_sec * DW_SECONDS(1) + time.tv_nsec / 1000;
}

static void set_back(struct scene *scene)
{
	redis_server_kill(&scene->server);
	redis_server_restart(&scene->server);
}

/* expect_fired: the owner has never lost the ownership, and has started each timer once. */
static void expect_fired(struct scene *scene)
{
	struct party *owner = &scene->owner;
	dw_usec until = dw_now(owner->d) + PATIENCE;

	while (owner->fired < TIMERS && dw_now(owner->d) < until)
		turn(owner);
	assert_int_equal(dw_sync(owner->d, PATIENCE), DW_OK);
	for (int i = 0; i < TIMERS; i++)
		assert_int_equal(owner->starts[i], 1);
	assert_int_equal(owner->lost, 0);
	assert_int_equal(scene->former.fired, 0);
}

static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	assert_non_null(scene);
	redis_server_start(&scene->server, false, NULL);
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	if (scene->former.d)
		(void)dw_close(scene->former.d, PATIENCE);
	if (scene->taker.d)
		(void)dw_close(scene->taker.d, PATIENCE);
	assert_int_equal(dw_close(scene->owner.d, PATIENCE), DW_OK);
	redis_server_end(&scene->server);
	free(scene);
	return 0;
}

static void owner_set_back_to_the_lease_of_the_former_one_keeps_its_timers(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	save(&scene->server);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	expect_fired(scene);
}

static void owner_set_back_twice_keeps_its_timers(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	save(&scene->server);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	for (int i = 0; i < 20; i++)
		turn(&scene->owner);
	set_back(scene);
	expect_fired(scene);
}

static void owner_set_back_to_a_released_lease_keeps_its_timers(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	save(&scene->server);
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	expect_fired(scene);
}

/* own_and_die: the former owner is a process of its own, which is killed. */
static void own_and_die(struct scene *scene)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		open_party(scene, &scene->former, DW_OWNER, PATIENCE);
		save(&scene->server);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void owner_set_back_to_the_lease_of_a_dead_one_keeps_its_timers(void **state)
{
	struct scene *scene = *state;

	own_and_die(scene);
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	expect_fired(scene);
}

/* The former owner stood still beyond its lease, and continues after the server is back. */
static void owner_set_back_beside_the_former_one_keeps_its_timers(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, DW_SECONDS(1));
	save(&scene->server);
	open_party(scene, &scene->owner, DW_STANDBY, PATIENCE);
	for (int i = 0; i < TURNS_MAX && scene->owner.owned == 0; i++)
		turn(&scene->owner);
	put_all(&scene->owner);
	set_back(scene);
	for (int i = 0; i < TURNS_MAX && scene->owner.fired < TIMERS; i++) {
		turn(&scene->owner);
		turn(&scene->former);
	}
	expect_fired(scene);
	assert_int_equal(scene->former.lost, 1);
}

/* expect_refused: a standby does not get the shard while the owner's lease may hold. */
static void expect_refused(struct scene *scene)
{
	open_party(scene, &scene->taker, DW_STANDBY, PATIENCE);
	for (int i = 0; i < 200; i++)
		turn(&scene->taker);
	assert_int_equal(scene->taker.owned, 0);
	expect_fired(scene);
	assert_int_equal(scene->taker.fired, 0);
}

static void standby_waits_if_the_server_may_have_forgotten_an_owner(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	save(&scene->server);
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	expect_refused(scene);
}

static void standby_waits_also_if_the_server_names_a_dead_owner(void **state)
{
	struct scene *scene = *state;

	own_and_die(scene);
	open_party(scene, &scene->owner, DW_OWNER, PATIENCE);
	put_all(&scene->owner);
	set_back(scene);
	expect_refused(scene);
}

/* The former owner stood still beyond its lease, which the server has again. */
static void former_owner_does_not_renew_a_lease_that_came_back(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, DW_SECONDS(1));
	save(&scene->server);
	open_party(scene, &scene->owner, DW_STANDBY, PATIENCE);
	for (int i = 0; i < TURNS_MAX && scene->owner.owned == 0; i++)
		turn(&scene->owner);
	put_all(&scene->owner);
	set_back(scene);
	for (int i = 0; i < TURNS_MAX && scene->former.lost == 0; i++)
		turn(&scene->former);
	assert_int_equal(scene->former.lost, 1);
	expect_fired(scene);
}

/* stay_away: the server is away for so long, and the owner tries to connect. */
static void stay_away(struct scene *scene, dw_usec time)
{
	struct timespec now;
	dw_usec until;

	redis_server_kill(&scene->server);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	until = usec_of(now) + time;
	for (; usec_of(now) < until; assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0))
		turn(&scene->owner);
	redis_server_restart(&scene->server);
}

/* Nobody can have owned a server that was away, so the owner's memory is what counts. */
static void keep_timers_while_the_server_is_away(struct scene *scene, dw_usec time)
{
	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	save(&scene->server);
	open_party(scene, &scene->owner, DW_OWNER, DW_SECONDS(2));
	put_all(&scene->owner);
	stay_away(scene, time);
	expect_fired(scene);
}

static void owner_set_back_after_an_outage_of_a_lease_keeps_its_timers(void **state)
{
	keep_timers_while_the_server_is_away(*state, DW_SECONDS(2));
}

static void owner_set_back_after_an_outage_of_three_leases_keeps_its_timers(void **state)
{
	keep_timers_while_the_server_is_away(*state, DW_SECONDS(6));
}

static void owner_opens_when_no_lease_can_hold_that_the_server_has_forgotten(void **state)
{
	struct scene *scene = *state;

	open_party(scene, &scene->former, DW_OWNER, DW_SECONDS(1));
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	save(&scene->server);
	scene->former.d = NULL;
	set_back(scene);
	open_party(scene, &scene->owner, DW_OWNER, DW_SECONDS(1));
	put_all(&scene->owner);
	expect_fired(scene);
}

/* The program must be able to put timers meanwhile. */
static void owner_with_a_journal_opens_at_once(void **state)
{
	struct scene *scene = *state;
	char journal[TEMP_SIZE + 16];

	open_party(scene, &scene->former, DW_OWNER, PATIENCE);
	assert_int_equal(dw_close(scene->former.d, PATIENCE), DW_OK);
	scene->former.d = NULL;
	save(&scene->server);
	set_back(scene);
	(void)snprintf(journal, sizeof journal, "%s.journal", scene->server.path);
	open_with(scene, &scene->owner, DW_OWNER, DW_MINUTES(5), journal);
	put_all(&scene->owner);
	assert_int_equal(scene->owner.owned, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	    TEST(owner_set_back_to_the_lease_of_the_former_one_keeps_its_timers),
	    TEST(owner_set_back_twice_keeps_its_timers),
	    TEST(owner_set_back_to_a_released_lease_keeps_its_timers),
	    TEST(owner_set_back_to_the_lease_of_a_dead_one_keeps_its_timers),
	    TEST(owner_set_back_beside_the_former_one_keeps_its_timers),
	    TEST(standby_waits_if_the_server_may_have_forgotten_an_owner),
	    TEST(standby_waits_also_if_the_server_names_a_dead_owner),
	    TEST(former_owner_does_not_renew_a_lease_that_came_back),
	    TEST(owner_set_back_after_an_outage_of_a_lease_keeps_its_timers),
	    TEST(owner_set_back_after_an_outage_of_three_leases_keeps_its_timers),
	    TEST(owner_with_a_journal_opens_at_once),
	    TEST(owner_opens_when_no_lease_can_hold_that_the_server_has_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
