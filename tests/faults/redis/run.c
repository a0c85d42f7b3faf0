#include "faults/redis/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/payload.h"
#include "faults/redis/admin.h"
#include "store/redis/store.h"

#define PAUSE DW_MILLISECONDS(50)

static void begin(struct run *run, struct faults *faults)
{
	*run = (struct run){.faults = faults, .history = history_new()};
	for (unsigned i = 0; i < PLAN_HANDS; i++)
		run->actors[i].process = (struct process)PROCESS_NONE;
}

void run_begin_town(struct run *run, struct faults *faults, struct sentinel_town *town,
		    unsigned replicas)
{
	begin(run, faults);
	sentinel_town_start(town, replicas);
	run->town = town;
	run->server = town->servers[0];
	(void)snprintf(run->url, sizeof run->url, "%s", town->url); /* it fits */
}

void run_follow(struct run *run)
{
	run->server = run->town->servers[sentinel_town_master(run->town)];
}

unsigned run_slot(unsigned shard)
{
	char tag[32];

	(void)snprintf(tag, sizeof tag, "{" RUN_NAME ":%02u}", shard); /* it fits */
	return crc16_of(tag) % CLUSTER_SLOTS;
}

static unsigned shard_of_number(size_t number)
{
	char id[DW_ID_MAX + 1];

	payload_id(number, id);
	return crc16_of(id) % RUN_SHARDS;
}

void run_begin_cluster(struct run *run, struct faults *faults, struct redis_cluster *cluster)
{
	begin(run, faults);
	redis_cluster_start(cluster);
	run->cluster = cluster;
	run->server = cluster->servers[0];
	history_divide(run->history, shard_of_number);
	(void)snprintf(run->url, sizeof run->url, "%s", cluster->url); /* it fits */
}

void run_begin(struct run *run, struct faults *faults)
{
	static const char *const options[] = {
	    "--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command",
	    "yes",          NULL};

	begin(run, faults);
	redis_server_start(&run->server, false, options);
	(void)snprintf(run->url, sizeof run->url, "unix://%s",
		       run->server.path); /* the path fits */
}

/* ---- What actors say ------------------------------------------------------------------------ */

/* mark_sent marks a sent operation, so that the replacement of a killed actor does not send it
 * again. */
static void mark_sent(struct run *run, const struct history_event *event)
{
	struct plan_item *item = &run->plan.items[event->number];

	item->put_sent = item->put_sent || event->kind == HISTORY_PUT;
	item->act_sent =
	    item->act_sent || event->kind == HISTORY_CANCEL || event->kind == HISTORY_MOVE;
}

static void take_event(struct run *run, struct run_actor *actor, const char *line)
{
	struct history_event event = {.process = actor->life};
	int kind;

	if (sscanf(line, "e %d %zu %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu32 " %d %" SCNx64,
		   &kind, &event.number, &event.at, &event.due, &event.generation, &event.attempt,
		   &event.status, &event.digest) != 8 ||
	    kind < 0 || kind >= HISTORY_KINDS || event.number >= run->plan.count) {
		faults_fail(run->faults, "not an event: %s", line);
		return;
	}
	event.kind = (enum history_kind)kind;
	if (event.kind <= HISTORY_CANCEL)
		actor->unanswered++;
	else if (event.kind <= HISTORY_CANCEL_ANSWERED)
		actor->unanswered--;
	mark_sent(run, &event);
	history_add(run->history, &event);
}

static void take_happening(struct run *run, struct run_actor *actor, const char *line)
{
	char *end;
	int kind = (int)strtol(line + 2, &end, 10);
	size_t count = strtoul(end, NULL, 10);

	if (kind == DW_EVENT_OWNER) {
		actor->owner_events++;
		actor->is_owner = true;
	} else if (kind == DW_EVENT_OWNER_LOST) {
		actor->lost_events++;
		actor->is_owner = false;
	} else if (kind == DW_EVENT_SHARDS) {
		run->gained += count > actor->shards ? count - actor->shards : 0;
		actor->shards = count;
	} else if (kind == DW_EVENT_CORRUPT) {
		actor->corrupt_events++;
	}
}

static void take_line(struct run *run, struct run_actor *actor, const char *line)
{
	dw_usec took = line[0] == 's' ? strtoll(line + 1, NULL, 10) : 0;

	if (line[0] == 'e')
		take_event(run, actor, line);
	else if (line[0] == 'o')
		take_happening(run, actor, line);
	else if (line[0] == 'r')
		actor->ready = true;
	else if (line[0] == 'n' && getenv("DW_NOTES"))
		(void)printf("    %lld %u: %s\n", (long long)faults_now(), actor->task.hand,
			     line); /* for people */
	if (took > run->longest_turn)
		run->longest_turn = took;
}

