#include "faults/redis/replicas.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/redis/admin.h"

#define LOOK_EVERY DW_MILLISECONDS(5)
#define OUTAGE DW_SECONDS(10) /* its effects are within this time of its report */

static void *grown(void *block, size_t *room, size_t size, size_t wanted)
{
	size_t before = *room;

	if (wanted <= before)
		return block;
	*room = wanted * 2;
	block = realloc(block, *room * size);
	if (!block)
		abort(); /* out of memory */
	memset((char *)block + before * size, 0, (*room - before) * size);
	return block;
}

/* ---- What they tell ------------------------------------------------------------------------- */

static struct start_count *count_of(struct start_list *list, size_t number)
{
	list->all = grown(list->all, &list->count, sizeof *list->all, number + 1);
	return &list->all[number];
}

static void note_late(struct lateness *lateness, dw_usec late)
{
	lateness->all =
	    grown(lateness->all, &lateness->room, sizeof *lateness->all, lateness->count + 1);
	lateness->all[lateness->count++] = late;
}

static bool is_disturbed(const struct replicas *replicas, dw_usec at)
{
	for (size_t i = 0; i < replicas->disturbed_count; i++)
		if (at >= replicas->disturbed[i].from && at <= replicas->disturbed[i].until)
			return true;
	return false;
}

void replicas_fault(struct replicas *replicas, dw_usec from, dw_usec until)
{
	size_t last = replicas->disturbed_count - 1;

	if (replicas->disturbed_count > 0 && from <= replicas->disturbed[last].until) {
		if (replicas->disturbed[last].until < until)
			replicas->disturbed[last].until = until;
		return;
	}
	if (replicas->disturbed_count == FAULTS_MAX)
		abort();
	replicas->disturbed[last + 1].from = from;
	replicas->disturbed[last + 1].until = until;
	replicas->disturbed_count++;
}

/* occurrence_of returns the number of an occurrence since the test began. */
static size_t occurrence_of(const struct replicas *replicas, dw_usec due)
{
	return (size_t)((due - replicas->began) / REPLICA_EVERY);
}

/* find returns the counts of the id's timer. If the id is not one of ours, it fails the test and
 * returns NULL. */
static struct start_count *find(struct replicas *replicas, const char *id, dw_usec due)
{
	unsigned life;
	size_t number;
	char kind;

	if (sscanf(id, "%c%u.%zu", &kind, &life, &number) != 3 || life >= LIVES_MAX ||
	    number > 1u << 20 || (kind == 'b' && number >= REPLICA_BEATS)) {
		faults_fail(replicas->faults, "not an id of ours: %s", id);
		return NULL;
	}
	if (kind == 'b')
		return count_of(&replicas->beats[number], occurrence_of(replicas, due));
	return count_of(&replicas->timers[life], number);
}

static void note_repeat(struct replicas *replicas, const char *id, dw_usec due, unsigned attempt)
{
	struct repeat *repeat;

	if (replicas->repeated++ >= REPEATS_MAX)
		return; /* the earlier ones suffice for a message */
	repeat = &replicas->repeats[replicas->repeated - 1];
	repeat->due = due;
	repeat->attempt = attempt;
	(void)snprintf(repeat->id, sizeof repeat->id, "%s", id); /* it fits */
}

/* check_repeats fails the test if a timer started again and no fault was near. */
static void check_repeats(struct replicas *replicas)
{
	for (size_t i = 0; i < replicas->repeated && i < REPEATS_MAX; i++) {
		const struct repeat *repeat = &replicas->repeats[i];

		if (!is_disturbed(replicas, repeat->due))
			faults_fail(replicas->faults,
				    "%s started again (due %" PRId64 ", attempt %u)", repeat->id,
				    repeat->due, repeat->attempt);
	}
}

static void take_start(struct replicas *replicas, const char *line)
{
	struct start_count *count;
	dw_usec due, now;
	unsigned attempt;
	char id[DW_ID_SIZE];

	if (sscanf(line + 2, "%64s %" SCNd64 " %u %" SCNd64, id, &due, &attempt, &now) != 4) {
		faults_fail(replicas->faults, "not a start: %s", line);
		return;
	}
	if (now < due)
		faults_fail(replicas->faults, "%s started early", id);
	count = find(replicas, id, due);
	if (!count)
		return;
	note_late(line[0] == 's' ? &replicas->fired : &replicas->taken, now - due);
	if (count->starts++ > 0)
		note_repeat(replicas, id, due, attempt);
}

