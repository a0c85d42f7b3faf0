/* A program with a journal: what it asks for while Redis is away is kept, and done when Redis is
 * back. The policy is DW_OUTAGE_HOLD. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define IDS 64

static const char *const lasting[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};

static struct redis_server server;
static char folder[TEMP_SIZE];
static char journal[TEMP_SIZE];

/* What is known of one id, "0" to "63". */
struct known {
	int status;
	dw_level level;
	int answers;
	int starts;
	dw_token token;
};

struct program {
	dw *d;
	struct known ids[IDS];
	dw_verdict verdict;
	int outages, replays, odd, owners, lost;
	uint64_t replayed;
	int odd_status;
};

static void answered(dw *d, const dw_result *result, void *user)
{
	struct known *known = user;

	(void)d;
	known->status = result->status;
	known->level = result->level;
	known->answers++;
}

static struct known *of(struct program *program, const char *id)
{
	int number = -1;

	assert_int_equal(sscanf(id, "%d", &number), 1);
	return &program->ids[number];
}

static dw_verdict fired(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;
	struct known *known = of(program, firing->id);

	(void)d;
	known->starts++;
	known->token = *firing->token;
	return program->verdict;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	struct program *program = user;

	(void)d;
	program->outages += event->kind == DW_EVENT_OUTAGE;
	program->owners += event->kind == DW_EVENT_OWNER;
	program->lost += event->kind == DW_EVENT_OWNER_LOST;
	if (event->kind == DW_EVENT_REPLAYED && event->id) {
		program->odd++;
		program->odd_status = event->status;
	} else if (event->kind == DW_EVENT_REPLAYED) {
		program->replays++;
		program->replayed += event->count;
	}
}

static int try_open(struct program *program, dw_role role, const char *name, const char *file,
		    char *message)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = name,
			      .role = role,
			      .journal = file,
			      .open_patience_us = DW_SECONDS(1),
			      .on_event = happened,
			      .on_event_user = program};

	*program = (struct program){.verdict = DW_DONE};
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	return dw_open(&program->d, &options, message);
}

static void open_as(struct program *program, dw_role role, const char *file)
{
	char message[DW_MESSAGE_SIZE];

	if (try_open(program, role, "n", file, message) != DW_OK)
		fail_msg("%s", message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(program->d, "t", fired, program), DW_OK);
}

static void turn_for(struct program *program, int milliseconds)
{
	struct pollfd ready = {dw_fd(program->d), POLLIN, 0};

	(void)poll(&ready, 1, milliseconds);
	assert_int_equal(dw_turn(program->d), DW_OK);
}

static void turn_seconds(struct program *program, double seconds)
{
	struct timespec now, end;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)(seconds * 1e9) % 1000000000;
	end.tv_sec += (time_t)seconds + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		turn_for(program, 10);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* turn_until: *counter is at least so much; a test that hangs is ended by its runner. */
static void turn_until(struct program *program, const int *counter, int least)
{
	while (*counter < least)
		turn_for(program, 20);
}

static void begin(struct program *program, dw_role role)
{
	temp_make(folder);
	(void)temp_file(journal, folder, "journal");
	redis_server_start(&server, false, lasting);
	open_as(program, role, journal);
	assert_int_equal(dw_sync(program->d, DW_SECONDS(60)), DW_OK);
}

static void end(struct program *program)
{
	assert_int_equal(dw_close(program->d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
	temp_remove(folder);
}

static void lose_redis(struct program *program)
{
	redis_server_kill(&server);
	turn_until(program, &program->outages, 1);
}

static void get_redis_back(struct program *program)
{
	redis_server_restart(&server);
	turn_until(program, &program->replays, 1);
}

static dw_usec in(dw_usec delay)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + delay;
}

static void put(struct program *program, const char *id, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .due = in(delay)};
	struct known *known = of(program, id);

	known->answers = 0;
	assert_int_equal(dw_put(program->d, &timer, answered, known), DW_OK);
	turn_until(program, &known->answers, 1);
}

static void cancel(struct program *program, const char *id)
{
	struct known *known = of(program, id);

	known->answers = 0;
	assert_int_equal(dw_cancel(program->d, id, answered, known), DW_OK);
	turn_until(program, &known->answers, 1);
}

static void move(struct program *program, const char *id, dw_usec delay)
{
	struct known *known = of(program, id);

	known->answers = 0;
	assert_int_equal(dw_move(program->d, id, in(delay), answered, known), DW_OK);
	turn_until(program, &known->answers, 1);
}

static void assert_answer(struct program *program, const char *id, int status, dw_level level)
{
	assert_int_equal(of(program, id)->status, status);
	assert_int_equal(of(program, id)->level, level);
}

static uint64_t rows(const struct program *program)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(program->d, &stats), DW_OK);
	return stats.journal.rows;
}