static void take_lines(struct run *run, struct run_actor *actor)
{
	const char *line;
	size_t size;

	while ((line = stream_line(&actor->process.out, &size)))
		take_line(run, actor, line);
}

/* ---- Actors --------------------------------------------------------------------------------- */

void run_with_journals(struct run *run, dw_outage outage)
{
	static const char *const names[PLAN_HANDS] = {"owner.journal", "client.journal",
						      "third.journal"};

	run->has_journals = true;
	history_journals(run->history);
	run->outage = outage;
	for (unsigned i = 0; i < PLAN_HANDS; i++)
		(void)temp_file(run->journals[i], run->server.folder, names[i]);
}

void run_start(struct run *run, unsigned hand, dw_role role)
{
	struct run_actor *actor = &run->actors[hand];

	*actor =
	    (struct run_actor){.life = ++run->lives,
			       .is_owner = role == DW_OWNER,
			       .task = {.url = run->url,
					.is_replicated = run->is_replicated,
					.name = RUN_NAME,
					.plan = &run->plan,
					.hand = hand,
					.role = role,
					.journal = run->has_journals ? run->journals[hand] : NULL,
					.outage = role == DW_CLIENT ? DW_OUTAGE_HOLD : run->outage,
					.lease = run->lease}};
	process_fork(&actor->process, actor_main, &actor->task);
}

void run_kill(struct run *run, unsigned hand)
{
	struct run_actor *actor = &run->actors[hand];

	if (actor->process.pid == 0)
		faults_fail(run->faults, "actor %u has ended by itself: exit %d, %s", hand,
			    actor->process.code, stream_text(&actor->process.err));
	process_kill(&actor->process);
	take_lines(run, actor);
	process_free(&actor->process);
	actor->process = (struct process)PROCESS_NONE;
}

void run_pump(struct run *run, dw_usec until)
{
	struct process *all[PLAN_HANDS];

	for (unsigned i = 0; i < PLAN_HANDS; i++)
		all[i] = &run->actors[i].process;
	do {
		process_poll(all, PLAN_HANDS, until);
		for (unsigned i = 0; i < PLAN_HANDS; i++)
			take_lines(run, &run->actors[i]);
	} while (faults_now() < until);
}

void run_pass(struct run *run, dw_usec duration)
{
	run_pump(run, faults_now() + duration);
}

