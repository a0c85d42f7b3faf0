/* A Redis Cluster under load: a master dies, or is replaced without a fault, and slots move between
 * masters. Only timers of the affected shards wait. Everything that the new master confirms is
 * true. */
#include "faults/redis/redis_faults.h"

#include <stdio.h>
#include <string.h>

#include "faults/redis/admin.h"
#include "faults/redis/run.h"
#include "store/redis/nodes/named.h"

enum {
	ROUNDS = 1,
	ROUNDS_LONG = 12,
	TIMERS_A_ROUND = 3000,
	TIMERS_LONG = 16000,
	MOVES = 4, /* the number of shards that move in a round */
	P99 = 10   /* the share in thousandths */
};

#define ROUND (DW_SECONDS(14) * faults_slowness())
/* A new store opens only after a majority has named its nodes for NAMED_FOR, and for a handle that
 * is no owner NAMED_OTHERS later. Then the peers share the shards. */
#define OPENING (NAMED_FOR + NAMED_OTHERS + DW_SECONDS(4) * faults_slowness())
#define LEASE DW_SECONDS(2)
#define LAG DW_SECONDS(1) /* a replica is behind its master by less than this */

enum fault { KILLED, ASLEEP, ASKED, TAKEN };

struct change {
	uint64_t shards; /* the shards that had to wait */
	dw_usec from;
	dw_usec named; /* the time at which another node had the slots */
	dw_usec until; /* the time from which nobody uses the last node */
	bool is_lossy; /* confirmations of the last node may be lost */
};

static size_t rounds(struct faults *faults)
{
	return faults_amount(faults, ROUNDS, ROUNDS_LONG);
}

/* begin starts a peer, a client and another peer. The client and the first peer put, cancel and
 * move timers. */
static void begin(struct run *run, struct faults *faults, struct redis_cluster *cluster)
{
	size_t count = rounds(faults);
	struct plan_size size = {.count =
				     count * faults_amount(faults, TIMERS_A_ROUND, TIMERS_LONG),
				 .period = (dw_usec)count * ROUND,
				 .span = DW_SECONDS(5),
				 .delay = OPENING};
	dw_usec opened;

	run_begin_cluster(run, faults, cluster);
	opened = faults_now() + OPENING;
	run->lease = LEASE;
	plan_mixed(&run->plan, faults, &size);
	run_start(run, PLAN_OWNER, DW_PEER);
	(void)run_wait_ready(run, PLAN_OWNER); /* it complains itself */
	run_start(run, PLAN_CLIENT, DW_CLIENT);
	run_start(run, PLAN_THIRD, DW_PEER);
	(void)run_wait_ready(run, PLAN_THIRD); /* it complains itself */
	run_pump(run, opened + DW_SECONDS(1));
}

/* shards_of returns the shards that the node has. */
static uint64_t shards_of(const struct redis_cluster *cluster, unsigned node)
{
	uint64_t shards = 0;

	for (unsigned i = 0; i < RUN_SHARDS; i++)
		if (redis_cluster_master(cluster, run_slot(i), CLUSTER_NODES) == node)
			shards |= UINT64_C(1) << i;
	return shards;
}

/* replica_of returns the other node of the pair. Master and replica take turns. */
static unsigned replica_of(unsigned node)
{
	return (node + CLUSTER_MASTERS) % CLUSTER_NODES;
}

/* choose returns a master that has shards. */
static unsigned choose(struct run *run)
{
	unsigned shard = (unsigned)rng_below(&run->faults->rng, RUN_SHARDS);

	return redis_cluster_master(run->cluster, run_slot(shard), CLUSTER_NODES);
}

/* await_replica waits until the replica has all data of its master. */
static void await_replica(struct run *run, unsigned replica)
{
	redisReply *reply = NULL;
	bool is_up = false;

	while (!is_up) {
		reply = admin_ask(&run->cluster->servers[replica], "ROLE");
		is_up = reply && reply->elements == 5 &&
			strcmp(reply->element[3]->str, "connected") == 0;
		freeReplyObject(reply);
		run_pass(run, DW_MILLISECONDS(20));
	}
}

static void replace(struct run *run, unsigned master, enum fault fault)
{
	if (fault == KILLED)
		redis_server_kill(&run->cluster->servers[master]);
	else if (fault == ASLEEP)
		redis_server_pause(&run->cluster->servers[master]);
	else if (fault == ASKED)
		redis_cluster_fail_over(run->cluster, replica_of(master));
	else
		redis_cluster_take(run->cluster, replica_of(master));
}

static unsigned first_of(uint64_t shards)
{
	return (unsigned)__builtin_ctzll(shards);
}

static struct change fail_over(struct run *run, enum fault fault)
{
	unsigned master = choose(run), node = master;
	/* A master that is asked to leave waits for its replica. */
	struct change change = {.shards = shards_of(run->cluster, master),
				.is_lossy = fault != ASKED};
	dw_usec end;

