#include "faults/redis/replica.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "durawheel/rule.h"
#include "durawheel/topic.h"
#include "faults/faults.h"

#define JOBS "jobs"
#define SOONEST DW_MILLISECONDS(200) /* the shortest time from put to deadline */
#define LATEST DW_MILLISECONDS(1500)
#define TAKE_WAIT DW_MILLISECONDS(200)
enum { BATCH = 50, STEP_MS = 10, CLOSING_S = 30 };

struct replica {
	const struct replica_task *task;
	struct rng rng;
	dw *d;
	dw_usec began;
	uint64_t puts;
	unsigned asks; /* the number of takes and answers without an answer */
	char tokens[BATCH][DW_TOKEN_SIZE];
};

/* What signals have asked for. */
static volatile sig_atomic_t ends, is_quiet, stalls;

static void heard(int signal)
{
	if (signal == SIGTERM)
		ends = 1;
	else if (signal == SIGUSR1)
		is_quiet = 1;
	else
		stalls = 1;
}

static void listen_to(int signal)
{
	struct sigaction action = {.sa_handler = heard};

	(void)sigaction(signal, &action, NULL); /* cannot fail for these signals */
}

/* ---- Telling -------------------------------------------------------------------------------- */

/* put_answered reports a confirmed put. Other puts promise nothing. */
static void put_answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	if (result->status == DW_OK && dprintf(STDOUT_FILENO, "p %s\n", result->id) < 0)
		_exit(EXIT_FAILURE);
}

static void tell(char what, const char *id, dw_usec due, uint32_t attempt)
{
	if (dprintf(STDOUT_FILENO, "%c %s %" PRId64 " %" PRIu32 " %" PRId64 "\n", what, id, due,
		    attempt, faults_now()) < 0)
		_exit(EXIT_FAILURE);
}

static void logged(dw_log_level level, const char *line, void *user)
{
	(void)level;
	(void)user;
	if (dprintf(STDOUT_FILENO, "n %.300s\n", line) < 0)
		_exit(EXIT_FAILURE);
}

static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (dprintf(STDOUT_FILENO, "n %s: %.300s\n", dw_event_name(event->kind), event->message) <
	    0)
		_exit(EXIT_FAILURE);
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	tell('s', firing->id, firing->occurrence ? firing->occurrence : firing->due,
	     firing->attempt);
	return DW_DONE;
}

/* ---- Putting -------------------------------------------------------------------------------- */

static void put_one(struct replica *replica)
{
	bool is_job = replica->puts % 7 < 2;
	char id[DW_ID_SIZE];
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = is_job ? JOBS : "once",
			  .due = faults_now() + SOONEST +
				 (dw_usec)rng_below(&replica->rng, LATEST - SOONEST)};

	(void)snprintf(id, sizeof id, "%c%u.%" PRIu64, is_job ? 'j' : 'o', replica->task->life,
		       replica->puts++);                      /* it fits */
	(void)dw_put(replica->d, &timer, put_answered, NULL); /* only the answer counts */
}

/* put_due puts the timers that should have been put by now. */
static void put_due(struct replica *replica)
{
	dw_usec passed = faults_now() - replica->began;
	uint64_t due = (uint64_t)passed * replica->task->a_second / 1000000;

	for (unsigned i = 0; replica->puts < due && i < BATCH; i++)
		put_one(replica);
}

static int put_beats(struct replica *replica)
{
	dw_usec began = faults_now();
	dw_rule rule = {.size = sizeof rule, .every = REPLICA_EVERY, .missed = DW_MISSED_ALL};
	char id[DW_ID_SIZE];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "beat", .rule = &rule};
	int status = DW_OK;

	for (unsigned i = 0; i < replica->task->beats && status == DW_OK; i++) {
		(void)snprintf(id, sizeof id, "b0.%u", i); /* it fits */
		rule.start = began + (dw_usec)i * REPLICA_EVERY / REPLICA_BEATS;
		status = dw_put(replica->d, &timer, put_answered, NULL);
	}
	return status;
}

/* ---- Taking --------------------------------------------------------------------------------- */