bool run_wait_ready(struct run *run, unsigned hand)
{
	struct run_actor *actor = &run->actors[hand];
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (!actor->ready && actor->process.pid != 0 && faults_now() < until)
		run_pass(run, DW_MILLISECONDS(5));
	if (!actor->ready)
		faults_fail(run->faults, "actor %u does not open the store: %s", hand,
			    stream_text(&actor->process.err));
	return actor->ready;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* server_of returns the server that has the shard. */
static const struct redis_server *server_of(const struct run *run, unsigned shard)
{
	unsigned node = run->cluster
			    ? redis_cluster_master(run->cluster, run_slot(shard), CLUSTER_NODES)
			    : CLUSTER_NODES;

	return node < CLUSTER_NODES ? &run->cluster->servers[node] : &run->server;
}

long long run_stored(struct run *run)
{
	long long sum = 0;

	for (unsigned i = 0; i < RUN_SHARDS; i++) {
		long long one = admin_number(server_of(run, i), "HLEN {" RUN_NAME ":%02u}:h", i);

		if (one < 0)
			return -1;
		sum += one;
	}
	return sum;
}

/* show_left prints the timers in the first shards that still have any, with their scores. The score
 * of a claimed timer is negative. */
static void show_left(struct run *run)
{
	static const char *const keys[] = {"z", "i"};

	for (unsigned i = 0; i < 2 * RUN_SHARDS; i++) {
		const char *key = keys[i % 2];
		redisReply *reply =
		    admin_ask(server_of(run, i / 2), "ZRANGE {" RUN_NAME ":%02u}:%s 0 9 WITHSCORES",
			      i / 2, key);

		for (size_t k = 0; reply && k + 1 < reply->elements; k += 2)
			(void)printf("    left: %s %s %s\n", key, reply->element[k]->str,
				     reply->element[k + 1]->str); /* only for people */
		freeReplyObject(reply);
	}
}

/* left_undone returns the number of operations that were not sent or not answered. */
static size_t left_undone(const struct run *run)
{
	size_t left = 0;

	for (size_t i = 0; i < run->plan.count; i++) {
		const struct plan_item *item = &run->plan.items[i];

		left += !item->put_sent;
		left += item->act != PLAN_NONE && !item->act_sent;
	}
	for (unsigned i = 0; i < PLAN_HANDS; i++)
		if (run->actors[i].process.pid != 0)
			left += run->actors[i].unanswered;
	return left;
}

void run_drain(struct run *run)
{
	dw_usec until = run->plan.end + FAULTS_PATIENCE;
	long long stored;
	size_t left;

	run_pump(run, run->plan.end);
	do {
		run_pass(run, PAUSE);
		left = left_undone(run);
		stored = left == 0 ? run_stored(run) : -1;
	} while ((left > 0 || stored != 0) && faults_now() < until);
	if (left == 0 && stored == 0)
		return;
	faults_fail(run->faults, "%zu calls are not answered, %lld timers are left", left, stored);
	show_left(run);
}

static void end_actor(struct run *run, struct run_actor *actor)
{
	if (actor->process.pid == 0 && actor->process.pidfd < 0 && !actor->life)
		return;
	(void)!write(actor->process.in, "q", 1); /* the actor may have ended */
	if (actor->process.pid != 0 && !process_wait(&actor->process))
		faults_fail(run->faults, "actor %u does not end", actor->task.hand);
	process_kill(&actor->process);
	take_lines(run, actor);
	if (actor->process.code != 0)
		faults_fail(run->faults, "actor %u: exit %d, %s", actor->task.hand,
			    actor->process.code, stream_text(&actor->process.err));
	process_free(&actor->process);
	*actor = (struct run_actor){.process = PROCESS_NONE};
}

enum { SHOWN = 4 }; /* the number of timers that are shown in full */

void run_stop(struct run *run, unsigned hand)
{
	end_actor(run, &run->actors[hand]);
}

static void say(void *user, enum history_broken broken, size_t number, const char *line)
{
	struct run *run = user;

	(void)broken;
	faults_fail(run->faults, "%s", line);
	if (run->shown++ < SHOWN)
		history_show(run->history, number);
}

static void show(struct run *run)
{
	struct history *history = run->history;

	(void)printf(
	    "    %zu put, %zu starts (%zu repeated), %zu settled by hand; cancels: %zu done, "
	    "%zu late, %zu gone, %zu unknown; moves: %zu done; slowest answer %.0f ms, "
	    "longest turn %.1f ms; starts late by %.2f ms (half), %.1f ms (99 %%), %.0f ms\n",
	    history_answers(history, HISTORY_PUT_ANSWERED, DW_OK),
	    history_count(history, HISTORY_START), history_repeats(history),
	    history_count(history, HISTORY_SETTLED),
	    history_answers(history, HISTORY_CANCEL_ANSWERED, DW_OK),
	    history_answers(history, HISTORY_CANCEL_ANSWERED, DW_ELATE),
	    history_answers(history, HISTORY_CANCEL_ANSWERED, DW_ENOENT),
	    history_answers(history, HISTORY_CANCEL_ANSWERED, DW_EUNKNOWN),
	    history_answers(history, HISTORY_MOVE_ANSWERED, DW_OK),
	    (double)history_slowest(history) / 1e3, (double)run->longest_turn / 1e3,
	    (double)history_latest(history, 500) / 1e3, (double)history_latest(history, 10) / 1e3,
	    (double)history_latest(history, 0) / 1e3); /* only for people */
}

/* check_store checks the store by the command. */
static void check_store(struct run *run)
{
	const char *argv[] = {
	    run->faults->command, "check", "--store", run->url, "--name", RUN_NAME, NULL};
	struct process check;

	process_start(&check, argv);
	if (!process_wait(&check) || check.code != 0)
		faults_fail(run->faults, "check: exit %d, %s%s", check.code,
			    stream_text(&check.out), stream_text(&check.err));
	process_free(&check);
}

/* await_empty waits until the store is empty. Operations whose answer a client has lost are applied
 * by then, if at all. */
static void await_empty(struct run *run)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	long long stored = run_stored(run);

	while (stored != 0 && faults_now() < until) {
		run_pass(run, PAUSE);
		stored = run_stored(run);
	}
	if (stored == 0)
		return;
	faults_fail(run->faults, "%lld timers are left in the end", stored);
	show_left(run);
}

void run_end(struct run *run)
{
	for (unsigned i = PLAN_CLIENT; i < PLAN_HANDS; i++)
		if (run->actors[i].life && !run->actors[i].is_owner)
			end_actor(run, &run->actors[i]);
	await_empty(run);
	for (unsigned i = 0; i < PLAN_HANDS; i++)
		if (run->actors[i].life)
			end_actor(run, &run->actors[i]);
}

void run_close(struct run *run)
{
	run_end(run);
	check_store(run);
	show(run);
	(void)history_check(run->history, say, run); /* say() has reported the result */
	if (run->town)
		sentinel_town_end(run->town);
	else if (run->cluster)
		redis_cluster_end(run->cluster);
	else
		redis_server_end(&run->server);
	history_free(run->history);
	plan_free(&run->plan);
}

void run_finish(struct run *run)
{
	run_drain(run);
	run_close(run);
}
