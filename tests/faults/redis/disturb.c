/* Each test disturbs the server once under load. In all of them no timer is lost, none starts after
 * a confirmed cancel, every call is answered in time, and firing continues by itself. */
#include "faults/redis/redis_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/redis/admin.h"
#include "faults/redis/run.h"

enum { TIMERS = 600, STOPS = 3, STOPS_LONG = 20 };

#define PERIOD (DW_SECONDS(1.6) * faults_slowness())
#define SPAN (DW_SECONDS(1.2) * faults_slowness())
#define ANSWERED_BY (DW_SECONDS(15) * faults_slowness()) /* the promise is 5 s on an idle machine */

static void check_answered_in_time(struct run *run)
{
	dw_usec slowest = history_slowest(run->history);

	if (slowest > ANSWERED_BY)
		faults_fail(run->faults, "a call was answered after %.1f s", (double)slowest / 1e6);
}

/* tell_resumption prints how soon firing has resumed. The history checks that all timers fire. */
static void tell_resumption(const struct run *run, dw_usec since)
{
	dw_usec first = history_first_start(run->history, since);

	if (first != DW_NEVER)
		(void)printf("    the first start came %.0f ms after the end of it\n",
			     (double)(first - since) / 1e3); /* only for people */
}

/* await_puts waits until a quarter of the puts is confirmed. */
static void await_puts(struct run *run)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (history_answers(run->history, HISTORY_PUT_ANSWERED, DW_OK) < run->plan.count / 4 &&
	       faults_now() < until)
		run_pass(run, DW_MILLISECONDS(10));
}

static void load_and(struct faults *faults, bool alone, void (*disturb)(struct run *))
{
	struct plan_size size = {.count = faults_amount(faults, TIMERS, 10 * TIMERS),
				 .period = PERIOD,
				 .span = SPAN,
				 .alone = alone};
	struct run run;
	dw_usec from, until;

	run_begin(&run, faults);
	plan_mixed(&run.plan, faults, &size);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	run_start(&run, PLAN_CLIENT, DW_CLIENT);
	if (run_wait_ready(&run, PLAN_OWNER) && run_wait_ready(&run, PLAN_CLIENT))
		await_puts(&run);
	from = faults_now();
	disturb(&run);
	until = faults_now();
	history_fault(run.history, from, until + RUN_AFTER);
	run_drain(&run);
	check_answered_in_time(&run);
	tell_resumption(&run, until);
	run_close(&run);
}

static void under_load(struct faults *faults, void (*disturb)(struct run *))
{
	load_and(faults, false, disturb);
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

/* stop_often stops the server for longer than any client waits for a reply. The commands in the old
 * socket are then carried out while the new connection says hello. */
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

/* ---- Contents that others spoil ------------------------------------------------------------- */

static void flush_all(struct run *run)
{
	admin_do(&run->server, "FLUSHALL");
}

/* swap moves the key aside and puts another list in its place, or undoes this. A script does both
 * steps, so that no other client can write in between. */
static void swap(struct run *run, const char *key, bool foreign)
{
	static const char script[] =
	    "redis.call('DEL', KEYS[ARGV[1] == '1' and 2 or 1]) "
	    "local from = KEYS[ARGV[1] == '1' and 1 or 2] "
	    "local to = KEYS[ARGV[1] == '1' and 2 or 1] "
	    "if redis.call('EXISTS', from) == 1 then redis.call('RENAME', from, to) end "
	    "if ARGV[1] == '1' then redis.call('RPUSH', KEYS[1], 'foreign') end return 'OK'";

	freeReplyObject(admin_ask(&run->server, "EVAL %s 2 %s {" RUN_NAME "}:kept %d", script, key,
				  foreign ? 1 : 0));
}

/* spoil gives a key another type for 150 ms. */
static void spoil(struct run *run, const char *key)
{
	swap(run, key, true);
	run_pass(run, DW_MILLISECONDS(150));
	swap(run, key, false);
}

/* spoil_sessions spoils the keys of sessions, whose names are random. */
static void spoil_sessions(struct run *run)
{
	redisReply *keys = admin_ask(&run->server, "KEYS {" RUN_NAME ":03}:s:*");

	for (size_t i = 0; keys && i < keys->elements; i++)
		spoil(run, keys->element[i]->str);
	freeReplyObject(keys);
}

/* spoil_types spoils each key of one shard in turn. */
static void spoil_types(struct run *run)
{
	static const char *const ends[] = {"l", "m", "z", "h", "i", "d", "D", "e"};
	char key[64];

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		(void)snprintf(key, sizeof key, "{" RUN_NAME ":03}:%s", ends[i]); /* it fits */
		spoil(run, key);
	}
	spoil_sessions(run);
}