/* take_note writes a note of a replica to the file. If the machine is so busy that the server does
 * not answer in time, timers under way may start again, as after any outage. */
static void take_note(struct replicas *replicas, unsigned number, const char *note)
{
	dw_usec now = faults_now();

	(void)fprintf(replicas->notes, "%" PRId64 " replica %u, life %u: %s\n", now, number,
		      replicas->tasks[number].life, note); /* only for people */
	if (!strstr(note, "does not answer"))
		return;
	replicas->outages++;
	replicas_fault(replicas, now - OUTAGE, now + OUTAGE);
}

static void take_line(struct replicas *replicas, unsigned number, const char *line)
{
	struct start_count *count;

	if (line[0] == 'r') {
		replicas->ready[number] = true;
	} else if (line[0] == 'n') {
		take_note(replicas, number, line + 2);
	} else if (line[0] == 's' || line[0] == 't') {
		take_start(replicas, line);
	} else if (line[0] == 'p' && line[2] != 'b') {
		count = find(replicas, line + 2, 0);
		if (count)
			count->confirmed = true;
	}
}

static void take_lines(struct replicas *replicas)
{
	const char *line;
	size_t size;

	for (unsigned i = 0; i < REPLICAS_MAX; i++)
		while ((line = stream_line(&replicas->processes[i].out, &size)))
			take_line(replicas, i, line);
}

/* ---- The shards ----------------------------------------------------------------------------- */

static void note_free(struct replicas *replicas, unsigned shard, dw_usec now)
{
	dw_usec *since = &replicas->free_since[shard];

	*since = *since ? *since : now;
	if (now - *since <= replicas->longest_free)
		return;
	replicas->longest_free = now - *since;
	replicas->longest_shard = shard;
}

static void note_held(struct replicas *replicas, unsigned shard, const char *token)
{
	char *holder = replicas->holders[shard];

	replicas->free_since[shard] = 0;
	if (strncmp(holder, token, sizeof replicas->holders[shard] - 1) == 0)
		return;
	replicas->moves += holder[0] != '\0';
	(void)snprintf(holder, sizeof replicas->holders[shard], "%s", token); /* it fits */
}

/* ask_leases returns the leases of all shards in order, or NULL if the server is away. */
static redisReply *ask_leases(const struct replicas *replicas)
{
	char names[RUN_SHARDS][32];
	const char *words[1 + RUN_SHARDS] = {"MGET"};

	for (unsigned i = 0; i < RUN_SHARDS; i++) {
		(void)snprintf(names[i], sizeof names[i], "{" REPLICAS_NAME ":%02u}:l", i);
		words[1 + i] = names[i];
	}
	return redisCommandArgv(replicas->watch, 1 + RUN_SHARDS, words, NULL);
}

static void look_at_shards(struct replicas *replicas)
{
	redisReply *leases = replicas->watches ? ask_leases(replicas) : NULL;
	dw_usec now = faults_now();

	for (unsigned i = 0; leases && i < leases->elements && i < RUN_SHARDS; i++) {
		if (leases->element[i]->type == REDIS_REPLY_STRING)
			note_held(replicas, i, leases->element[i]->str);
		else
			note_free(replicas, i, now);
	}
	freeReplyObject(leases);
}

unsigned replicas_held(const struct replicas *replicas)
{
	redisReply *leases = ask_leases(replicas);
	unsigned held = 0;

	for (size_t i = 0; leases && i < leases->elements; i++)
		held += leases->element[i]->type == REDIS_REPLY_STRING;
	freeReplyObject(leases);
	return held;
}

/* ---- Time ----------------------------------------------------------------------------------- */