static void answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	((struct replica *)user)->asks--;
	for (size_t i = 0; i < count; i++)
		if (results[i].status != DW_OK &&
		    dprintf(STDOUT_FILENO, "n answer %zu of %zu: %s\n", i, count,
			    dw_strerror(results[i].status)) < 0)
			_exit(EXIT_FAILURE);
}

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct replica *replica = user;
	const char *tokens[BATCH];
	dw_answer answer = {
	    .size = sizeof answer, .tokens = tokens, .count = count, .verdict = DW_DONE};

	replica->asks--;
	for (size_t i = 0; i < count; i++) {
		tell('t', messages[i].id, messages[i].due, messages[i].attempt);
		memcpy(replica->tokens[i], messages[i].token, strlen(messages[i].token) + 1);
		tokens[i] = replica->tokens[i];
	}
	if (status == DW_OK && count > 0 && dw_ack(d, &answer, answered, replica) == DW_OK)
		replica->asks++;
}

static void take(struct replica *replica)
{
	static const char *const topics[] = {JOBS};
	dw_take_options options = {.size = sizeof options,
				   .topics = topics,
				   .topic_count = 1,
				   .max = BATCH,
				   .wait_us = TAKE_WAIT};

	if (replica->asks == 0 && !ends && dw_take(replica->d, &options, taken, replica) == DW_OK)
		replica->asks++;
}

/* ---- Living --------------------------------------------------------------------------------- */

static void stall(void)
{
	struct timespec left = {.tv_sec = REPLICA_STALL / 1000000};

	stalls = 0;
	while (nanosleep(&left, &left) != 0)
		; /* a signal has interrupted it */
}

static void turn(struct replica *replica)
{
	struct pollfd ready = {.fd = dw_fd(replica->d), .events = POLLIN};

	(void)poll(&ready, 1, STEP_MS); /* a signal may interrupt it */
	if (dw_turn(replica->d) != DW_OK)
		_exit(EXIT_FAILURE);
	if (stalls)
		stall();
}

/* live runs the replica. At the end every taken message is answered. */
static void live(struct replica *replica)
{
	replica->began = faults_now();
	while (!ends || replica->asks > 0) {
		if (!ends && !is_quiet)
			put_due(replica);
		take(replica);
		turn(replica);
	}
}

/* open_store tries until the store opens, because a server on a busy machine may not answer in
 * time. */
static int open_store(struct replica *replica)
{
	dw_options options = {.size = sizeof options,
			      .store = replica->task->url,
			      .name = replica->task->name,
			      .role = DW_PEER,
			      .on_event = happened,
			      .on_log = logged};
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	char message[DW_MESSAGE_SIZE] = "";
	int status;

	while ((status = dw_open(&replica->d, &options, message)) != DW_OK && faults_now() < until)
		(void)poll(NULL, 0, STEP_MS); /* the loop tries again */
	if (status != DW_OK)
		(void)fprintf(stderr, "%s\n", message);
	return status;
}

static int set_up(struct replica *replica)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	int status = dw_on(replica->d, "*", fire, replica);

	if (status != DW_OK || replica->task->beats == 0)
		return status;
	status = dw_topic_set(replica->d, JOBS, &settings, NULL, NULL);
	if (status == DW_OK)
		status = put_beats(replica);
	return status == DW_OK ? dw_sync(replica->d, FAULTS_PATIENCE) : status;
}

int replica(void *user)
{
	struct replica replica = {.task = user, .rng.state = ((struct replica_task *)user)->life};
	int status;

	listen_to(SIGTERM);
	listen_to(SIGUSR1);
	listen_to(SIGUSR2);
	status = open_store(&replica);
	if (status == DW_OK)
		status = set_up(&replica);
	if (status != DW_OK || dprintf(STDOUT_FILENO, "r\n") < 0)
		return fprintf(stderr, "%s\n", dw_strerror(status)), EXIT_FAILURE;
	live(&replica);
	status = dw_close(replica.d, DW_SECONDS(CLOSING_S));
	if (status != DW_OK)
		(void)fprintf(stderr, "dw_close: %s\n", dw_strerror(status));
	return status == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
