/* A queue topic under load, and kill -9 at random moments: of the owner, of a consumer, and of
 * redis-server with appendfsync always. Every confirmation is true: a pushed message is taken, a
 * message that is done is not taken again, and only kills cause repeats. */
#include "faults/redis/queue_actor.h"
#include "faults/redis/redis_faults.h"
#include "faults/redis/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KILLS = 6, KILLS_LONG = 100, TAKERS = 2, PARTS = 2 + TAKERS, NUMBERS_MAX = 1 << 20 };
enum { ATTEMPTS_MAX = 64 };

#define SOONEST (DW_MILLISECONDS(30) * faults_slowness())
#define LATEST (DW_MILLISECONDS(700) * faults_slowness())
#define HIDE (DW_SECONDS(2) * faults_slowness())

/* What the test knows about one id. */
struct fate {
	uint64_t attempts; /* a bit for each attempt that was taken */
	uint32_t takes;
	uint32_t done; /* the attempt whose DW_DONE was confirmed; 0: none */
	bool confirmed;
};

struct queue_run {
	struct faults *faults;
	struct redis_server server;
	char url[RUN_URL_SIZE];
	struct process parts[PARTS];
	struct queue_task tasks[PARTS];
	bool ready[PARTS];
	struct fate *messages, *timers; /* arrays of NUMBERS_MAX elements */
	size_t back;                    /* messages that a consumer has asked to get again */
	size_t lost;                    /* messages that a kill may have taken from a consumer */
	size_t owner_kills, server_kills;
};

/* ---- What they tell ------------------------------------------------------------------------- */

static struct fate *fate_of(struct queue_run *run, const char *id)
{
	unsigned long number = strtoul(id + 1, NULL, 10);

	if ((id[0] != 'm' && id[0] != 't') || number >= NUMBERS_MAX) {
		faults_fail(run->faults, "not an id of ours: %s", id);
		return NULL;
	}
	return id[0] == 'm' ? &run->messages[number] : &run->timers[number];
}

/* take_taken records that a message was taken. A due timer may become two messages with one id if
 * its owner dies in between. */
static void take_taken(struct queue_run *run, const char *id, unsigned attempt)
{
	struct fate *fate = fate_of(run, id);

	if (!fate)
		return;
	fate->takes++;
	if (id[0] == 't')
		return;
	if (attempt == 0 || attempt >= ATTEMPTS_MAX || fate->attempts >> attempt & 1)
		faults_fail(run->faults, "%s: attempt %u was taken twice, or cannot be", id,
			    attempt);
	else
		fate->attempts |= UINT64_C(1) << attempt;
}

static void take_pushed(struct queue_run *run, uint64_t first, unsigned count)
{
	for (uint64_t i = first; i < first + count && i < NUMBERS_MAX; i++)
		run->messages[i].confirmed = true;
}

static void take_line(struct queue_run *run, unsigned part, const char *line)
{
	char id[32];
	uint64_t first;
	unsigned attempt;
	struct fate *fate;

	if (line[0] == 'r')
		run->ready[part] = true;
	else if (sscanf(line, "p %" SCNu64 " %u", &first, &attempt) == 2)
		take_pushed(run, first, attempt);
	else if (sscanf(line, "c %" SCNu64, &first) == 1 && first < NUMBERS_MAX)
		run->timers[first].confirmed = true;
	else if (sscanf(line, "t %31s %u", id, &attempt) == 2)
		take_taken(run, id, attempt);
	else if (sscanf(line, "b %31s %u", id, &attempt) == 2)
		run->back++;
	else if (sscanf(line, "d %31s %u", id, &attempt) == 2 && (fate = fate_of(run, id)))
		fate->done = attempt;
}

static void pass(struct queue_run *run, dw_usec duration)
{
	dw_usec until = faults_now() + duration;
	struct process *all[PARTS];
	const char *line;
	size_t size;

	for (unsigned i = 0; i < PARTS; i++)
		all[i] = &run->parts[i];
	do {
		process_poll(all, PARTS, until);
		for (unsigned i = 0; i < PARTS; i++)
			while ((line = stream_line(&run->parts[i].out, &size)))
				take_line(run, i, line);
	} while (faults_now() < until);
}

/* ---- Starting and killing ------------------------------------------------------------------- */

static void start(struct queue_run *run, unsigned part)
{
	run->ready[part] = false;
	run->tasks[part] =
	    (struct queue_task){.part = part < QUEUE_TAKER ? (enum queue_part)part : QUEUE_TAKER,
				.url = run->url,
				.name = RUN_NAME,
				.hide = HIDE,
				.seed = (unsigned)rng_next(&run->faults->rng)};
	process_fork(&run->parts[part], queue_actor, &run->tasks[part]);
}

static void await_ready(struct queue_run *run, unsigned part)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (!run->ready[part] && run->parts[part].pid != 0 && faults_now() < until)
		pass(run, DW_MILLISECONDS(5));
	if (!run->ready[part])
		faults_fail(run->faults, "part %u does not open the store: %s", part,
			    stream_text(&run->parts[part].err));
}

static void kill_part(struct queue_run *run, unsigned part)
{
	process_kill(&run->parts[part]);
	pass(run, 0);
	process_free(&run->parts[part]);
	start(run, part);
}

/* kill_one kills one process. The messages that a consumer has taken and not answered are taken
 * again. These are at most two takes, because a consumer takes more only after it has answered. */