void replicas_pass(struct replicas *replicas, dw_usec duration)
{
	dw_usec until = faults_now() + duration, looked = 0;
	struct process *all[REPLICAS_MAX];

	for (unsigned i = 0; i < REPLICAS_MAX; i++)
		all[i] = &replicas->processes[i];
	do {
		process_poll(all, REPLICAS_MAX, faults_now() + LOOK_EVERY);
		take_lines(replicas);
		if (faults_now() - looked < LOOK_EVERY)
			continue;
		look_at_shards(replicas);
		looked = faults_now();
	} while (faults_now() < until);
}

/* ---- Starting and ending -------------------------------------------------------------------- */

void replicas_start(struct replicas *replicas, unsigned number, const char *user)
{
	struct replica_task *task = &replicas->tasks[number];
	static char urls[REPLICAS_MAX][RUN_URL_SIZE + 32];

	(void)snprintf(urls[number], sizeof urls[number], "unix://%s%s%s", user ? user : "",
		       user ? ":word@" : "", replicas->server.path); /* it fits */
	*task = (struct replica_task){.url = urls[number],
				      .name = REPLICAS_NAME,
				      .life = ++replicas->lives,
				      .a_second = replicas->a_second,
				      .beats = replicas->lives == 1 ? replicas->beat_count : 0};
	if (replicas->lives >= LIVES_MAX)
		abort();
	replicas->ready[number] = false;
	process_fork(&replicas->processes[number], replica, task);
}

bool replicas_wait_ready(struct replicas *replicas, unsigned number)
{
	const struct process *process = &replicas->processes[number];
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (!replicas->ready[number] && process->pid != 0 && faults_now() < until)
		replicas_pass(replicas, LOOK_EVERY);
	if (!replicas->ready[number])
		faults_fail(replicas->faults, "replica %u does not open the store: %s", number,
			    stream_text(&replicas->processes[number].err));
	return replicas->ready[number];
}

void replicas_stop(struct replicas *replicas, unsigned number)
{
	struct process *process = &replicas->processes[number];
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	process_signal(process, SIGTERM);
	while (process->pid != 0 && faults_now() < until)
		replicas_pass(replicas, LOOK_EVERY);
	if (process->pid != 0)
		faults_fail(replicas->faults, "replica %u does not end", number);
	process_kill(process);
	take_lines(replicas);
	if (process->code != 0)
		faults_fail(replicas->faults, "replica %u: exit %d, %s", number, process->code,
			    stream_text(&process->err));
	process_free(process);
	*process = (struct process)PROCESS_NONE;
}

void replicas_kill(struct replicas *replicas, unsigned number)
{
	struct process *process = &replicas->processes[number];

	process_kill(process);
	take_lines(replicas);
	process_free(process);
	*process = (struct process)PROCESS_NONE;
}

/* are_shared returns true if all shards have an owner and the members are known. */
static bool are_shared(const struct replicas *replicas)
{
	redisReply *ends = admin_ask(&replicas->server, "HVALS {" REPLICAS_NAME ":00}:O");
	bool shared = ends && ends->elements > 0 && replicas_held(replicas) == RUN_SHARDS;

	freeReplyObject(ends);
	return shared;
}

void replicas_begin(struct replicas *replicas, struct faults *faults, unsigned count,
		    unsigned a_second)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	unsigned slow = (unsigned)faults_slowness();
	char notes[TEMP_SIZE];

	*replicas = (struct replicas){.faults = faults,
				      .a_second = a_second / count / slow,
				      .beat_count = REPLICA_BEATS / slow,
				      .began = faults_now()};
	for (unsigned i = 0; i < REPLICAS_MAX; i++)
		replicas->processes[i] = (struct process)PROCESS_NONE;
	replicas->notes = fopen(temp_file(notes, faults->folder, "notes"), "w");
	if (!replicas->notes)
		abort();
	redis_server_start(&replicas->server, false, NULL);
	replicas->watch = redisConnectUnix(replicas->server.path);
	if (!replicas->watch || replicas->watch->err)
		abort(); /* the test cannot continue */
	for (unsigned i = 0; i < count; i++) {
		replicas_start(replicas, i, NULL);
		(void)replicas_wait_ready(replicas, i); /* it complains itself */
	}
	while (!are_shared(replicas) && faults_now() < until)
		replicas_pass(replicas, DW_MILLISECONDS(50));
	replicas_pass(replicas, DW_SECONDS(5) * faults_slowness()); /* for the last replicas */
	replicas->watches = true;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* lost_timers returns how many confirmed timers have neither started nor become a message that was
 * taken. */