/* ---- An owner ------------------------------------------------------------------------------ */

static void put_of_an_outage_starts_after_it(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_OWNER);
	put(&program, "0", DW_MINUTES(10));
	assert_answer(&program, "0", DW_OK, DW_STORED);
	assert_int_equal(rows(&program), 0);
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(300));
	put(&program, "2", DW_MINUTES(10));
	put(&program, "0", DW_SECONDS(1)); /* replaced */
	assert_answer(&program, "1", DW_OK, DW_JOURNALED);
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	assert_int_equal(rows(&program), 3);
	turn_seconds(&program, 0.6);
	assert_int_equal(program.ids[1].starts, 0);
	get_redis_back(&program);
	assert_int_equal(program.replayed, 3);
	assert_int_equal(rows(&program), 0);
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.ids[1].starts, 1);
	assert_int_equal(program.ids[2].starts, 0);
	assert_int_equal(program.outages, 1);
	assert_int_equal(program.odd, 0);
	end(&program);
}

static void cancel_of_an_outage_wins(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(1));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(500));
	cancel(&program, "1");
	assert_answer(&program, "1", DW_OK, DW_JOURNALED); /* Redis never had it */
	assert_int_equal(rows(&program), 0);
	cancel(&program, "0");
	assert_answer(&program, "0", DW_EUNKNOWN, DW_JOURNALED);
	assert_int_equal(rows(&program), 1);
	turn_seconds(&program, 1.5);
	get_redis_back(&program);
	turn_seconds(&program, 1.5);
	assert_int_equal(program.ids[0].starts, 0);
	assert_int_equal(program.ids[1].starts, 0);
	assert_int_equal(program.odd, 0);
	cancel(&program, "0");
	assert_answer(&program, "0", DW_ENOENT, DW_NOTHING);
	end(&program);
}

static void move_of_an_outage_is_done(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_OWNER);
	put(&program, "0", DW_MINUTES(10));
	put(&program, "1", DW_SECONDS(1));
	lose_redis(&program);
	put(&program, "2", DW_MINUTES(10));
	move(&program, "2", DW_SECONDS(1));
	assert_answer(&program, "2", DW_OK, DW_JOURNALED);
	move(&program, "0", DW_SECONDS(1));
	assert_answer(&program, "0", DW_EUNKNOWN, DW_JOURNALED);
	move(&program, "1", DW_MINUTES(10));
	turn_seconds(&program, 1.2);
	get_redis_back(&program);
	turn_until(&program, &program.ids[0].starts, 1);
	turn_until(&program, &program.ids[2].starts, 1);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.ids[1].starts, 0);
	assert_int_equal(program.ids[2].starts, 1);
	end(&program);
}

/* A delivery that was claimed in Redis ends while Redis is away. */
static void verdict_of_an_outage_is_done(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_OWNER);
	program.verdict = DW_HOLD;
	put(&program, "0", 0);
	put(&program, "1", 0);
	turn_until(&program, &program.ids[1].starts, 1);
	lose_redis(&program);
	program.verdict = DW_DONE;
	program.ids[0].answers = program.ids[1].answers = 0;
	assert_int_equal(
	    dw_settle(program.d, &program.ids[0].token, DW_DONE, 0, answered, &program.ids[0]),
	    DW_OK);
	assert_int_equal(dw_settle(program.d, &program.ids[1].token, DW_RETRY, DW_MILLISECONDS(200),
				   answered, &program.ids[1]),
			 DW_OK);
	turn_until(&program, &program.ids[0].answers, 1);
	turn_until(&program, &program.ids[1].answers, 1);
	assert_answer(&program, "0", DW_OK, DW_JOURNALED);
	assert_answer(&program, "1", DW_OK, DW_JOURNALED);
	assert_int_equal(rows(&program), 2);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[1].starts, 1);
	get_redis_back(&program);
	turn_until(&program, &program.ids[1].starts, 2);
	assert_int_equal(program.ids[1].token.attempt, 2);
	turn_seconds(&program, 0.5);
	assert_int_equal(program.ids[0].starts, 1);
	assert_int_equal(program.odd, 0);
	end(&program);
}

/* The program ends and starts again while Redis is away. */
static void rows_outlive_the_program(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_OWNER);
	put(&program, "0", DW_SECONDS(2));
	lose_redis(&program);
	put(&program, "1", DW_MILLISECONDS(500));
	cancel(&program, "0");
	assert_int_equal(dw_close(program.d, DW_SECONDS(10)), DW_OK);
	open_as(&program, DW_OWNER, journal);
	assert_int_equal(rows(&program), 2);
	turn_until(&program, &program.outages, 1);
	put(&program, "2", DW_MILLISECONDS(500));
	assert_answer(&program, "2", DW_OK, DW_JOURNALED);
	get_redis_back(&program);
	turn_until(&program, &program.owners, 1);
	turn_until(&program, &program.ids[1].starts, 1);
	turn_until(&program, &program.ids[2].starts, 1);
	turn_seconds(&program, 2);
	assert_int_equal(program.ids[0].starts, 0);
	assert_int_equal(program.ids[1].starts, 1);
	assert_int_equal(program.ids[2].starts, 1);
	end(&program);
}

