/* sim: many lives of the engine, each from a seed.
 *
 *	sim --seed S [--trace] [--bug NAME]          one seed
 *	sim --seeds N [--first S] [--bug NAME]       N seeds, scaled by DW_TEST_SCALE and DW_LONG
 *	sim --selftest                               every planted bug must be found
 *	sim --same --seeds N                         each seed twice: the same hash
 *	sim --redis ...                              the same on the Redis store
 *	sim --losses ...                             the same, and the server loses data
 *	sim --peers ...                              the processes share the shards
 *	sim --peer-losses ...                        the same, and the server loses data
 *	sim --outages ...                            processes with journals, and Redis goes away
 *	sim --queues ...                             topics that are queues, and who takes of them
 *	sim --redis-queues ...                       the same on the Redis store
 *	sim --peer-queues ...                        the same, and the processes share the shards
 *	sim --sentinels ...                          a master with replicas, which take its place
 *	sim --cluster ...                            a Redis Cluster whose slots move
 *	sim --planted                                each planted bug has its place
 *
 * single/ simulates one process on a store in memory, fleet/ several processes on a Redis server,
 * outages/ the same with journals, servers/ several servers, queues/ several processes that push
 * and take; core/ is what they share. Calls go down: main, then single, queues or servers, then
 * outages, then fleet, then core.
 */
#include "sim/fleet/fleet.h"
#include "sim/servers/servers.h"
#include "sim/outages/outages.h"
#include "sim/queues/queues.h"
#include "sim/single/single.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/environment.h"

#define SELFTEST_SEEDS 12000u
#define LONG_FACTOR 4u

struct arguments {
	uint64_t seed;
	uint64_t first;
	uint64_t count;
	enum bug bug;
	bool one;
	bool trace;
	bool selftest;
	bool planted;
	bool same;
};

static char running[96]; /* is printed when an assertion fails */

static void on_abort(int number)
{
	ssize_t written = write(STDERR_FILENO, running, strlen(running));

	(void)written; /* the error cannot be reported */
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* The simulators, and the bugs that are planted in them. */
static const struct world {
	const char *flag;
	void (*run)(struct sim *);
	bool losses, peers;
	enum bug first, end;
} worlds[] = {
    {"", single_run, false, false, BUG_NONE, BUG_FLEET},
    {"--redis", fleet_run, false, false, BUG_FLEET, BUG_PEERS},
    {"--losses", fleet_run, true, false, BUG_FLEET, BUG_PEERS},
    {"--peers", fleet_run, false, true, BUG_PEERS, BUG_PEER_LOSSES},
    {"--peer-losses", fleet_run, true, true, BUG_PEER_LOSSES, BUG_OUTAGES},
    {"--outages", outages_run, false, false, BUG_OUTAGES, BUG_QUEUES},
    {"--queues", queues_run, false, false, BUG_QUEUES, BUG_REFUSAL_LOST},
    {"--redis-queues", queues_redis_run, false, false, BUG_QUEUES, BUG_SERVERS},
    {"--peer-queues", queues_redis_run, false, true, BUG_QUEUES, BUG_SERVERS},
    {"--sentinels", servers_run_sentinels, false, false, BUG_SERVERS, BUG_SLOT_FIRST},
    {"--cluster", servers_run_cluster, false, false, BUG_NAMED_BY_ONE, BUG_COUNT},
};

static const struct world *world = &worlds[0];
static bool planting; /* what is planted may need losses to show */

static struct sim *run(uint64_t seed, enum bug bug, bool printing)
{
	struct sim *sim = calloc(1, sizeof *sim);

	if (!sim)
		abort();
	sim->seed = sim->rng.state = sim->trace.hash = seed;
	sim->at_work = &sim->nobody;
	sim->table_account.sim = sim;
	sim->bug = bug;
	sim->trace.printing = printing;
	(void)snprintf(running, sizeof running,
		       "seed %" PRIu64 ": aborted; again: sim %s --seed %" PRIu64 "\n", seed,
		       world->flag, seed);
	sim->losses = world->losses || (planting && !world->peers);
	sim->peers = world->peers;
	world->run(sim);
	return sim;
}

static void tell(const struct sim *sim)
{
	const char *with = sim->bug != BUG_NONE ? " --bug " : "";
	const char *bug = sim->bug != BUG_NONE ? bug_name(sim->bug) : "";

	if (!sim->trace.broken[0])
		printf("seed %" PRIu64 ": ok, %" PRIu64 " events, %" PRIu64
		       " starts, trace %016" PRIx64 "\n",
		       sim->seed, sim->trace.event_count, sim->promises.start_count,
		       sim->trace.hash);
	else
		printf("seed %" PRIu64 ": %s; again: sim %s --seed %" PRIu64 " --trace%s%s\n",
		       sim->seed, sim->trace.broken, world->flag, sim->seed, with, bug);
}

static int run_one(const struct arguments *arguments)
{
	struct sim *sim = run(arguments->seed, arguments->bug, arguments->trace);
	int status = sim->trace.broken[0] ? 1 : 0;

	tell(sim);
	free(sim);
	return status;
}

static int run_many(const struct arguments *arguments)
{
	uint64_t failed = 0;
	uint64_t events = 0;
	uint64_t starts = 0;

	for (uint64_t i = 0; i < arguments->count; i++) {
		struct sim *sim = run(arguments->first + i, arguments->bug, false);

		events += sim->trace.event_count;
		starts += sim->promises.start_count;
		failed += sim->trace.broken[0] != '\0';
		if (sim->trace.broken[0])
			tell(sim);
		if ((i + 1) % 1000 == 0)
			fprintf(stderr, "%" PRIu64 " of %" PRIu64 " seeds\n", i + 1,
				arguments->count);
		free(sim);
	}
	printf("%" PRIu64 " events, %" PRIu64 " starts\n", events, starts);
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", arguments->count - failed, failed);
	return failed > 0;
}

static bool is_sound(uint64_t seed)
{
	struct sim *sim = run(seed, BUG_NONE, false);
	bool sound = sim->trace.broken[0] == '\0';

	free(sim);
	return sound;
}

/* find runs seeds until the bug is found, by a seed that breaks nothing without it. */
static bool find(enum bug bug, uint64_t first)
{
	for (uint64_t seed = first; seed < first + SELFTEST_SEEDS; seed++) {
		struct sim *sim = run(seed, bug, false);
		bool found = sim->trace.broken[0] != '\0' && is_sound(seed);

		if (found)
			printf("bug %s: found with seed %" PRIu64 " (%s)\n", bug_name(bug), seed,
			       sim->trace.broken);
		free(sim);
		if (found)
			return true;
	}
	printf("bug %s: not found in %u seeds\n", bug_name(bug), SELFTEST_SEEDS);
	return false;
}

static int selftest(const struct arguments *arguments)
{
	int failed = 0;
	int count = 0;

	planting = true;
	for (int bug = (int)world->first + 1; bug < (int)world->end; bug++) {
		count++;
		failed += !find((enum bug)bug, arguments->first);
	}
	printf("%d passed, %d failed\n", count - failed, failed);
	return failed > 0;
}

/* plant_all runs one seed with each bug. A bug that is a change of a script ends the program if the
 * script has no such place any more. */
static int plant_all(void)
{
	unsigned count = 0;

	planting = true;
	for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
		world = &worlds[i];
		for (int bug = (int)world->first + 1; bug < (int)world->end; bug++) {
			free(run(1, (enum bug)bug, false));
			count++;
		}
	}
	printf("%u planted\n", count);
	return 0;
}