static void kill_one(struct queue_run *run, unsigned which)
{
	if (which == QUEUE_PUSHER) {
		run->server_kills++;
		run->lost += TAKERS * QUEUE_BATCH;
		redis_server_kill(&run->server);
		redis_server_restart(&run->server);
		return;
	}
	if (which == QUEUE_OWNER)
		run->owner_kills++;
	else
		run->lost += QUEUE_BATCH;
	kill_part(run, which);
}

static void end_part(struct queue_run *run, unsigned part)
{
	struct process *process = &run->parts[part];

	(void)!write(process->in, "q", 1); /* the process may have ended */
	if (!process_wait(process))
		faults_fail(run->faults, "part %u does not end", part);
	pass(run, 0);
	if (process->code != 0)
		faults_fail(run->faults, "part %u: exit %d, %s", part, process->code,
			    stream_text(&process->err));
	process_free(process);
	*process = (struct process)PROCESS_NONE;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* is_empty returns true if the topic has no timer and no message left, according to the command. */
static bool is_empty(struct queue_run *run)
{
	const char *const argv[] = {run->faults->command,
				    "topic",
				    "show",
				    QUEUE_TOPIC,
				    "--json",
				    "--store",
				    run->url,
				    "--name",
				    RUN_NAME,
				    NULL};
	static const char *const none[] = {"\"pending\":0,", "\"due\":0,",   "\"running\":0,",
					   "\"waiting\":0,", "\"taken\":0,", "\"later\":0,"};
	struct process show;
	bool empty;
	const char *said;

	process_start(&show, argv);
	empty = process_wait(&show) && show.code == 0;
	said = stream_text(&show.out);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		empty = empty && said && strstr(said, none[i]);
	process_free(&show);
	return empty;
}

static bool is_unfinished(const struct fate *fate)
{
	return fate->confirmed && fate->takes == 0;
}

static size_t unfinished(const struct queue_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < NUMBERS_MAX; i++) {
		count += is_unfinished(&run->messages[i]);
		count += is_unfinished(&run->timers[i]);
	}
	return count;
}

/* drain waits until every confirmed message was taken, and the topic is empty. */
static void drain(struct queue_run *run)
{
	dw_usec until = faults_now() + 2 * FAULTS_PATIENCE;

	do
		pass(run, DW_MILLISECONDS(200));
	while ((unfinished(run) > 0 || !is_empty(run)) && faults_now() < until);
	if (unfinished(run) > 0)
		faults_fail(run->faults, "%zu confirmed were never taken", unfinished(run));
	if (faults_now() >= until)
		faults_fail(run->faults, "the topic does not become empty");
}

/* check_done checks that no attempt of a message comes after the attempt that was done. */
static void check_done(struct queue_run *run, size_t number)
{
	const struct fate *fate = &run->messages[number];

	if (fate->done > 0 && fate->attempts >> fate->done >> 1 != 0)
		faults_fail(run->faults, "m%zu: taken again after attempt %u was done", number,
			    fate->done);
}

static void check(struct queue_run *run)
{
	size_t pushed = 0, taken = 0, repeated = 0, timers = 0, doubled = 0;
	size_t may_repeat = run->lost + run->back;

	for (size_t i = 0; i < NUMBERS_MAX; i++) {
		const struct fate *message = &run->messages[i], *timer = &run->timers[i];

		check_done(run, i);
		pushed += message->confirmed;
		taken += message->takes;
		repeated += message->takes > 1 ? message->takes - 1 : 0;
		timers += timer->confirmed;
		doubled += timer->takes > 1 ? timer->takes - 1 : 0;
	}
	(void)printf("    %zu pushed, %zu taken (%zu repeated, %zu asked for), %zu timers (%zu "
		     "repeated); %zu kills of the owner, %zu of the server\n",
		     pushed, taken, repeated, run->back, timers, doubled, run->owner_kills,
		     run->server_kills); /* only for people */
	if (pushed == 0 || timers == 0)
		faults_fail(run->faults, "nothing was pushed, or put");
	if (repeated + doubled > may_repeat + 256 * (run->owner_kills + run->server_kills))
		faults_fail(run->faults, "%zu repeats: the kills explain at most %zu",
			    repeated + doubled, may_repeat);
}

static void end(struct queue_run *run)
{
	for (unsigned i = 0; i < PARTS; i++)
		process_free(&run->parts[i]);
	redis_server_end(&run->server);
	free(run->messages);
	free(run->timers);
}

void queues(struct faults *faults)
{
	static const char *const options[] = {"--appendonly", "yes", "--appendfsync", "always",
					      NULL};
	struct queue_run run = {.faults = faults,
				.messages = calloc(NUMBERS_MAX, sizeof *run.messages),
				.timers = calloc(NUMBERS_MAX, sizeof *run.timers)};

	if (!run.messages || !run.timers)
		abort(); /* out of memory */
	redis_server_start(&run.server, false, options);
	(void)snprintf(run.url, sizeof run.url, "unix://%s", run.server.path); /* the path fits */
	for (unsigned i = 0; i < PARTS; i++)
		run.parts[i] = (struct process)PROCESS_NONE;
	for (unsigned i = 0; i < PARTS; i++) {
		start(&run, i);
		await_ready(&run, i);
	}
	for (size_t i = faults_amount(faults, KILLS, KILLS_LONG); i > 0; i--) {
		pass(&run, faults_between(faults, SOONEST, LATEST));
		kill_one(&run, (unsigned)(i <= PARTS ? i - 1 : rng_below(&faults->rng, PARTS)));
	}
	end_part(&run, QUEUE_PUSHER);
	drain(&run);
	for (unsigned i = 0; i < PARTS; i++)
		if (i != QUEUE_PUSHER)
			end_part(&run, i);
	check(&run);
	end(&run);
}
