/* Owner and client have a journal. The server is killed and stays away for some time. Meanwhile,
 * and while the server gets the operations in the journals, their processes are killed, too, and
 * restarted at once. */
#include "faults/redis/redis_faults.h"
#include "faults/redis/run.h"

enum { OUTAGES = 3, OUTAGES_LONG = 20, TIMERS_AN_OUTAGE = 300 };

#define SHORTEST (DW_MILLISECONDS(500) * faults_slowness())
#define LONGEST (DW_MILLISECONDS(4000) * faults_slowness())
#define REPLAY (DW_MILLISECONDS(200) * faults_slowness()) /* about the time of a replay */

/* restart kills an actor and starts it again. Each kill is its own fault, besides the outage. */
static void restart(struct run *run, unsigned hand)
{
	history_fault(run->history, faults_now(), faults_now() + RUN_AFTER);
	run_kill(run, hand);
	run_start(run, hand, hand == PLAN_OWNER ? DW_OWNER : DW_CLIENT);
}

/* outage kills the server for some time. It also kills `kills` processes while the server is away,
 * and as many after that. */
static void outage(struct run *run, unsigned kills)
{
	struct faults *faults = run->faults;
	dw_usec from = faults_now();
	dw_usec length = faults_between(faults, SHORTEST, LONGEST);

	redis_server_kill(&run->server);
	for (unsigned i = 0; i < kills; i++) {
		run_pass(run, faults_between(faults, 0, length / kills));
		restart(run, (unsigned)rng_below(&faults->rng, 2));
	}
	if (faults_now() < from + length)
		run_pass(run, from + length - faults_now());
	redis_server_restart(&run->server);
	for (unsigned i = 0; i < kills; i++) {
		run_pass(run, faults_between(faults, 0, REPLAY));
		restart(run, (unsigned)rng_below(&faults->rng, 2));
	}
	history_fault(run->history, from, faults_now() + RUN_AFTER);
}

static void series(struct faults *faults, dw_outage policy, unsigned kills)
{
	size_t outages = faults_amount(faults, OUTAGES, OUTAGES_LONG);
	struct plan_size size = {.count = outages * TIMERS_AN_OUTAGE,
				 .period = (dw_usec)outages * LONGEST,
				 .span = DW_SECONDS(3)};
	struct run run;

	run_begin(&run, faults);
	run_with_journals(&run, policy);
	plan_mixed(&run.plan, faults, &size);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	run_start(&run, PLAN_CLIENT, DW_CLIENT);
	for (size_t i = 0; i < outages; i++) {
		run_pass(&run, faults_between(faults, SHORTEST / 2, SHORTEST));
		outage(&run, kills);
	}
	run_finish(&run);
}

void journal_outages(struct faults *faults)
{
	series(faults, DW_OUTAGE_HOLD, 0);
}

void journal_killed(struct faults *faults)
{
	series(faults, DW_OUTAGE_HOLD, 3);
}

void journal_fires(struct faults *faults)
{
	series(faults, DW_OUTAGE_FIRE, 0);
}

void journal_fires_killed(struct faults *faults)
{
	series(faults, DW_OUTAGE_FIRE, 3);
}
