/* Peers: processes that share the namespace. Shards move while timers come due, because a peer
 * joins and leaves, is killed, or is stopped for longer than its lease. */
#include "faults/redis/redis_faults.h"

#include <signal.h>
#include <stdio.h>

#include "faults/redis/run.h"

enum { ROUNDS = 5, ROUNDS_LONG = 100, TIMERS_A_ROUND = 300 };

#define LEASE DW_SECONDS(1)
#define SOONEST (DW_MILLISECONDS(300) * faults_slowness())
#define LATEST (DW_MILLISECONDS(1500) * faults_slowness())

static size_t rounds(struct faults *faults)
{
	return faults_amount(faults, ROUNDS, ROUNDS_LONG);
}

/* begin starts two or three peers, which put, cancel and move timers. */
static void begin(struct run *run, struct faults *faults, unsigned peers)
{
	size_t count = rounds(faults);
	struct plan_size size = {.count = count * TIMERS_A_ROUND,
				 .period = (dw_usec)count * (SOONEST + LATEST) / 2,
				 .span = faults->is_long ? DW_SECONDS(10) : DW_SECONDS(1.5)};

	run_begin(run, faults);
	run->lease = LEASE;
	plan_mixed(&run->plan, faults, &size);
	for (unsigned i = 0; i < peers; i++) {
		run_start(run, i, DW_PEER);
		(void)run_wait_ready(run, i); /* it complains itself */
	}
}

/* peers_move lets a peer join and leave. No fault happens, so no timer starts twice. A peer that
 * joins gets shards after 3 s. When it leaves, the others get them back. */
void peers_move(struct faults *faults)
{
	size_t count = rounds(faults);
	struct run run;

	begin(&run, faults, 2);
	for (size_t i = 0; i < count; i++) {
		run_start(&run, PLAN_THIRD, DW_PEER);
		run_pass(&run, faults_between(faults, DW_SECONDS(5), DW_SECONDS(7)));
		run_stop(&run, PLAN_THIRD);
		run_pass(&run, faults_between(faults, SOONEST, LATEST));
	}
	(void)printf("    %zu shards gained\n", run.gained);  /* only for people */
	if (run.gained < RUN_SHARDS + count * RUN_SHARDS / 8) /* the first gains are no moves */
		faults_fail(faults, "only %zu shards moved in %zu rounds", run.gained, count);
	run_finish(&run);
}

void peers_killed(struct faults *faults)
{
	size_t count = rounds(faults);
	struct run run;

	begin(&run, faults, 3);
	for (size_t i = 0; i < count; i++) {
		unsigned hand = (unsigned)rng_below(&faults->rng, PLAN_HANDS);
		dw_usec from;

		run_pass(&run, faults_between(faults, SOONEST, LATEST));
		from = faults_now();
		run_kill(&run, hand);
		run_pass(&run, faults_between(faults, 0, LATEST));
		run_start(&run, hand, DW_PEER);
		history_fault(run.history, from, faults_now());
		(void)run_wait_ready(&run, hand); /* it complains itself */
	}
	run_finish(&run);
}

/* peers_stopped stops a peer for a while. When the peer wakes up, it finds that others have its
 * shards, and starts none of their timers. */
void peers_stopped(struct faults *faults)
{
	size_t count = rounds(faults);
	struct run run;

	begin(&run, faults, 3);
	for (size_t i = 0; i < count; i++) {
		unsigned hand = (unsigned)rng_below(&faults->rng, PLAN_HANDS);
		dw_usec from;

		run_pass(&run, faults_between(faults, SOONEST, LATEST));
		from = faults_now();
		process_signal(&run.actors[hand].process, SIGSTOP);
		run_pass(&run, faults_between(faults, LEASE / 2, 8 * LEASE));
		process_signal(&run.actors[hand].process, SIGCONT);
		run_pass(&run, DW_MILLISECONDS(500));
		history_fault(run.history, from, faults_now());
	}
	run_finish(&run);
}
