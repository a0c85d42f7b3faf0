/* The connection to Redis is cut at a byte of the requests, or of the replies, while a put, a
 * cancel, a move, a claim and a settle are under way, and stays away for a while. Each timer is one
 * timer, and fires once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/environment.h"
#include "support/journaled.h"
#include "support/relay.h"

enum { LANES = 12, FIRST = 1, LAST = 400, STEP = 37, STEP_LONG = 1 };

#define LONG_TIME DW_MINUTES(10)

/* A program of its own namespace, behind a relay of its own. */
struct lane {
	struct program program;
	struct relay relay;
	long byte;
	char name[32];
	char path[TEMP_SIZE];
	char file[TEMP_SIZE];
};

static struct lane lanes[LANES];

/* lane_open: no namespace is used twice. If the machine is so busy that a lane is closed without a
 * connection, its lease lasts. */
static void lane_open(struct lane *lane, unsigned number, enum relay_way way, long byte)
{
	char text[32];

	lane->byte = byte;
	(void)snprintf(lane->name, sizeof lane->name, "n%u.%ld", (unsigned)way, byte);
	(void)snprintf(text, sizeof text, "relay%u", number);
	relay_start(&lane->relay, temp_file(lane->path, journaled_folder, text),
		    journaled_server.path);
	(void)snprintf(text, sizeof text, "journal%u", number);
	journaled_path = lane->path;
	journaled_name = lane->name;
	journaled_open(&lane->program, DW_OWNER, temp_file(lane->file, journaled_folder, text));
	assert_int_equal(dw_sync(lane->program.d, DW_SECONDS(60)), DW_OK);
}

static void lane_close(struct lane *lane)
{
	assert_int_equal(dw_close(lane->program.d, DW_SECONDS(60)), DW_OK);
	relay_end(&lane->relay);
	assert_int_equal(unlink(lane->path), 0);
	assert_int_equal(unlink(lane->file), 0);
}

static void begin(struct lane *lane, enum relay_way way)
{
	struct program *program = &lane->program;

	put(program, "0", LONG_TIME);
	put(program, "1", LONG_TIME);
	put(program, "3", LONG_TIME);
	put(program, "2", DW_MILLISECONDS(20));
	relay_cut_after(&lane->relay, way, lane->byte);
	begin_put(program, "4", DW_MILLISECONDS(300));
	begin_put(program, "5", LONG_TIME);
	begin_cancel(program, "0");
	begin_move(program, "1", DW_SECONDS(1));
}

static bool is_answered(struct lane *lane)
{
	static const char *const ids[] = {"0", "1", "4", "5"};
	bool all = true;

	for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
		all &= known_of(&lane->program, ids[i])->answers == 1;
	return all;
}

static bool is_away(struct lane *lane)
{
	return lane->program.outages > 0 && is_answered(lane);
}

/* is_back: on a busy machine there may be an outage more. */
static bool is_back(struct lane *lane)
{
	return lane->program.replays == lane->program.outages && rows(&lane->program) == 0;
}

static bool must_start(const struct program *program, unsigned id)
{
	return program->ids[id].status == DW_OK;
}

static bool has_started(struct lane *lane)
{
	const struct known *ids = lane->program.ids;

	return ids[2].starts > 0 && (ids[4].starts > 0 || !must_start(&lane->program, 4)) &&
	       (ids[1].starts > 0 || !must_start(&lane->program, 1));
}

/* turn_all: until it is true of each lane. */
static void turn_all(unsigned count, bool (*is_so)(struct lane *))
{
	unsigned so = 0;

	while (so < count) {
		so = 0;
		for (unsigned i = 0; i < count; i++) {
			turn_once(&lanes[i].program, 1);
			so += is_so(&lanes[i]);
		}
	}
}

static void assert_is_gone(struct lane *lane, const char *id)
{
	cancel(&lane->program, id);
	assert_answer(&lane->program, id, DW_ENOENT, DW_NOTHING);
}

/* assert_is_one: it has started once, or is stored, or was put for nothing if nobody knows. */
static void assert_is_one(struct lane *lane, const char *id)
{
	struct known *known = known_of(&lane->program, id);
	int asked = known->status;

	cancel(&lane->program, id);
	if (asked == DW_OK)
		assert_int_equal((known->status == DW_OK) + known->starts, 1);
	else
		assert_in_range((known->status == DW_OK) + known->starts, 0, 1);
	assert_is_gone(lane, id);
}

static void check(struct lane *lane)
{
	struct program *program = &lane->program;
	int cancelled = program->ids[0].status;

	assert_int_equal(program->ids[0].starts, 0);
	cancel(program, "0");
	assert_true(program->ids[0].status == DW_ENOENT ||
		    (cancelled == DW_EUNKNOWN && program->ids[0].status == DW_OK));
	assert_is_gone(lane, "0");
	program->ids[1].status = DW_OK; /* whatever became of the move, the put stands */
	assert_is_one(lane, "1");
	assert_int_equal(program->ids[2].starts, 1);
	assert_is_gone(lane, "2");
	program->ids[3].status = DW_OK;
	assert_is_one(lane, "3");
	assert_int_equal(program->ids[3].starts, 0);
	assert_is_one(lane, "4");
	assert_is_one(lane, "5");
	assert_int_equal(program->ids[5].starts, 0);
	assert_int_equal(program->odd, 0);
}

/* wave: a lane for each of these bytes. */
static long wave(enum relay_way way, long byte, long step)
{
	unsigned count = 0;

	for (; count < LANES && byte <= LAST; byte += step)
		lane_open(&lanes[count], count, way, byte), count++;
	for (unsigned i = 0; i < count; i++)
		begin(&lanes[i], way);
	turn_all(count, is_away);
	for (unsigned i = 0; i < count; i++)
		relay_open(&lanes[i].relay);
	turn_all(count, is_back);
	turn_all(count, has_started);
	for (unsigned i = 0; i < count; i++) {
		print_message("byte %ld of %s\n", lanes[i].byte,
			      way == RELAY_REQUESTS ? "requests" : "replies");
		check(&lanes[i]);
		lane_close(&lanes[i]);
	}
	return byte;
}

static void cut_at_each_byte(dw_outage policy)
{
	bool is_long = environment_number("DW_LONG", 0) != 0;
	long step = is_long ? STEP_LONG : STEP * (long)environment_step(100);

	journaled_outage = policy;
	temp_make(journaled_folder);
	journaled_server_start();
	for (int way = 0; way < RELAY_WAYS; way++)
		for (long byte = FIRST; byte <= LAST;)
			byte = wave((enum relay_way)way, byte, step);
	redis_server_end(&journaled_server);
	temp_remove(journaled_folder);
}

static void owner_that_holds_is_cut_at_each_byte(void **state)
{
	(void)state;
	cut_at_each_byte(DW_OUTAGE_HOLD);
}

static void owner_that_fires_is_cut_at_each_byte(void **state)
{
	(void)state;
	cut_at_each_byte(DW_OUTAGE_FIRE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(owner_that_holds_is_cut_at_each_byte),
	    cmocka_unit_test(owner_that_fires_is_cut_at_each_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
