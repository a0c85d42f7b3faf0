/* Failovers: the Sentinels replace the master. It is dead, stands still for a while, or continues
 * without them. What it confirmed last may be lost with it. Nothing else is lost, and everything
 * that the new master confirms is true. */
#include "faults/redis/redis_faults.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "faults/redis/run.h"
#include "store/redis/nodes/named.h"

enum { ROUNDS = 1, ROUNDS_LONG = 17, TIMERS_A_ROUND = 1500, TIMERS_LONG = 15000 };

enum fault { KILLED, ASLEEP, CUT_OFF };

/* The time for the fault, the failover of the Sentinels, and the return to firing. */
#define ROUND (DW_SECONDS(20) * faults_slowness())
#define LEASE DW_SECONDS(2)

/* A replica is behind its master for less than this. */
#define LAG DW_SECONDS(1)

struct failover {
	dw_usec from;
	dw_usec named; /* the time at which the Sentinels named another server */
	dw_usec until; /* the time from which nobody uses the last server */
};

static size_t rounds(struct faults *faults)
{
	return faults_amount(faults, ROUNDS, ROUNDS_LONG);
}

/* begin starts the servers and the actors. With `is_replicated` each change is confirmed only when
 * all replicas have it. */
static void begin(struct run *run, struct faults *faults, struct sentinel_town *town,
		  bool is_replicated)
{
	size_t count = rounds(faults);
	struct plan_size size = {.count =
				     count * faults_amount(faults, TIMERS_A_ROUND, TIMERS_LONG),
				 .period = (dw_usec)count * ROUND,
				 .span = DW_SECONDS(5)};

	run_begin_town(run, faults, town, 1 + (unsigned)rng_below(&faults->rng, 2));
	run->lease = LEASE;
	run->is_replicated = is_replicated;
	if (is_replicated)
		(void)snprintf(run->url + strlen(run->url), sizeof run->url - strlen(run->url),
			       "?replicas=%u", town->count - 1); /* it fits */
	plan_mixed(&run->plan, faults, &size);
	run_start(run, PLAN_OWNER, DW_OWNER);
	run_start(run, PLAN_CLIENT, DW_CLIENT);
	(void)run_wait_ready(run, PLAN_OWNER); /* it complains itself */
	run_start(run, PLAN_THIRD, DW_STANDBY);
	(void)run_wait_ready(run, PLAN_THIRD); /* it complains itself */
}

static void disturb(struct sentinel_town *town, unsigned master, enum fault fault)
{
	if (fault == KILLED)
		redis_server_kill(&town->servers[master]);
	else if (fault == ASLEEP)
		redis_server_pause(&town->servers[master]);
	else
		sentinel_town_cut(town, master);
}

/* mend lets the last master return. The Sentinels make it a replica. */
static void mend(struct sentinel_town *town, unsigned master, enum fault fault)
{
	if (fault == KILLED)
		redis_server_restart(&town->servers[master]);
	else if (fault == ASLEEP)
		redis_server_resume(&town->servers[master]);
	else
		sentinel_town_mend(town, master);
}

static struct failover fail_over(struct run *run, enum fault fault)
{
	struct sentinel_town *town = run->town;
	unsigned master = sentinel_town_master(town);
	struct failover over = {.from = faults_now()};
	dw_usec end = over.from + ROUND;

	disturb(town, master, fault);
	while (sentinel_town_named(town) == master || sentinel_town_named(town) == town->count)
		run_pass(run, DW_MILLISECONDS(20));
	over.named = faults_now();
	over.until = over.named + NAMED_FOR;
	if (fault == ASLEEP) {
		run_pass(run, faults_between(run->faults, 0, 2 * LEASE));
		mend(town, master, fault);
	}
	run_follow(run);
	run_pump(run, end - DW_SECONDS(6) * faults_slowness());
	if (fault != ASLEEP)
		mend(town, master, fault);
	history_fault(run->history, over.from - LAG, over.until + RUN_AFTER);
	run_pump(run, end);
	return over;
}

/* take_back tells the history which confirmations of the last server may be lost. With
 * `is_replicated` there are none. Returns their number. */
static size_t take_back(struct run *run, const struct failover *over)
{
	if (run->is_replicated)
		return 0;
	return history_replaced(run->history, over->from - LAG, over->until);
}

static void fail_over_by(struct faults *faults, enum fault fault, bool is_replicated)
{
	struct failover over[ROUNDS_LONG];
	struct sentinel_town town;
	size_t count = rounds(faults);
	struct run run;

	begin(&run, faults, &town, is_replicated);
	run_pass(&run, DW_SECONDS(2));
	for (size_t i = 0; i < count; i++)
		over[i] = fail_over(&run, fault);
	run_drain(&run);
	run_end(&run);
	for (size_t i = 0; i < count; i++) {
		size_t unknown = take_back(&run, &over[i]);

		(void)printf(
		    "    named after %.1f s; next start %.1f s later; %zu confirmations "
		    "may be lost\n",
		    (double)(over[i].named - over[i].from) / 1e6,
		    (double)(history_first_start(run.history, over[i].until - DW_SECONDS(1)) -
			     over[i].named) /
			1e6,
		    unknown); /* only for people */
	}
	run_close(&run);
}

void failover_killed(struct faults *faults)
{
	fail_over_by(faults, KILLED, false);
}

void failover_asleep(struct faults *faults)
{
	fail_over_by(faults, ASLEEP, false);
}

void failover_cut_off(struct faults *faults)
{
	fail_over_by(faults, CUT_OFF, false);
}

void failover_replicated(struct faults *faults)
{
	static const enum fault kinds[] = {KILLED, ASLEEP, CUT_OFF};

	fail_over_by(faults, kinds[rng_below(&faults->rng, 3)], true);
}