	await_replica(run, replica_of(master));
	change.from = faults_now();
	end = change.from + ROUND;
	replace(run, master, fault);
	while (node == master) {
		run_pass(run, DW_MILLISECONDS(20));
		node =
		    redis_cluster_master(run->cluster, run_slot(first_of(change.shards)), master);
	}
	change.named = faults_now();
	change.until = change.named + NAMED_FOR;
	if (fault == ASLEEP) {
		run_pass(run, faults_between(run->faults, 0, 2 * LEASE));
		redis_server_resume(&run->cluster->servers[master]);
	}
	run_pump(run, end - DW_SECONDS(4) * faults_slowness());
	if (fault == KILLED)
		redis_server_restart(&run->cluster->servers[master]);
	history_fault_in(run->history, change.shards, change.from - LAG, change.until + RUN_AFTER);
	run_pump(run, end);
	return change;
}

/* show prints how late the timers of the other shards were, and when the first timer of the
 * affected shards started. */
static void show(struct run *run, const struct change *change, size_t unknown)
{
	dw_usec first =
	    history_first_start_in(run->history, change->shards, change->until - DW_SECONDS(1));

	(void)printf("    %d shards, named after %.1f s, next start %.1f s later; %zu "
		     "confirmations may be lost; the others late by %.1f ms (99 %%), %.0f ms\n",
		     __builtin_popcountll(change->shards),
		     (double)(change->named - change->from) / 1e6,
		     (double)(first - change->named) / 1e6, unknown,
		     (double)history_latest_in(run->history, ~change->shards, change->from,
					       change->until + DW_SECONDS(2), P99) /
			 1e3,
		     (double)history_latest_in(run->history, ~change->shards, change->from,
					       change->until + DW_SECONDS(2), 0) /
			 1e3); /* only for people */
}

/* check_owners fails the test if two peers had a shard at the same time. They would start its
 * timers in turns, so the shard would change its owner more often than it was gained. */
static void check_owners(struct run *run)
{
	size_t changes = history_changes(run->history);

	(void)printf("    %zu shards gained; %zu times another peer started the next timer\n",
		     run->gained, changes); /* only for people */
	if (changes > run->gained)
		faults_fail(run->faults,
			    "shards changed their owner %zu times, but %zu were gained", changes,
			    run->gained);
}

static void judge(struct run *run, const struct change *changes, size_t count)
{
	run_drain(run);
	run_end(run);
	check_owners(run);
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes[i];
		size_t unknown = 0;

		if (change->is_lossy)
			unknown = history_replaced_in(run->history, change->shards,
						      change->from - LAG, change->until);
		show(run, change, unknown);
	}
	run_close(run);
}

static void fail_over_by(struct faults *faults, enum fault fault)
{
	struct change changes[ROUNDS_LONG];
	struct redis_cluster cluster;
	size_t count = rounds(faults);
	struct run run;

	begin(&run, faults, &cluster);
	for (size_t i = 0; i < count; i++)
		changes[i] = fail_over(&run, fault);
	judge(&run, changes, count);
}

void cluster_killed(struct faults *faults)
{
	fail_over_by(faults, KILLED);
}

void cluster_asleep(struct faults *faults)
{
	fail_over_by(faults, ASLEEP);
}

void cluster_failover(struct faults *faults)
{
	fail_over_by(faults, ASKED);
}

void cluster_taken(struct faults *faults)
{
	fail_over_by(faults, TAKEN);
}

/* move_slot moves a slot with its keys, a few keys at a time. The slot's shard waits meanwhile. */
static struct change move_slot(struct run *run, unsigned shard)
{
	unsigned slot = run_slot(shard);
	unsigned from = redis_cluster_master(run->cluster, slot, CLUSTER_NODES);
	struct redis_cluster_move move = {slot, from, (from + 1) % CLUSTER_MASTERS};
	struct change change = {.shards = UINT64_C(1) << shard, .from = faults_now()};

	redis_cluster_move_begin(run->cluster, &move);
	while (redis_cluster_move_some(run->cluster, &move) > 0)
		run_pass(run, DW_MILLISECONDS(5));
	redis_cluster_move_end(run->cluster, &move);
	change.named = change.until = faults_now();
	return change;
}

static void show_move(const struct run *run, const struct change *change)
{
	dw_usec until = change->until + DW_SECONDS(2);

	(void)printf(
	    "    shard %u moved in %.2f s: its timers late by %.0f ms at most, those of "
	    "the others by %.1f ms (99 %%), %.0f ms\n",
	    first_of(change->shards), (double)(change->named - change->from) / 1e6,
	    (double)history_latest_in(run->history, change->shards, change->from, until, 0) / 1e3,
	    (double)history_latest_in(run->history, ~change->shards, change->from, until, P99) /
		1e3,
	    (double)history_latest_in(run->history, ~change->shards, change->from, until, 0) /
		1e3); /* only for people */
}

/* cluster_moves moves slots between masters. No server fails, so nothing is lost and nothing starts
 * twice. */
void cluster_moves(struct faults *faults)
{
	struct change changes[ROUNDS_LONG * MOVES];
	struct redis_cluster cluster;
	size_t count = rounds(faults) * MOVES;
	struct run run;

	begin(&run, faults, &cluster);
	for (size_t i = 0; i < count; i++) {
		changes[i] = move_slot(&run, (unsigned)rng_below(&faults->rng, RUN_SHARDS));
		run_pass(&run, faults_between(faults, 0, ROUND / MOVES));
	}
	run_drain(&run);
	run_end(&run);
	check_owners(&run);
	for (size_t i = 0; i < count; i++)
		show_move(&run, &changes[i]);
	run_close(&run);
}
