#include "faults/redis/actor.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "faults/payload.h"
#include "support/history.h"

enum { HELD_MAX = 256, CLOSING_S = 30 };

/* The time of one part of the plan. */
struct moment {
	dw_usec at;
	size_t number;
	bool is_put;
};

struct actor {
	const struct actor_task *task;
	dw *d;
	struct moment *moments; /* sorted by time */
	size_t moment_count;
	size_t next;
	dw_token held[HELD_MAX];
	size_t held_count;
	dw_usec longest; /* the longest turn */
	bool closing;
};

/* ---- Telling -------------------------------------------------------------------------------- */

/* tell writes one line with one write(). The line is shorter than PIPE_BUF, so a kill never cuts
 * it. */
static void tell(enum history_kind kind, size_t number, const struct history_event *event)
{
	if (dprintf(STDOUT_FILENO,
		    "e %d %zu %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu32 " %d %" PRIx64 "\n",
		    (int)kind, number, faults_now(), event->due, event->generation, event->attempt,
		    event->status, event->digest) < 0)
		_exit(EXIT_FAILURE);
}

/* The value for the only actor of this process. */
static bool is_replicated;

static bool is_promised(const dw_result *result)
{
	return result->status != DW_OK || !is_replicated || result->level == DW_REPLICATED;
}

static void tell_answer(enum history_kind kind, const dw_result *result, void *user)
{
	struct history_event event = {.generation = result->generation,
				      .status = is_promised(result) ? result->status : DW_EUNKNOWN};

	(void)user;
	tell(kind, payload_number(result->id), &event);
}

static void put_answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	tell_answer(HISTORY_PUT_ANSWERED, result, user);
}

static void moved(dw *d, const dw_result *result, void *user)
{
	(void)d;
	tell_answer(HISTORY_MOVE_ANSWERED, result, user);
}

static void cancelled(dw *d, const dw_result *result, void *user)
{
	(void)d;
	tell_answer(HISTORY_CANCEL_ANSWERED, result, user);
}

static void settled(dw *d, const dw_result *result, void *user)
{
	struct history_event event = {.generation = result->generation};
	uint64_t generation = (uint64_t)(uintptr_t)user;

	(void)d;
	event.generation = generation;
	if (result->status == DW_OK && is_promised(result))
		tell(HISTORY_SETTLED, payload_number(result->id), &event);
}

static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (dprintf(STDOUT_FILENO, "o %d %" PRIu64 "\nn %.200s\n", (int)event->kind, event->count,
		    event->message) < 0)
		_exit(EXIT_FAILURE);
}

static void logged(dw_log_level level, const char *line, void *user)
{
	(void)level;
	(void)user;
	if (dprintf(STDOUT_FILENO, "n %.300s\n", line) < 0)
		_exit(EXIT_FAILURE);
}

/* ---- Firing --------------------------------------------------------------------------------- */

/* fire settles every third timer by hand, to learn when the settle is confirmed. */
static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct actor *actor = user;
	size_t number = payload_number(firing->id);
	struct history_event event = {.due = firing->due,
				      .generation = firing->token->generation,
				      .attempt = firing->attempt,
				      .digest = (uint64_t)firing->data_size << 32 |
						crc32c(0, firing->data, firing->data_size)};

	(void)d;
	tell(HISTORY_START, number, &event);
	if (number % 3 != 0 || actor->held_count == HELD_MAX)
		return DW_DONE;
	actor->held[actor->held_count++] = *firing->token;
	return DW_HOLD;
}

/* settle_held settles a held timer. DW_ESTALE means that the owner has lost the ownership. */
static void settle_held(struct actor *actor)
{
	for (size_t i = 0; i < actor->held_count; i++) {
		const dw_token *token = &actor->held[i];

		(void)dw_settle(actor->d, token, DW_DONE, -1, settled,
				(void *)(uintptr_t)token->generation); /* only the answer counts */
	}
	actor->held_count = 0;
}

/* ---- Doing ---------------------------------------------------------------------------------- */

static void do_put(struct actor *actor, size_t number)
{
	const struct plan *plan = actor->task->plan;
	unsigned char data[PAYLOAD_MAX];
	char id[DW_ID_MAX + 1];
	struct history_event event = {.due = plan->items[number].due,
				      .digest = plan_digest(plan, number)};
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = PAYLOAD_TOPIC,
			  .due = event.due,
			  .data = data,
			  .data_size = payload_data(plan->seed, number, data)};

	payload_id(number, id);
	tell(HISTORY_PUT, number, &event);
	event.status = dw_put(actor->d, &timer, put_answered, NULL);
	if (event.status != DW_OK)
		tell(HISTORY_PUT_ANSWERED, number, &event);
}

