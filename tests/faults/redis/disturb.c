/* One disturbance of the server each, under load: whatever it is, nothing is lost, nothing starts
 * after a confirmed cancel, every call is answered in time, and firing goes on by itself. */
#include "faults/redis/redis_faults.h"

#include <stdio.h>
#include <stdlib.h>

#include "faults/redis/admin.h"
#include "faults/redis/run.h"

enum { TIMERS = 900, STOPS = 3, STOPS_LONG = 20 };

#define PERIOD DW_SECONDS(3)
#define SPAN DW_SECONDS(2)
#define ANSWERED_BY (DW_SECONDS(15) * FAULTS_SLOWNESS) /* 5 s are promised, on an idle machine */

static void check_answered_in_time(struct run *run)
{
	dw_usec slowest = history_slowest(run->history);

	if (slowest > ANSWERED_BY)
		faults_fail(run->faults, "a call was answered after %.1f s", (double)slowest / 1e6);
}

/* tell_resumption: that everything fires, the history says; how soon is only told. */
static void tell_resumption(const struct run *run, dw_usec since)
{
	dw_usec first = history_first_start(run->history, since);

	if (first != DW_NEVER)
		(void)printf("    the first start came %.0f ms after the end of it\n",
			     (double)(first - since) / 1e3); /* only to be read */
}

static void under_load(struct faults *faults, void (*disturb)(struct run *))
{
	struct plan_size size = {
	    .count = faults_amount(faults, TIMERS, 10 * TIMERS), .period = PERIOD, .span = SPAN};
	struct run run;
	dw_usec from, until;

	run_begin(&run, faults);
	plan_mixed(&run.plan, faults, &size);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	run_start(&run, PLAN_CLIENT, DW_CLIENT);
	if (run_wait_ready(&run, PLAN_OWNER) && run_wait_ready(&run, PLAN_CLIENT))
		run_pass(&run, PERIOD / 4);
	from = faults_now();
	disturb(&run);
	until = faults_now();
	history_fault(run.history, from, until + RUN_AFTER);
	run_drain(&run);
	check_answered_in_time(&run);
	tell_resumption(&run, until);
	run_close(&run);
}

/* ---- The disturbances ----------------------------------------------------------------------- */

static void flush_scripts(struct run *run)
{
	for (int i = 0; i < 40; i++) {
		admin_do(&run->server, "SCRIPT FLUSH");
		run_pass(run, DW_MILLISECONDS(40));
	}
}

static void stop_and_start(struct run *run)
{
	redis_server_stop(&run->server);
	run_pass(run, DW_MILLISECONDS(300));
	redis_server_restart(&run->server);
}

static void kill_clients(struct run *run)
{
	for (int i = 0; i < 15; i++) {
		(void)admin_number(&run->server, "CLIENT KILL TYPE normal SKIPME yes");
		(void)admin_number(&run->server, "CLIENT KILL TYPE pubsub");
		run_pass(run, DW_MILLISECONDS(100));
	}
}

static void pause_clients(struct run *run)
{
	admin_do(&run->server, "CLIENT PAUSE 2000 ALL");
	run_pass(run, DW_MILLISECONDS(2100));
}

static void sleep_server(struct run *run)
{
	admin_do(&run->server, "DEBUG SLEEP 2");
}

static void stop_server(struct run *run)
{
	redis_server_pause(&run->server);
	run_pass(run, DW_SECONDS(5));
	redis_server_resume(&run->server);
}

/* stop_often: for longer than anybody waits for a reply, so that commands lie in the old socket and
 * are carried out while the new one greets. */
static void stop_often(struct run *run)
{
	size_t stops = faults_amount(run->faults, STOPS, STOPS_LONG);

	for (size_t i = 0; i < stops; i++) {
		redis_server_pause(&run->server);
		run_pass(run,
			 faults_between(run->faults, DW_MILLISECONDS(1000), DW_MILLISECONDS(1800)));
		redis_server_resume(&run->server);
		run_pass(run, faults_between(run->faults, 0, DW_MILLISECONDS(400)));
	}
}

static int run_endless_script(void *user)
{
	const struct redis_server *server = user;

	freeReplyObject(admin_ask(server, "EVAL %s 0", "while true do end"));
	return EXIT_SUCCESS;
}

static void busy_server(struct run *run)
{
	struct process script;

	admin_do(&run->server, "CONFIG SET busy-reply-threshold 100");
	process_fork(&script, run_endless_script, &run->server);
	run_pass(run, DW_SECONDS(2));
	admin_do(&run->server, "SCRIPT KILL");
	if (!process_wait(&script))
		faults_fail(run->faults, "the endless script goes on");
	process_free(&script);
}

static void demote_server(struct run *run)
{
	admin_do(&run->server, "REPLICAOF 127.0.0.1 1");
	run_pass(run, DW_SECONDS(2));
	admin_do(&run->server, "REPLICAOF NO ONE");
}

void scripts_flushed(struct faults *faults)
{
	under_load(faults, flush_scripts);
}

void server_restarted(struct faults *faults)
{
	under_load(faults, stop_and_start);
}

void clients_killed(struct faults *faults)
{
	under_load(faults, kill_clients);
}

void clients_paused(struct faults *faults)
{
	under_load(faults, pause_clients);
}

void server_sleeps(struct faults *faults)
{
	under_load(faults, sleep_server);
}

void server_stopped(struct faults *faults)
{
	under_load(faults, stop_server);
}

void stale_commands(struct faults *faults)
{
	under_load(faults, stop_often);
}

void server_busy(struct faults *faults)
{
	under_load(faults, busy_server);
}

void server_demoted(struct faults *faults)
{
	under_load(faults, demote_server);
}
