/* The owner is cut off beyond its lease, and a standby on another machine, which cannot see its
 * journal, takes over. Later the owner comes back, and its rows go to Redis as a client's. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/journaled.h"
#include "support/relay.h"

struct takeover {
	struct program owner, standby;
	struct relay relay;
	char path[TEMP_SIZE];
	char file[TEMP_SIZE]; /* the journal of the standby */
};

/* begin: the owner has stored 0 to 7: 0 to 3 are due soon, 4 to 7 in a long time. */
static void begin(struct takeover *both, dw_outage policy, dw_usec lease)
{
	char id[8];

	journaled_outage = policy;
	journaled_lease = lease;
	temp_make(journaled_folder);
	journaled_server_start();
	relay_start(&both->relay, temp_file(both->path, journaled_folder, "relay"),
		    journaled_server.path);
	journaled_path = both->path;
	journaled_open(&both->owner, DW_OWNER,
		       temp_file(journaled_file, journaled_folder, "journal"));
	assert_int_equal(dw_sync(both->owner.d, DW_SECONDS(60)), DW_OK);
	journaled_path = NULL;
	journaled_open(&both->standby, DW_STANDBY,
		       temp_file(both->file, journaled_folder, "other"));
	for (unsigned i = 0; i < 8; i++) {
		(void)snprintf(id, sizeof id, "%u", i);
		put(&both->owner, id, i < 4 ? DW_SECONDS(2) : DW_MINUTES(10));
	}
}

static void end(struct takeover *both)
{
	assert_int_equal(dw_close(both->owner.d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(both->standby.d, DW_SECONDS(60)), DW_OK);
	relay_end(&both->relay);
	redis_server_end(&journaled_server);
	temp_remove(journaled_folder);
}

/* turn_both: until then, and so many times. */
static void turn_both(struct takeover *both, const int *counter, int least)
{
	while (*counter < least) {
		turn_once(&both->owner, 2);
		turn_once(&both->standby, 2);
	}
}

static void turn_both_for(struct takeover *both, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++) {
		turn_once(&both->owner, 2);
		turn_once(&both->standby, 2);
	}
}

/* cut_off: the owner takes the orders of an outage: a cancel of 4, puts of 10 to 12. */
static void cut_off(struct takeover *both)
{
	relay_cut(&both->relay);
	turn_until(&both->owner, &both->owner.outages, 1);
	cancel(&both->owner, "4");
	assert_answer(&both->owner, "4", DW_EUNKNOWN, DW_JOURNALED);
	put(&both->owner, "10", DW_SECONDS(1));
	put(&both->owner, "11", DW_MINUTES(10));
	put(&both->owner, "12", DW_MINUTES(10));
	cancel(&both->owner, "12");
	assert_answer(&both->owner, "12", DW_OK, DW_JOURNALED);
}

static void come_back(struct takeover *both)
{
	relay_open(&both->relay);
	turn_both(both, &both->owner.replays, 1);
	assert_int_equal(both->owner.lost, 1);
	assert_int_equal(rows(&both->owner), 0);
	turn_both(both, &both->standby.ids[10].starts, 1);
	turn_both_for(both, 100);
}

/* check: each is where it belongs: what was due is gone, the rest is stored once. */
static void check(struct takeover *both)
{
	static const struct {
		const char *id;
		int status;
	} all[] = {{"0", DW_ENOENT}, {"3", DW_ENOENT},  {"4", DW_ENOENT}, {"5", DW_OK},
		   {"7", DW_OK},     {"10", DW_ENOENT}, {"11", DW_OK},    {"12", DW_ENOENT}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		cancel(&both->standby, all[i].id);
		assert_int_equal(known_of(&both->standby, all[i].id)->status, all[i].status);
		assert_int_equal(known_of(&both->standby, "4")->starts, 0);
	}
	assert_int_equal(both->standby.ids[11].starts + both->owner.ids[11].starts, 0);
	assert_int_equal(both->standby.ids[12].starts + both->owner.ids[12].starts, 0);
}

static void standby_fires_what_redis_has(void **state)
{
	static struct takeover both;

	(void)state;
	begin(&both, DW_OUTAGE_HOLD, DW_SECONDS(3));
	cut_off(&both);
	for (unsigned i = 0; i < 4; i++)
		turn_both(&both, &both.standby.ids[i].starts, 1);
	come_back(&both);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(both.standby.ids[i].starts, 1);
		/* claimed in time, the owner may have started it, too */
		assert_in_range(both.owner.ids[i].starts, 0, 1);
		if (both.owner.ids[i].starts == 1)
			assert_true(both.standby.ids[i].attempt > both.owner.ids[i].attempt);
	}
	assert_int_equal(both.standby.ids[10].starts, 1);
	assert_int_equal(both.owner.ids[10].starts, 0);
	check(&both);
	end(&both);
}

/* The owner has started them within its lease; to start them again is the fault of the cut. */
static void attempts_grow_after_an_owner_that_fires(void **state)
{
	static struct takeover both;

	(void)state;
	begin(&both, DW_OUTAGE_FIRE, DW_SECONDS(10));
	both.owner.verdict = DW_RETRY;
	both.owner.retry_in = DW_MINUTES(1);
	cut_off(&both);
	for (unsigned i = 0; i < 4; i++)
		turn_until(&both.owner, &both.owner.ids[i].starts, 1);
	turn_until(&both.owner, &both.owner.ids[10].starts, 1);
	for (unsigned i = 0; i < 4; i++)
		turn_both(&both, &both.standby.ids[i].starts, 1);
	relay_open(&both.relay);
	turn_both(&both, &both.owner.replays, 1);
	assert_int_equal(rows(&both.owner), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(both.owner.ids[i].starts, 1);
		assert_int_equal(both.standby.ids[i].starts, 1);
		assert_true(both.standby.ids[i].attempt > both.owner.ids[i].attempt);
	}
	cancel(&both.standby, "4");
	assert_answer(&both.standby, "4", DW_ENOENT, DW_NOTHING);
	assert_int_equal(both.standby.ids[4].starts, 0);
	end(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(standby_fires_what_redis_has),
	    cmocka_unit_test(attempts_grow_after_an_owner_that_fires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