static void do_act(struct actor *actor, size_t number)
{
	const struct plan_item *item = &actor->task->plan->items[number];
	struct history_event event = {.due = item->moved_due};
	bool is_cancel = item->act == PLAN_CANCEL;
	char id[DW_ID_MAX + 1];

	payload_id(number, id);
	tell(is_cancel ? HISTORY_CANCEL : HISTORY_MOVE, number, &event);
	event.status = is_cancel ? dw_cancel(actor->d, id, cancelled, NULL)
				 : dw_move(actor->d, id, item->moved_due, moved, NULL);
	if (event.status != DW_OK)
		tell(is_cancel ? HISTORY_CANCEL_ANSWERED : HISTORY_MOVE_ANSWERED, number, &event);
}

static int by_time(const void *a, const void *b)
{
	const struct moment *one = a, *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

static void choose(struct actor *actor)
{
	const struct plan *plan = actor->task->plan;
	unsigned hand = actor->task->hand;

	actor->moments = calloc(2 * plan->count + 1, sizeof *actor->moments);
	if (!actor->moments)
		abort(); /* out of memory */
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_item *item = &plan->items[i];

		if (item->put_by == hand && !item->put_sent)
			actor->moments[actor->moment_count++] =
			    (struct moment){item->put_at, i, true};
		if (item->act_by == hand && !item->act_sent && item->act != PLAN_NONE)
			actor->moments[actor->moment_count++] =
			    (struct moment){item->act_at, i, false};
	}
	qsort(actor->moments, actor->moment_count, sizeof *actor->moments, by_time);
}

/* do_due does the operations that are due. Returns the time of the next one. */
static dw_usec do_due(struct actor *actor)
{
	for (int i = 0; actor->next < actor->moment_count && i < 256; i++) {
		const struct moment *moment = &actor->moments[actor->next];

		if (moment->at > faults_now())
			return moment->at;
		actor->next++;
		if (moment->is_put)
			do_put(actor, moment->number);
		else
			do_act(actor, moment->number);
	}
	return actor->next < actor->moment_count ? 0 : DW_NEVER;
}

/* ---- Living --------------------------------------------------------------------------------- */

static void timed_turn(struct actor *actor)
{
	dw_usec began = faults_now(), took;

	if (dw_turn(actor->d) != DW_OK)
		_exit(EXIT_FAILURE);
	took = faults_now() - began;
	if (took <= actor->longest)
		return;
	actor->longest = took;
	if (dprintf(STDOUT_FILENO, "s %" PRId64 "\n", took) < 0)
		_exit(EXIT_FAILURE);
}

static void live(struct actor *actor)
{
	while (!actor->closing) {
		struct pollfd ready[] = {{.fd = dw_fd(actor->d), .events = POLLIN},
					 {.fd = STDIN_FILENO, .events = POLLIN}};
		dw_usec next = do_due(actor);
		dw_usec left = next == DW_NEVER ? DW_SECONDS(1) : next - faults_now();
		struct timespec patience = {left / 1000000, left % 1000000 * 1000};

		if (left < 0)
			patience = (struct timespec){0};
		if (ppoll(ready, 2, &patience, NULL) < 0)
			_exit(EXIT_FAILURE);
		actor->closing = ready[1].revents != 0;
		timed_turn(actor);
		settle_held(actor);
	}
}

/* open_store tries until the store opens. The server may be away, or the death of the previous
 * owner may not be known yet. */
static int open_store(struct actor *actor)
{
	const struct actor_task *task = actor->task;
	dw_options options = {.size = sizeof options,
			      .store = task->url,
			      .name = task->name,
			      .role = task->role,
			      .lease_us = task->lease,
			      .journal = task->journal,
			      .outage = task->outage,
			      .on_event = happened,
			      .on_log = logged};
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	char message[DW_MESSAGE_SIZE] = "";
	int status;

	do {
		status = dw_open(&actor->d, &options, message);
		if (status != DW_OK && dprintf(STDOUT_FILENO, "n %s\n", message) < 0)
			return EXIT_FAILURE;
		if (status != DW_OK)
			(void)poll(NULL, 0, 20); /* the loop tries again */
	} while (status != DW_OK && faults_now() < until);
	if (status != DW_OK)
		(void)fprintf(stderr, "%s\n", message);
	return status == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int actor_main(void *user)
{
	struct actor actor = {.task = user};
	int status;

	is_replicated = actor.task->is_replicated;
	choose(&actor);
	if (open_store(&actor) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	status = dw_on(actor.d, PAYLOAD_TOPIC, fire, &actor);
	if (status == DW_EROLE)
		status = DW_OK; /* a client has no handlers */
	if (status != DW_OK || dprintf(STDOUT_FILENO, "r\n") < 0)
		return EXIT_FAILURE;
	live(&actor);
	status = dw_close(actor.d, DW_SECONDS(CLOSING_S));
	if (status != DW_OK)
		(void)fprintf(stderr, "dw_close: %s\n", dw_strerror(status));
	free(actor.moments);
	return status == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
