#include "faults/redis/queue_actor.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "durawheel/topic.h"
#include "faults/faults.h"

enum { PUSH_EVERY_MS = 5, TIMER_EVERY = 4, BACK_ONE_IN = 16, CLOSING_S = 30 };

/* Messages that are answered by one call. */
struct answered {
	struct queue_actor *actor;
	dw_verdict verdict;
	size_t count;
	char tokens[QUEUE_BATCH][DW_TOKEN_SIZE];
	char ids[QUEUE_BATCH][32];
	uint32_t attempts[QUEUE_BATCH];
};

struct queue_actor {
	const struct queue_task *task;
	struct rng rng;
	dw *d;
	uint64_t pushed, ticks, timers;
	bool pushes;       /* a push has no answer yet */
	unsigned asks;     /* the number of takes and answers without an answer */
	dw_usec not_until; /* no take before this time, after a failure */
	struct answered done, back;
};

static void tell(char what, const char *id, uint64_t number)
{
	if (dprintf(STDOUT_FILENO, "%c %s %" PRIu64 "\n", what, id, number) < 0)
		_exit(EXIT_FAILURE);
}

/* ---- Pushing -------------------------------------------------------------------------------- */

static void queue_pushed(dw *d, const dw_result *result, void *user)
{
	struct queue_actor *actor = user;

	(void)d;
	actor->pushes = false;
	if (result->status == DW_OK &&
	    dprintf(STDOUT_FILENO, "p %" PRIu64 " %d\n", actor->pushed, QUEUE_PUSHED) < 0)
		_exit(EXIT_FAILURE);
	actor->pushed += QUEUE_PUSHED; /* an unknown outcome uses them up, too */
}

static void queue_put(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	if (result->status == DW_OK)
		tell('c', result->id + 1, 0);
}

static void push(struct queue_actor *actor)
{
	dw_timer messages[QUEUE_PUSHED];
	char ids[QUEUE_PUSHED][32];

	for (size_t i = 0; i < QUEUE_PUSHED; i++) {
		(void)snprintf(ids[i], sizeof ids[i], "m%" PRIu64, actor->pushed + i);
		messages[i] =
		    (dw_timer){.size = sizeof *messages, .id = ids[i], .topic = QUEUE_TOPIC};
	}
	actor->pushes = dw_push(actor->d, messages, QUEUE_PUSHED, queue_pushed, actor) == DW_OK;
	if (actor->ticks++ % TIMER_EVERY != 0)
		return;
	(void)snprintf(ids[0], sizeof ids[0], "t%" PRIu64, actor->timers++);
	messages[0].due = faults_now() + DW_MILLISECONDS(100);
	(void)dw_put(actor->d, messages, queue_put, actor); /* an unconfirmed timer may be lost */
}

/* ---- Taking --------------------------------------------------------------------------------- */

static void queue_answered(dw *d, const dw_result *results, size_t count, void *user)
{
	struct answered *answered = user;

	(void)d;
	answered->actor->asks--;
	for (size_t i = 0; i < count && answered->verdict == DW_DONE; i++)
		if (results[i].status == DW_OK)
			tell('d', answered->ids[i], answered->attempts[i]);
}

static void answer(struct answered *answered)
{
	const char *tokens[QUEUE_BATCH];
	dw_answer answer = {.size = sizeof answer,
			    .tokens = tokens,
			    .count = answered->count,
			    .verdict = answered->verdict,
			    .retry_in = DW_MILLISECONDS(10)};

	if (answered->count == 0)
		return;
	for (size_t i = 0; i < answered->count; i++)
		tokens[i] = answered->tokens[i];
	if (dw_ack(answered->actor->d, &answer, queue_answered, answered) == DW_OK)
		answered->actor->asks++;
}

