#include "support/journaled.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/cmocka.h"

static const char *const lasting[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};

struct redis_server journaled_server;
char journaled_folder[TEMP_SIZE];
char journaled_file[TEMP_SIZE];
dw_outage journaled_outage;
dw_usec journaled_lease;
const char *journaled_path;
const char *journaled_name = "n";

void known_answered(dw *d, const dw_result *result, void *user)
{
	struct known *known = user;

	(void)d;
	known->status = result->status;
	known->level = result->level;
	known->answers++;
}

struct known *known_of(struct program *program, const char *id)
{
	int number = -1;

	assert_int_equal(sscanf(id, "%d", &number), 1);
	return &program->ids[number];
}

static dw_verdict fired(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;
	struct known *known = known_of(program, firing->id);

	known->starts++;
	known->attempt = firing->attempt;
	if (program->retry_in > 0)
		(void)dw_retry_in(d, program->retry_in); /* this is called in a handler */
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

int journaled_try(struct program *program, dw_role role, const char *name, const char *file,
		  char *message)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = name,
			      .role = role,
			      .journal = file,
			      .outage = file ? journaled_outage : DW_OUTAGE_HOLD,
			      .lease_us = journaled_lease,
			      .open_patience_us = DW_SECONDS(5),
			      .on_event = happened,
			      .on_event_user = program};

	*program = (struct program){.verdict = DW_DONE};
	(void)snprintf(url, sizeof url, "unix://%s",
		       journaled_path ? journaled_path : journaled_server.path);
	return dw_open(&program->d, &options, message);
}

void journaled_open(struct program *program, dw_role role, const char *file)
{
	char message[DW_MESSAGE_SIZE];

	if (journaled_try(program, role, journaled_name, file, message) != DW_OK)
		fail_msg("%s", message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(program->d, "t", fired, program), DW_OK);
}

void turn_once(struct program *program, int milliseconds)
{
	struct pollfd ready = {dw_fd(program->d), POLLIN, 0};

	(void)poll(&ready, 1, milliseconds);
	assert_int_equal(dw_turn(program->d), DW_OK);
}

void turn_seconds(struct program *program, double seconds)
{
	struct timespec now, end;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)(seconds * 1e9) % 1000000000;
	end.tv_sec += (time_t)seconds + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		turn_once(program, 10);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* turn_until turns until *counter is at least `least`. The test runner ends a test that hangs. */
void turn_until(struct program *program, const int *counter, int least)
{
	while (*counter < least)
		turn_once(program, 20);
}

void journaled_server_start(void)
{
	redis_server_start(&journaled_server, false, lasting);
}

void journaled_begin(struct program *program, dw_role role)
{
	temp_make(journaled_folder);
	(void)temp_file(journaled_file, journaled_folder, "journal");
	journaled_server_start();
	journaled_open(program, role, journaled_file);
	assert_int_equal(dw_sync(program->d, DW_SECONDS(60)), DW_OK);
}

void journaled_end(struct program *program)
{
	assert_int_equal(dw_close(program->d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&journaled_server);
	temp_remove(journaled_folder);
}

void lose_redis(struct program *program)
{
	redis_server_kill(&journaled_server);
	turn_until(program, &program->outages, 1);
}

void get_redis_back(struct program *program)
{
	redis_server_restart(&journaled_server);
	turn_until(program, &program->replays, 1);
}

static dw_usec in(dw_usec delay)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + delay;
}

void begin_put(struct program *program, const char *id, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t", .due = in(delay)};
	struct known *known = known_of(program, id);

	known->answers = 0;
	assert_int_equal(dw_put(program->d, &timer, known_answered, known), DW_OK);
}

void begin_cancel(struct program *program, const char *id)
{
	struct known *known = known_of(program, id);

	known->answers = 0;
	assert_int_equal(dw_cancel(program->d, id, known_answered, known), DW_OK);
}

void begin_move(struct program *program, const char *id, dw_usec delay)
{
	struct known *known = known_of(program, id);

	known->answers = 0;
	assert_int_equal(dw_move(program->d, id, in(delay), known_answered, known), DW_OK);
}

void put(struct program *program, const char *id, dw_usec delay)
{
	begin_put(program, id, delay);
	turn_until(program, &known_of(program, id)->answers, 1);
}

void cancel(struct program *program, const char *id)
{
	begin_cancel(program, id);
	turn_until(program, &known_of(program, id)->answers, 1);
}

void move(struct program *program, const char *id, dw_usec delay)
{
	begin_move(program, id, delay);
	turn_until(program, &known_of(program, id)->answers, 1);
}

void assert_answer(struct program *program, const char *id, int status, dw_level level)
{
	assert_int_equal(known_of(program, id)->status, status);
	assert_int_equal(known_of(program, id)->level, level);
}

uint64_t rows(const struct program *program)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(program->d, &stats), DW_OK);
	return stats.journal.rows;
}

void journaled_close(struct program *program)
{
	assert_int_equal(dw_close(program->d, DW_SECONDS(10)), DW_OK);
}
