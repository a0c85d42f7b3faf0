/* kill -9, repeatedly at random moments under load: of the owner, of redis-server with appendfsync
 * always, and of both at once. A killed process is restarted at once. */
#include "faults/redis/redis_faults.h"
#include "faults/redis/run.h"

#include <stdio.h>

enum { KILLS = 4, KILLS_LONG = 40, TIMERS_A_KILL = 250 };

#define SOONEST (DW_MILLISECONDS(30) * faults_slowness())
#define LATEST (DW_MILLISECONDS(1000) * faults_slowness())

struct target {
	bool owner;
	bool server;
};

/* kill_once kills the target. The server is killed first or last. */
static void kill_once(struct run *run, const struct target *target)
{
	bool server_first = rng_below(&run->faults->rng, 2) == 0;
	dw_usec from = faults_now();

	if (target->server && server_first)
		redis_server_kill(&run->server);
	if (target->owner)
		run_kill(run, PLAN_OWNER);
	if (target->server && !server_first)
		redis_server_kill(&run->server);
	if (target->owner && rng_below(&run->faults->rng, 2) == 0) {
		run_start(run, PLAN_OWNER, DW_OWNER);
		if (target->server)
			redis_server_restart(&run->server);
	} else {
		if (target->server)
			redis_server_restart(&run->server);
		if (target->owner)
			run_start(run, PLAN_OWNER, DW_OWNER);
	}
	history_fault(run->history, from, faults_now() + (target->server ? RUN_AFTER : 0));
}

static void series(struct faults *faults, const struct target *target)
{
	size_t kills = faults_amount(faults, KILLS, KILLS_LONG);
	struct plan_size size = {.count = kills * TIMERS_A_KILL,
				 .period = (dw_usec)kills * LATEST / 2,
				 .span = faults->is_long ? DW_SECONDS(20) : DW_SECONDS(1.5)};
	struct run run;

	run_begin(&run, faults);
	plan_mixed(&run.plan, faults, &size);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	run_start(&run, PLAN_CLIENT, DW_CLIENT);
	for (size_t i = 0; i < kills; i++) {
		run_pass(&run, faults_between(faults, SOONEST, LATEST));
		kill_once(&run, target);
	}
	run_finish(&run);
}

void kill_owner(struct faults *faults)
{
	series(faults, &(struct target){.owner = true});
}

void kill_server(struct faults *faults)
{
	series(faults, &(struct target){.server = true});
}

void kill_both(struct faults *faults)
{
	series(faults, &(struct target){.owner = true, .server = true});
}