static size_t lost_timers(const struct replicas *replicas)
{
	size_t lost = 0;

	for (unsigned life = 0; life < LIVES_MAX; life++) {
		const struct start_list *list = &replicas->timers[life];

		for (size_t i = 0; i < list->count; i++)
			lost += list->all[i].confirmed && list->all[i].starts == 0;
	}
	return lost;
}

/* check_beat checks that each occurrence of a recurring timer was delivered, from its first
 * delivery to its last one. The last one must be later than the occurrence `until`. */
static void check_beat(struct replicas *replicas, unsigned beat, size_t until)
{
	const struct start_list *list = &replicas->beats[beat];
	size_t first = 0, last = list->count;

	while (first < list->count && list->all[first].starts == 0)
		first++;
	while (last > first && list->all[last - 1].starts == 0)
		last--;
	if (last <= until)
		faults_fail(replicas->faults, "b0.%u stopped at its occurrence %zu of %zu", beat,
			    last, until);
	for (size_t i = first; i < last; i++)
		if (list->all[i].starts == 0)
			faults_fail(replicas->faults, "b0.%u: its occurrence %zu is lost", beat, i);
}

static int by_size(const void *a, const void *b)
{
	const dw_usec *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static void show_late(struct lateness *lateness, const char *what)
{
	const dw_usec *all = lateness->all;
	size_t count = lateness->count;

	if (count == 0)
		return;
	qsort(lateness->all, count, sizeof *all, by_size);
	(void)printf("    %zu %s, late by %.2f ms (half), %.1f ms (99 %%), %.0f ms\n", count, what,
		     (double)all[count / 2] / 1e3, (double)all[count - 1 - count / 100] / 1e3,
		     (double)all[count - 1] / 1e3); /* only for people */
}

static void show(struct replicas *replicas, size_t lost)
{
	show_late(&replicas->fired, "starts");
	show_late(&replicas->taken, "messages of timers");
	if (replicas->outages > 0)
		(void)printf("    the server did not answer in time: noted %zu times\n",
			     replicas->outages); /* only for people */
	(void)printf("    %zu lost, %zu started again; shards had another owner %zu times, and "
		     "none for at most %.0f ms (shard %u)\n",
		     lost, replicas->repeated, replicas->moves,
		     (double)replicas->longest_free / 1e3,
		     replicas->longest_shard); /* only for people */
}

static void drain(struct replicas *replicas)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	for (unsigned i = 0; i < REPLICAS_MAX; i++)
		process_signal(&replicas->processes[i], SIGUSR1);
	do
		replicas_pass(replicas, DW_SECONDS(1));
	while (lost_timers(replicas) > 0 && faults_now() < until);
}

static void end(struct replicas *replicas)
{
	(void)fclose(replicas->notes); /* only for people */
	redisFree(replicas->watch);
	redis_server_end(&replicas->server);
	for (unsigned i = 0; i < LIVES_MAX; i++)
		free(replicas->timers[i].all);
	for (unsigned i = 0; i < REPLICA_BEATS; i++)
		free(replicas->beats[i].all);
	free(replicas->fired.all);
	free(replicas->taken.all);
}

void replicas_finish(struct replicas *replicas, dw_usec free_max)
{
	size_t until, lost;

	drain(replicas);
	until = occurrence_of(replicas, faults_now() - FAULTS_PATIENCE / 20);
	replicas->watches = false;
	for (unsigned i = 0; i < REPLICAS_MAX; i++)
		if (replicas->processes[i].pid != 0)
			replicas_stop(replicas, i);
	check_repeats(replicas);
	lost = lost_timers(replicas);
	if (lost > 0)
		faults_fail(replicas->faults, "%zu confirmed timers never started", lost);
	for (unsigned i = 0; i < replicas->beat_count; i++)
		check_beat(replicas, i, until);
	if (replicas->longest_free > free_max)
		faults_fail(replicas->faults, "shard %u had no owner for %.1f s",
			    replicas->longest_shard, (double)replicas->longest_free / 1e6);
	show(replicas, lost);
	end(replicas);
}
