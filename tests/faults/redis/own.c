/* Ownership of the namespace: an owner that is stopped for longer than its lease, an owner that
 * died, and a second owner beside the first. */
#include "faults/redis/redis_faults.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "faults/redis/run.h"

enum { TIMERS = 400, EXIT_STORE = 6 };

/* The shortest and the longest lease. With the longest, a standby must not wait for a dead owner's
 * lease. */
#define LEASE DW_SECONDS(1)
#define LEASE_LONG DW_MINUTES(5)

static void begin(struct run *run, struct faults *faults, dw_usec lease)
{
	struct plan_size size = {.count = faults_amount(faults, TIMERS, 10 * TIMERS),
				 .period = DW_SECONDS(2),
				 .span = DW_SECONDS(1.2)};

	run_begin(run, faults);
	run->lease = lease;
	plan_mixed(&run->plan, faults, &size);
	run_start(run, PLAN_OWNER, DW_OWNER);
	run_start(run, PLAN_CLIENT, DW_CLIENT);
	(void)run_wait_ready(run, PLAN_OWNER); /* it complains itself */
}

static void await_owner(struct run *run, unsigned hand)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (!run->actors[hand].is_owner && faults_now() < until)
		run_pass(run, DW_MILLISECONDS(5));
	if (!run->actors[hand].is_owner)
		faults_fail(run->faults, "actor %u does not become the owner", hand);
}

/* owner_stopped stops the owner, so that a standby takes over. The old owner then wakes up, starts
 * no timer and changes nothing that it no longer owns. */
void owner_stopped(struct faults *faults)
{
	struct run run;
	dw_usec from, taken;

	begin(&run, faults, LEASE);
	run_start(&run, PLAN_THIRD, DW_STANDBY);
	(void)run_wait_ready(&run, PLAN_THIRD); /* it complains itself */
	run_pass(&run, DW_MILLISECONDS(500));
	from = faults_now();
	process_signal(&run.actors[PLAN_OWNER].process, SIGSTOP);
	await_owner(&run, PLAN_THIRD);
	taken = faults_now() - from;
	run_pass(&run, DW_MILLISECONDS(500));
	process_signal(&run.actors[PLAN_OWNER].process, SIGCONT);
	history_fault(run.history, from, faults_now());
	run_drain(&run);
	if (run.actors[PLAN_OWNER].lost_events != 1)
		faults_fail(faults, "the stopped owner noticed %zu times that it is none",
			    run.actors[PLAN_OWNER].lost_events);
	(void)printf("    taken over %.0f ms after the stop, lease %.0f ms\n", (double)taken / 1e3,
		     (double)LEASE / 1e3); /* only for people */
	run_close(&run);
}

/* owner_died kills the owner. Another owner on the same host does not wait for the end of the
 * lease. */
void owner_died(struct faults *faults)
{
	struct run run;
	dw_usec from;

	begin(&run, faults, LEASE_LONG);
	run_pass(&run, DW_MILLISECONDS(500));
	from = faults_now();
	run_kill(&run, PLAN_OWNER);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	(void)run_wait_ready(&run, PLAN_OWNER); /* it complains itself */
	history_fault(run.history, from, faults_now());
	(void)printf("    replaced after %.0f ms\n",
		     (double)(faults_now() - from) / 1e3); /* only for people */
	run_finish(&run);
}

/* check_refused starts the command as a second owner. */
static void check_refused(struct run *run)
{
	const char *argv[] = {
	    run->faults->command, "run", "--store", run->url, "--name", RUN_NAME, NULL};
	dw_usec from = faults_now();
	struct process second;

	process_start(&second, argv);
	if (!process_wait(&second) || second.code != EXIT_STORE ||
	    !strstr(stream_text(&second.err), " is owned by ") ||
	    !strstr(stream_text(&second.err), "pid "))
		faults_fail(run->faults, "the second owner: exit %d, %s", second.code,
			    stream_text(&second.err));
	(void)printf("    refused after %.0f ms: %s", (double)(second.ended - from) / 1e3,
		     stream_text(&second.err)); /* only for people */
	process_free(&second);
}

/* owner_refused starts a second owner, which is refused with a message. The first owner is not
 * disturbed. */
void owner_refused(struct faults *faults)
{
	struct run run;

	begin(&run, faults, 0);
	check_refused(&run);
	run_finish(&run);
}
