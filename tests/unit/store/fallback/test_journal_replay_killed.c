/* The replay of a journal ends at one of many bytes: the process is killed there, or Redis. The
 * next replay begins again, and each timer is what was promised. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/environment.h"
#include "support/journaled.h"
#include "support/relay.h"

enum { POINTS = 6, POINTS_LONG = 20, PUTS = 40, STORED = 60, CANCELLED = 50 };

#define LONG_TIME DW_MINUTES(10)

#define ENOUGH 100000000 /* bytes */

static struct relay *relay;    /* shared with the child */
static long sizes[RELAY_WAYS]; /* bytes of a whole replay */
static char relay_path[TEMP_SIZE];

static unsigned points(void)
{
	return environment_number("DW_LONG", 0) ? POINTS_LONG : POINTS;
}

/* cut_at_point: half of the points cut requests, the others replies. */
static void cut_at_point(unsigned point)
{
	enum relay_way way = point % 2 ? RELAY_REPLIES : RELAY_REQUESTS;

	relay_cut_after(relay, way, sizes[way] * (long)point / points());
}

static void id_of(unsigned number, char id[8])
{
	(void)snprintf(id, 8, "%u", number);
}

static void begin(void)
{
	temp_make(journaled_folder);
	(void)temp_file(journaled_file, journaled_folder, "journal");
	journaled_server_start();
	relay =
	    mmap(NULL, sizeof *relay, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(relay, MAP_FAILED);
	relay_start(relay, temp_file(relay_path, journaled_folder, "relay"), journaled_server.path);
	journaled_path = relay_path;
	journaled_outage = DW_OUTAGE_HOLD;
	journaled_lease = DW_SECONDS(2);
}

static void end(void)
{
	relay_end(relay);
	(void)munmap(relay, sizeof *relay); /* it is our own */
	redis_server_end(&journaled_server);
	temp_remove(journaled_folder);
}

/* fill_journal: 0 to 39 are put in the outage, 40 to 49 are stored, and cancelled in it. 50 to 59
 * are stored. */
static void fill_journal(struct program *program)
{
	char id[8];

	journaled_open(program, DW_STANDBY, journaled_file);
	turn_until(program, &program->owners, 1);  /* the last one may not have released */
	(void)dw_sync(program->d, DW_SECONDS(60)); /* what fails shows below */
	for (unsigned i = PUTS; i < STORED; i++) {
		id_of(i, id);
		put(program, id, LONG_TIME);
	}
	relay_cut(relay);
	turn_until(program, &program->outages, 1);
	for (unsigned i = 0; i < CANCELLED; i++) {
		id_of(i, id);
		if (i < PUTS)
			put(program, id, LONG_TIME);
		else
			cancel(program, id);
		assert_int_equal(program->ids[i].level, DW_JOURNALED);
	}
	assert_int_equal(rows(program), CANCELLED);
}

/* check_all: by another process, which has no journal, and takes each timer away. */
static void check_all(void)
{
	struct program program;
	char id[8];

	journaled_open(&program, DW_CLIENT, NULL);
	for (unsigned i = 0; i < STORED; i++) {
		int status = i >= PUTS && i < CANCELLED ? DW_ENOENT : DW_OK;

		id_of(i, id);
		cancel(&program, id);
		if (program.ids[i].status != status)
			fail_msg("cancel of %s: %d", id, program.ids[i].status);
		cancel(&program, id);
		assert_int_equal(program.ids[i].status, DW_ENOENT);
	}
	journaled_close(&program);
}

/* replay_rest: the next process gets rid of the rows, as a client, so that the check need not wait
 * for an owner. */
static void replay_rest(void)
{
	struct program program;

	relay_open(relay);
	journaled_open(&program, DW_CLIENT, journaled_file);
	while (rows(&program) > 0)
		turn_once(&program, 10);
	assert_int_equal(program.odd, 0);
	journaled_close(&program);
}

/* begin_replay: Redis is there, and the next turn sends rows. */
static void begin_replay(struct program *program)
{
	dw_stats stats = {.size = sizeof stats};

	relay_open(relay);
	for (int way = 0; way < RELAY_WAYS; way++)
		relay_cut_after(relay, (enum relay_way)way, ENOUGH);
	do {
		turn_once(program, 1);
		assert_int_equal(dw_get_stats(program->d, &stats), DW_OK);
	} while (stats.journal.state != DW_JOURNAL_REPLAYS);
}

/* measure: the sizes of a replay that nothing disturbs. */
static void measure(void)
{
	static struct program program;

	fill_journal(&program);
	begin_replay(&program);
	for (int way = 0; way < RELAY_WAYS; way++)
		sizes[way] = atomic_load(&relay->left[way]);
	while (rows(&program) > 0)
		turn_once(&program, 1);
	for (int way = 0; way < RELAY_WAYS; way++)
		sizes[way] -= atomic_load(&relay->left[way]);
	print_message("a replay has %ld and %ld bytes\n", sizes[0], sizes[1]);
	journaled_close(&program);
	check_all();
}

/* turn_until_cut: a replay that needs fewer bytes is cut at its end. */
static void turn_until_cut(struct program *program)
{
	while (!atomic_load(&relay->cut) && rows(program) > 0)
		turn_once(program, 1);
	relay_cut(relay);
}

/* The child says that its journal has the rows, is told to go on, and says that it was cut. */
static void child(unsigned point, int ready, int go)
{
	struct program program;
	char byte = 0;

	fill_journal(&program);
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(1);
	begin_replay(&program);
	cut_at_point(point);
	turn_until_cut(&program);
	(void)!write(ready, &byte, 1); /* else the parent waits, and its runner ends it */
	(void)pause();
	_exit(1);
}

static void kill_process_at(unsigned point)
{
	int ready[2], go[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		child(point, ready[1], go[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		(void)close(ready[i]); /* pipes */
		(void)close(go[i]);
	}
}

static void process_is_killed_in_its_replay(void **state)
{
	(void)state;
	begin();
	measure(); /* also loads the scripts */
	measure();
	for (unsigned i = 0; i < points(); i++) {
		kill_process_at(i);
		replay_rest();
		check_all();
	}
	end();
}

static void kill_redis_at(struct program *program, unsigned point)
{
	program->outages = 0;
	begin_replay(program);
	cut_at_point(point);
	turn_until_cut(program);
	turn_seconds(program, 0.05);
	redis_server_kill(&journaled_server);
	redis_server_restart(&journaled_server);
}

static void redis_is_killed_in_a_replay(void **state)
{
	(void)state;
	begin();
	measure(); /* also loads the scripts */
	measure();
	for (unsigned i = 0; i < points(); i++) {
		static struct program program;

		fill_journal(&program);
		kill_redis_at(&program, i);
		relay_open(relay);
		while (rows(&program) > 0)
			turn_once(&program, 10);
		assert_int_equal(program.odd, 0);
		journaled_close(&program);
		check_all();
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(process_is_killed_in_its_replay),
	    cmocka_unit_test(redis_is_killed_in_a_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