static int run_same(const struct arguments *arguments)
{
	uint64_t failed = 0;

	for (uint64_t i = 0; i < arguments->count; i++) {
		struct sim *once = run(arguments->first + i, BUG_NONE, false);
		struct sim *twice = run(arguments->first + i, BUG_NONE, false);

		if (once->trace.hash != twice->trace.hash)
			printf("seed %" PRIu64 ": trace %016" PRIx64 " and %016" PRIx64 "\n",
			       once->seed, once->trace.hash, twice->trace.hash);
		failed += once->trace.hash != twice->trace.hash;
		free(once);
		free(twice);
	}
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", arguments->count - failed, failed);
	return failed > 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sim --seed S | --seeds N | --selftest | --same --seeds N | --planted\n"
		"           [--first S] [--bug NAME] [--trace] [--redis | --losses | --peers |\n"
		"           --peer-losses | --outages | --queues | --redis-queues | "
		"--peer-queues |\n           --sentinels | --cluster]\n"
		"--redis: the Redis store on a keyspace in the process; --losses: and "
		"the server loses data;\n--peers: the processes share the shards; --peer-losses: "
		"and the server loses data;\n--outages: "
		"processes with journals, and Redis goes "
		"away;\n--queues: topics that are queues; --redis-queues: on the Redis "
		"store;\n--peer-queues: "
		"and the processes share the shards;\n--sentinels: replicas take the place of "
		"their master; --cluster: and slots move\n");
	return 2;
}

static bool read_world(const char *name)
{
	for (size_t i = 1; i < sizeof worlds / sizeof *worlds; i++) {
		if (strcmp(name, worlds[i].flag) != 0)
			continue;
		world = &worlds[i];
		return true;
	}
	return false;
}

static bool read_flag(struct arguments *arguments, const char *name)
{
	if (strcmp(name, "--trace") == 0)
		arguments->trace = true;
	else if (strcmp(name, "--selftest") == 0)
		arguments->selftest = true;
	else if (strcmp(name, "--same") == 0)
		arguments->same = true;
	else if (strcmp(name, "--planted") == 0)
		arguments->planted = true;
	else
		return read_world(name);
	return true;
}

static bool read_value(struct arguments *arguments, const char *name, const char *value)
{
	uint64_t number = 0;

	if (strcmp(name, "--bug") == 0) {
		arguments->bug = bug_find(value);
		planting = true;
		return arguments->bug != BUG_NONE;
	}
	if (!environment_parse(value, &number)) {
		fprintf(stderr, "%s %s: not a number, decimal or 0x...\n", name, value);
		return false;
	}
	if (strcmp(name, "--seed") == 0) {
		arguments->seed = number;
		arguments->one = true;
	} else if (strcmp(name, "--seeds") == 0) {
		if (number == 0) {
			fprintf(stderr, "--seeds 0: at least 1\n");
			return false;
		}
		arguments->count = environment_scaled(number);
		if (environment_number("DW_LONG", 0))
			arguments->count *= LONG_FACTOR;
	} else if (strcmp(name, "--first") == 0) {
		arguments->first = number;
	} else {
		return false;
	}
	return true;
}

int main(int count, char **values)
{
	struct arguments arguments = {.first = 1};

	for (int i = 1; i < count; i++) {
		if (read_flag(&arguments, values[i]))
			continue;
		if (i + 1 >= count || !read_value(&arguments, values[i], values[i + 1]))
			return usage();
		i++;
	}
	(void)signal(SIGABRT, on_abort);
	(void)signal(SIGSEGV, on_abort);
	if (arguments.selftest)
		return selftest(&arguments);
	if (arguments.planted)
		return plant_all();
	if (arguments.one)
		return run_one(&arguments);
	if (arguments.count == 0)
		return usage();
	return arguments.same ? run_same(&arguments) : run_many(&arguments);
}