static void add(struct answered *answered, const dw_message *message)
{
	size_t at = answered->count++;

	memcpy(answered->tokens[at], message->token, strlen(message->token) + 1);
	(void)snprintf(answered->ids[at], sizeof answered->ids[at], "%s", message->id);
	answered->attempts[at] = message->attempt;
}

static void queue_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct queue_actor *actor = user;

	(void)d;
	actor->asks--;
	if (status != DW_OK)
		actor->not_until = faults_now() + DW_MILLISECONDS(20);
	actor->done.count = actor->back.count = 0;
	for (size_t i = 0; i < count; i++) {
		bool back = rng_below(&actor->rng, BACK_ONE_IN) == 0;

		tell('t', messages[i].id, messages[i].attempt);
		if (back)
			tell('b', messages[i].id, messages[i].attempt);
		add(back ? &actor->back : &actor->done, &messages[i]);
	}
	answer(&actor->done);
	answer(&actor->back);
}

static void take(struct queue_actor *actor)
{
	static const char *const topics[] = {QUEUE_TOPIC};
	dw_take_options options = {.size = sizeof options,
				   .topics = topics,
				   .topic_count = 1,
				   .max = QUEUE_BATCH,
				   .wait_us = DW_SECONDS(1)};

	if (actor->asks > 0 || faults_now() < actor->not_until)
		return;
	if (dw_take(actor->d, &options, queue_taken, actor) == DW_OK)
		actor->asks++;
}

/* ---- Living --------------------------------------------------------------------------------- */

/* open_store tries until the store opens, because the server may be away. */
static int open_store(struct queue_actor *actor)
{
	dw_options options = {.size = sizeof options,
			      .store = actor->task->url,
			      .name = actor->task->name,
			      .role = actor->task->part == QUEUE_OWNER ? DW_OWNER : DW_CLIENT};
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	char message[DW_MESSAGE_SIZE] = "";
	int status;

	while ((status = dw_open(&actor->d, &options, message)) != DW_OK && faults_now() < until)
		(void)poll(NULL, 0, 20); /* the loop tries again */
	if (status != DW_OK)
		(void)fprintf(stderr, "%s\n", message);
	return status;
}

/* set_topic makes the topic a queue, with enough retries for every kill. */
static int set_topic(struct queue_actor *actor)
{
	dw_topic_settings settings = {.size = sizeof settings,
				      .queue = 1,
				      .max = DW_QUEUE_MAX,
				      .overflow = DW_REFUSE,
				      .retries_max = 255,
				      .hide_us = actor->task->hide};

	return dw_topic_set(actor->d, QUEUE_TOPIC, &settings, NULL, NULL);
}

static void live(struct queue_actor *actor)
{
	struct pollfd ready[] = {{.fd = dw_fd(actor->d), .events = POLLIN},
				 {.fd = STDIN_FILENO, .events = POLLIN}};

	do {
		if (actor->task->part == QUEUE_PUSHER && !actor->pushes)
			push(actor);
		if (actor->task->part == QUEUE_TAKER)
			take(actor);
		if (poll(ready, 2, PUSH_EVERY_MS) < 0 || dw_turn(actor->d) != DW_OK)
			_exit(EXIT_FAILURE);
	} while (!ready[1].revents);
}

int queue_actor(void *user)
{
	struct queue_actor actor = {
	    .task = user, .done = {.verdict = DW_DONE}, .back = {.verdict = DW_RETRY}};
	int status;

	actor.done.actor = actor.back.actor = &actor;
	actor.rng.state = actor.task->seed;
	status = open_store(&actor);
	if (status == DW_OK && actor.task->part == QUEUE_OWNER)
		status = set_topic(&actor);
	if (status != DW_OK || dprintf(STDOUT_FILENO, "r\n") < 0)
		return EXIT_FAILURE;
	live(&actor);
	status = dw_close(actor.d, DW_SECONDS(CLOSING_S));
	if (status != DW_OK)
		(void)fprintf(stderr, "dw_close: %s\n", dw_strerror(status));
	return status == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