/* strew puts foreign data into a shard: an id without a value, a value without an entry in the
 * order, and a damaged timer. */
static void strew(struct run *run)
{
	static const char rubbish[] = "0123456789012345678901234567890123456789012345678901234567";
	const struct redis_server *server = &run->server;

	admin_do(server, "ZADD {" RUN_NAME ":05}:z 1000 nowhere");
	admin_do(server, "HSET {" RUN_NAME ":05}:h lost %s", rubbish);
	admin_do(server, "ZADD {" RUN_NAME ":05}:z 2000 damaged");
	admin_do(server, "HSET {" RUN_NAME ":05}:h damaged %s", rubbish);
	admin_do(server, "ZADD {" RUN_NAME ":05}:z -inf low inf high 0.5 between");
}

/* sweep deletes the foreign data that the owner has not moved to the dead letters. Meanwhile the
 * owner may have given the lost value an entry. */
static void sweep(struct run *run)
{
	admin_do(&run->server, "HDEL {" RUN_NAME ":05}:h lost damaged");
	admin_do(&run->server, "ZREM {" RUN_NAME ":05}:z nowhere lost damaged low high between");
}

/* check_flagged runs `durawheel check`, which must report the damage. The owner may have moved the
 * damaged timer to the dead letters before. */
static void check_flagged(struct run *run)
{
	const char *argv[] = {
	    run->faults->command, "check", "--json", "--store", run->url, "--name", RUN_NAME, NULL};
	struct process check;
	const char *said;

	process_start(&check, argv);
	if (!process_wait(&check) || check.code == 0 || !(said = stream_text(&check.out)) ||
	    !strstr(said, "\"lost\"") ||
	    (strstr(said, "\"dead\":0,") && !strstr(said, "\"damaged\"")))
		faults_fail(run->faults, "check: exit %d, %s%s", check.code,
			    stream_text(&check.out), stream_text(&check.err));
	process_free(&check);
}

/* strew_garbage puts foreign data into a shard while an owner runs. Then it starts another owner,
 * which reads everything. */
static void strew_garbage(struct run *run)
{
	strew(run);
	check_flagged(run);
	run_kill(run, PLAN_OWNER);
	run_start(run, PLAN_OWNER, DW_OWNER);
	if (run_wait_ready(run, PLAN_OWNER))
		run_pass(run, DW_MILLISECONDS(500));
	for (dw_usec until = faults_now() + FAULTS_PATIENCE;
	     run->actors[PLAN_OWNER].corrupt_events == 0 && faults_now() < until;)
		run_pass(run, DW_MILLISECONDS(100));
	if (run->actors[PLAN_OWNER].corrupt_events == 0)
		faults_fail(run->faults, "the owner says nothing of damaged timers");
	sweep(run);
}

/* The events that must happen on a full server. */
struct full {
	bool refused, settled, cancelled;
};

static struct full look_full(const struct run *run, size_t settled, size_t cancelled)
{
	const struct history *history = run->history;

	return (struct full){
	    .refused = history_answers(history, HISTORY_PUT_ANSWERED, DW_EFULL) > 0,
	    .settled = history_count(history, HISTORY_SETTLED) > settled,
	    .cancelled = history_answers(history, HISTORY_CANCEL_ANSWERED, DW_OK) > cancelled,
	};
}

/* fill_memory makes the server full. Puts are then refused. Stored timers are cancelled, fire and
 * are settled. */
static void fill_memory(struct run *run)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	size_t settled, cancelled;
	struct full full;

	admin_do(&run->server, "CONFIG SET maxmemory 1");
	settled = history_count(run->history, HISTORY_SETTLED);
	cancelled = history_answers(run->history, HISTORY_CANCEL_ANSWERED, DW_OK);
	do {
		run_pass(run, DW_MILLISECONDS(50));
		full = look_full(run, settled, cancelled);
	} while (!(full.refused && full.settled && full.cancelled) && faults_now() < until);
	if (!full.refused)
		faults_fail(run->faults, "no put was told that the server is full");
	if (!full.settled)
		faults_fail(run->faults, "nothing was settled in a full server");
	if (!full.cancelled)
		faults_fail(run->faults, "no cancel was done in a full server");
	admin_do(&run->server, "CONFIG SET maxmemory 0");
}

void all_flushed(struct faults *faults)
{
	load_and(faults, true, flush_all);
}

void wrong_types(struct faults *faults)
{
	under_load(faults, spoil_types);
}

void memory_full(struct faults *faults)
{
	under_load(faults, fill_memory);
}

void garbage(struct faults *faults)
{
	under_load(faults, strew_garbage);
}
