#include "web/asks.h"

#include <string.h>

#include "web/asks_inside.h"
#include "cli/out/line.h"
#include "cli/out/nodes.h"
#include "cli/out/objects.h"
#include "cli/session.h"
#include "durawheel/metrics.h"
#include "durawheel/select.h"
#include "durawheel/topic.h"

#define SHARED_FOR DW_SECONDS(1)
#define COMING_FOR DW_SECONDS(10)
/* The longest wait for a walk. After that, the rows are shown that the walk has found so far. */
#define SCHEDULES_PATIENCE DW_MILLISECONDS(500)
void asks_open(struct asks *asks, dw *d, dw *lists, dw *owner)
{
	*asks = (struct asks){.d = d, .lists = lists, .owner = owner};
	for (size_t i = 0; i < ASKS_MAX; i++)
		asks->asks[i].asks = asks;
}

void asks_close(struct asks *asks)
{
	for (size_t i = 0; i < ASKS_MAX; i++) {
		json_decref(asks->asks[i].value);
		json_decref(asks->asks[i].list.rows);
	}
	json_decref(asks->kept.status);
	json_decref(asks->kept.topics);
	json_decref(asks->kept.coming);
	schedules_free(&asks->schedules);
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool is_same(const struct question *one, const struct question *other)
{
	return one->kind == other->kind && one->limit == other->limit &&
	       one->after.due == other->after.due &&
	       one->after.generation == other->after.generation &&
	       one->after.started == other->after.started && one->skip == other->skip &&
	       one->leaves_data == other->leaves_data && strcmp(one->name, other->name) == 0 &&
	       strcmp(one->prefix, other->prefix) == 0 && one->due_from == other->due_from &&
	       one->due_to == other->due_to;
}

/* shared_for returns how long an answer is shared. A list that took long is shared until the next
 * list may begin. So a page that is fetched every 2 s shows it without waiting. */
static dw_usec shared_for(const struct ask *ask)
{
	dw_usec pause = ASKS_LIST_PAUSE * (ask->answered - ask->began);

	if (ask->question.kind == ASK_COMING)
		return COMING_FOR;
	return asks_is_list(&ask->question) && ask->status == DW_OK && pause > SHARED_FOR
		   ? pause
		   : SHARED_FOR;
}

static bool is_fresh(const struct ask *ask, dw_usec steady)
{
	return ask->state == ASK_WAITING || ask->state == ASK_ASKED ||
	       (ask->state == ASK_ANSWERED && steady - ask->answered < shared_for(ask));
}

/* is_better_room returns true if `ask` may be reused and is free or older than `room`. An ask with
 * users or without an answer may not be reused. */
static bool is_better_room(const struct ask *ask, const struct ask *room)
{
	if (ask->users > 0 || ask->is_owed || ask->state == ASK_WAITING || ask->state == ASK_ASKED)
		return false;
	return !room || ask->state == ASK_FREE ||
	       (room->state != ASK_FREE && ask->answered < room->answered);
}

struct ask *asks_put(struct asks *asks, const struct question *question)
{
	dw_usec steady = session_steady();
	struct ask *room = NULL;
	size_t waiting = 0;

	for (size_t i = 0; i < ASKS_MAX; i++) {
		struct ask *ask = &asks->asks[i];

		if (is_fresh(ask, steady) && is_same(&ask->question, question)) {
			ask->users++;
			return ask;
		}
		if (is_better_room(ask, room))
			room = ask;
		waiting += ask->state == ASK_WAITING && asks_is_list(&ask->question);
	}
	if (!room || (asks_is_list(question) && waiting >= LISTS_WAITING_MAX))
		return NULL;
	json_decref(room->value);
	*room = (struct ask){.question = *question, .state = ASK_WAITING, .users = 1, .asks = asks};
	return room;
}

void asks_release(struct ask *ask)
{
	ask->users--;
	if (ask->users == 0 && ask->state == ASK_WAITING)
		ask->state = ASK_FREE;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void status_told(dw *d, int status, const dw_store_status *store, void *user)
{
	struct ask *ask = user;
	json_t *value = status == DW_OK ? object_of_status(store) : NULL;

	if (value)
		nodes_add(value, d);
	asks_note_status(ask->asks, value);
	asks_answer(ask, status, value);
}

/* append takes ownership of the object. Returns false if out of memory. */
static bool append(json_t *array, json_t *object)
{
	return array && object && json_array_append_new(array, object) == 0;
}

/* array_end returns the array. If it is incomplete, it frees the array and returns NULL. */
static json_t *array_end(json_t *array, bool is_whole)
{
	if (is_whole)
		return array;
	json_decref(array);
	return NULL;
}

static void topics_answered(dw *d, int status, const dw_topic_info *topics, size_t count,
			    void *user)
{
	json_t *array = status == DW_OK ? json_array() : NULL;
	bool is_whole = array != NULL;

	(void)d;
	for (size_t i = 0; i < count && is_whole; i++)
		is_whole = append(array, object_of_topic(&topics[i]));
	asks_answer(user, status, array_end(array, is_whole));
}

/* answer_metrics answers even if the store has failed, because the metrics include that failure. */
static void answer_metrics(struct ask *ask)
{
	json_t *text = NULL;
	int status = asks_metrics(ask->asks, &text);

	asks_answer(ask, status, text);
}

static void metrics_status_told(dw *d, int status, const dw_store_status *store, void *user)
{
	(void)d;
	(void)status;
	(void)store;
	answer_metrics(user);
}

/* metrics_asked waits for one more answer before it writes the metrics. The library asked the store
 * for its status and its topics before we did. It answers questions of the same kind in order, but
 * Redis may answer the topics before the status. Once our own question for the status is answered,
 * the library has both. */
static void metrics_asked(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)topics;
	(void)count;
	if (status == DW_OK && dw_get_status(d, metrics_status_told, user) == DW_OK)
		return;
	answer_metrics(user);
}

/* ---- Schedules ------------------------------------------------------------------------------- */

static void walk_told(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	struct asks *asks = user;

	(void)d;
	schedules_note(&asks->schedules, status, timers, count, next);
	asks_end_list(asks, asks->walk_began, asks_is_cut_off(asks) || status == DW_ESTORE);
}

/* walk_on reads the next page of the walk. */
static void walk_on(struct asks *asks, dw_usec steady)
{
	const struct schedules *schedules = &asks->schedules;
	const dw_select recurring = {.size = sizeof recurring, .recurring = 1};
	int status;

	asks->is_listing = true;
	asks->walk_began = steady;
	status =
	    dw_list(asks->lists, &recurring, schedules->cursor.started ? &schedules->cursor : NULL,
		    DW_LIST_MAX, walk_told, asks);
	if (status != DW_OK)
		walk_told(asks->lists, status, NULL, 0, NULL, asks);
}

/* answer_schedules answers when the walk is over or has taken SCHEDULES_PATIENCE. */
static void answer_schedules(struct ask *ask, dw_usec steady)
{
	struct schedules *schedules = &ask->asks->schedules;

	if (schedules_is_walking(schedules) && steady - ask->began < SCHEDULES_PATIENCE)
		return;
	if (schedules->status != DW_OK)
		asks_answer(ask, schedules->status, NULL);
	else
		asks_answer(ask, DW_OK,
			    schedules_value(schedules, ask->question.skip, ask->question.limit));
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* ask_metrics makes the handle of the metrics and the client ask the store. It waits only for the
 * client's answer. The owner has its numbers in memory, and its answer could arrive when the ask
 * does not exist any more. */
static int ask_metrics(dw *d, struct ask *ask)
{
	int status = dw_metrics(asks_metrics_handle(ask->asks), NULL, 0, NULL);

	if (status == DW_OK || status == DW_EBUSY)
		status = dw_metrics(d, NULL, 0, NULL);
	return status == DW_OK || status == DW_EBUSY ? dw_topic_list(d, NULL, metrics_asked, ask)
						     : status;
}

static int send_ask(dw *d, struct ask *ask)
{
	switch (ask->question.kind) {
	case ASK_STATUS:
		return dw_get_status(d, status_told, ask);
	case ASK_TOPICS:
		return dw_topic_list(d, NULL, topics_answered, ask);
	case ASK_METRICS:
		return ask_metrics(d, ask);
	case ASK_TIMER:
		return asks_timer(d, ask);
	case ASK_LETTER:
		return asks_letter(d, ask);
	case ASK_COMING:
		return asks_coming(d, ask);
	default:
		return asks_list(d, ask);
	}
}

/* may_list returns true if no list is being read and the pause after the last one is over. */
static bool may_list(const struct asks *asks, dw_usec steady)
{
	return !asks->is_listing && steady >= asks->list_at;
}

static void begin_ask(struct ask *ask, dw_usec steady)
{
	struct asks *asks = ask->asks;
	int status = DW_OK;

	ask->state = ASK_ASKED;
	ask->began = steady;
	if (asks_is_cut_off(asks)) {
		asks_fail(asks);
		return;
	}
	if (ask->question.kind == ASK_SCHEDULES) {
		schedules_want(&asks->schedules, steady);
		return;
	}
	asks->is_listing = asks->is_listing || asks_is_list(&ask->question);
	ask->is_owed = true;
	status = send_ask(asks_is_list(&ask->question) ? asks->lists : asks->d, ask);
	if (status != DW_OK)
		asks_answer(ask, status, NULL);
}

/* wake_of returns the steady time at which asks_turn() must look at the ask again. */
static dw_usec wake_of(const struct ask *ask)
{
	const struct asks *asks = ask->asks;

	if (ask->state == ASK_WAITING)
		return asks->is_listing ? DW_NEVER : asks->list_at;
	if (ask->state == ASK_ASKED && ask->question.kind == ASK_SCHEDULES)
		return ask->began + SCHEDULES_PATIENCE;
	return DW_NEVER;
}

/* free_stale frees an old answer that nobody reads, because it may be large. */
static void free_stale(struct ask *ask, dw_usec steady)
{
	if (ask->state != ASK_ANSWERED || ask->users > 0 || ask->is_owed || is_fresh(ask, steady))
		return;
	json_decref(ask->value);
	ask->value = NULL;
	ask->state = ASK_FREE;
}

dw_usec asks_turn(struct asks *asks)
{
	dw_usec steady = session_steady();
	dw_usec wake = asks_look(asks, steady);

	for (size_t i = 0; i < ASKS_MAX; i++) {
		struct ask *ask = &asks->asks[i];

		free_stale(ask, steady);
		if (ask->state == ASK_WAITING &&
		    (asks_is_cut_off(asks) || !asks_is_list(&ask->question) ||
		     may_list(asks, steady)))
			begin_ask(ask, steady);
		if (ask->state == ASK_ASKED && ask->question.kind == ASK_SCHEDULES)
			answer_schedules(ask, steady);
		if (wake_of(ask) < wake)
			wake = wake_of(ask);
	}
	if (!schedules_is_walking(&asks->schedules))
		return wake;
	if (may_list(asks, steady))
		walk_on(asks, steady);
	return asks->is_listing || asks->list_at > wake ? wake : asks->list_at;
}