/* ---- A client ------------------------------------------------------------------------------ */

static void client_has_a_journal_of_its_own(void **state)
{
	struct program client, owner;

	(void)state;
	begin(&client, DW_CLIENT);
	open_as(&owner, DW_OWNER, NULL);
	put(&client, "0", DW_SECONDS(3));
	put(&client, "1", DW_MINUTES(10));
	assert_int_equal(dw_close(owner.d, DW_SECONDS(10)), DW_OK);
	lose_redis(&client);
	cancel(&client, "0");
	assert_answer(&client, "0", DW_EUNKNOWN, DW_JOURNALED);
	put(&client, "2", DW_SECONDS(1));
	assert_answer(&client, "2", DW_OK, DW_JOURNALED);
	move(&client, "1", DW_SECONDS(1));
	assert_answer(&client, "1", DW_EUNKNOWN, DW_JOURNALED);
	assert_int_equal(rows(&client), 3);
	get_redis_back(&client);
	assert_int_equal(rows(&client), 0);
	open_as(&owner, DW_OWNER, NULL);
	turn_until(&owner, &owner.ids[1].starts, 1);
	turn_until(&owner, &owner.ids[2].starts, 1);
	turn_seconds(&owner, 3);
	assert_int_equal(owner.ids[0].starts, 0);
	assert_int_equal(dw_close(owner.d, DW_SECONDS(10)), DW_OK);
	end(&client);
}

/* Another client has put the timer after the row was written: its put stays. */
static void later_put_stays(void **state)
{
	struct program cut, other;

	(void)state;
	begin(&cut, DW_CLIENT);
	put(&cut, "0", DW_MINUTES(10));
	lose_redis(&cut);
	put(&cut, "0", DW_MINUTES(20));
	cancel(&cut, "1");
	assert_int_equal(dw_close(cut.d, DW_SECONDS(10)), DW_OK);
	redis_server_restart(&server);
	open_as(&other, DW_OWNER, NULL);
	put(&other, "0", DW_SECONDS(4));
	open_as(&cut, DW_CLIENT, journal);
	turn_until(&cut, &cut.replays, 1);
	assert_int_equal(cut.odd, 2);
	turn_until(&other, &other.ids[0].starts, 1);
	assert_int_equal(dw_close(other.d, DW_SECONDS(10)), DW_OK);
	end(&cut);
}

/* ---- The file ------------------------------------------------------------------------------ */

static void wrong_file_is_refused_in_words(void **state)
{
	struct program program, second;
	char message[DW_MESSAGE_SIZE];
	char url[TEMP_SIZE + 16];
	dw_options store = {.size = sizeof store, .store = url};
	char timers[TEMP_SIZE];
	dw *d;

	(void)state;
	begin(&program, DW_OWNER);
	assert_int_equal(try_open(&second, DW_CLIENT, "n", journal, message), DW_EOWNED);
	(void)snprintf(url, sizeof url, "sqlite:%s", journal);
	assert_int_equal(dw_open(&d, &store, message), DW_ESTORE);
	assert_non_null(strstr(message, "is the journal of a store in Redis"));
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(timers, folder, "timers"));
	assert_int_equal(dw_open(&d, &store, message), DW_OK);
	assert_int_equal(dw_close(d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(try_open(&second, DW_CLIENT, "n", timers, message), DW_ESTORE);
	assert_non_null(strstr(message, "is a store of timers, not a journal"));
	lose_redis(&program);
	put(&program, "0", DW_MINUTES(1));
	assert_int_equal(dw_close(program.d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(try_open(&second, DW_OWNER, "other", journal, message), DW_EINVAL);
	assert_non_null(strstr(message, "is the journal of the namespace n"));
	redis_server_restart(&server);
	open_as(&program, DW_STANDBY, journal); /* the lease of the closed one lasts */
	turn_until(&program, &program.replays, 1);
	end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_of_an_outage_starts_after_it),
	    cmocka_unit_test(cancel_of_an_outage_wins),
	    cmocka_unit_test(move_of_an_outage_is_done),
	    cmocka_unit_test(verdict_of_an_outage_is_done),
	    cmocka_unit_test(rows_outlive_the_program),
	    cmocka_unit_test(client_has_a_journal_of_its_own),
	    cmocka_unit_test(later_put_stays),
	    cmocka_unit_test(wrong_file_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
