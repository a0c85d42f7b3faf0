#include "support/history_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS_MAX 1024 /* the largest number of calls for one timer */
/* A new server has an owner at the latest so long after its first command. */
#define OWNED_AFTER DW_SECONDS(60)

/* A call and its answer. If `answered` is NULL, the outcome is unknown. */
struct call {
	const struct history_event *sent;
	const struct history_event *answered;
};

/* All events of one timer, sorted by time. */
struct life {
	const struct history *history;
	const struct history_event *events;
	size_t count;
	struct call calls[CALLS_MAX];
	size_t call_count;
	history_say_fn say;
	void *user;
	size_t broken;
};

static void *grow(void *block, size_t *capacity, size_t size)
{
	*capacity = *capacity ? *capacity * 2 : 64;
	block = realloc(block, *capacity * size);
	if (!block)
		abort(); /* a test cannot continue without memory */
	return block;
}

struct history *history_new(void)
{
	struct history *history = calloc(1, sizeof *history);

	if (!history)
		abort(); /* a test cannot continue without memory */
	return history;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	free(history->events);
	free(history->faults);
	free(history->replaced);
	free(history);
}

void history_add(struct history *history, const struct history_event *event)
{
	if (history->count == history->capacity)
		history->events =
		    grow(history->events, &history->capacity, sizeof *history->events);
	history->events[history->count++] = *event;
	history->counts[event->kind]++;
}

static void add_fault(struct fault **list, size_t *count, size_t *capacity, struct fault fault)
{
	if (*count == *capacity)
		*list = grow(*list, capacity, sizeof **list);
	(*list)[(*count)++] = fault;
}

void history_fault_in(struct history *history, uint64_t parts, dw_usec from, dw_usec until)
{
	add_fault(&history->faults, &history->fault_count, &history->fault_capacity,
		  (struct fault){from, until, parts});
}

void history_fault(struct history *history, dw_usec from, dw_usec until)
{
	history_fault_in(history, HISTORY_ALL, from, until);
}

size_t history_replaced_in(struct history *history, uint64_t parts, dw_usec from, dw_usec until)
{
	size_t kept = 0, count = 0;

	add_fault(&history->replaced, &history->replaced_count, &history->replaced_capacity,
		  (struct fault){from, until, parts});
	for (size_t i = 0; i < history->count; i++) {
		struct history_event *event = &history->events[i];
		bool is_concerned = event->at >= from && event->at < until && !event->is_safe &&
				    history_is_in(history, parts, event->number);
		bool is_settled = event->kind == HISTORY_SETTLED;

		if (is_concerned && event->kind >= HISTORY_PUT_ANSWERED &&
		    event->kind <= HISTORY_CANCEL_ANSWERED &&
		    (event->status == DW_OK || event->status == DW_ENOENT)) {
			event->status = DW_EUNKNOWN;
			count++;
		}
		count += is_concerned && is_settled;
		if (!is_concerned || !is_settled)
			history->events[kept++] = *event;
	}
	history->count = kept;
	return count;
}

size_t history_replaced(struct history *history, dw_usec from, dw_usec until)
{
	return history_replaced_in(history, HISTORY_ALL, from, until);
}

/* faults_between returns the number of faults of the timer that overlap this time. */
static size_t faults_between(const struct history *history, size_t number, dw_usec from,
			     dw_usec until)
{
	size_t count = 0;

	for (size_t i = 0; i < history->fault_count; i++)
		if (history->faults[i].from <= until && history->faults[i].until >= from &&
		    history_is_in(history, history->faults[i].parts, number))
			count++;
	return count;
}

/* ---- One timer ----------------------------------------------------------------------------- */

const char *history_broken_name(enum history_broken broken)
{
	static const char *const names[HISTORY_BROKEN_KINDS] = {
	    "early (I1)", "lost (I2)",      "started after a confirmed cancel (I3)",
	    "moved (I3)", "gone (I3)",      "started after a confirmed settlement (I4)",
	    "too often",  "attempt",        "phantom (I10)",
	    "wrong data", "wrong deadline", "answers"};

	return names[broken];
}

static void tell(struct life *life, enum history_broken broken, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(struct life *life, enum history_broken broken, const char *format, ...)
{
	char line[512];
	int size = snprintf(line, sizeof line, "number %zu: %s: ", life->events[0].number,
			    history_broken_name(broken));
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line + size, sizeof line - (size_t)size, format, arguments); /* or cut */
	va_end(arguments);
	life->broken++;
	if (life->say)
		life->say(life->user, broken, life->events[0].number, line);
}

static void pair(struct life *life, const struct history_event *answer)
{
	enum history_kind kind = answer->kind - HISTORY_PUT_ANSWERED + HISTORY_PUT;

	for (size_t i = 0; i < life->call_count; i++) {
		struct call *call = &life->calls[i];

		if (call->sent->kind == kind && call->sent->process == answer->process &&
		    !call->answered) {
			call->answered = answer;
			return;
		}
	}
	tell(life, HISTORY_ANSWERS, "process %u was answered %d, and had asked nothing",
	     answer->process, answer->status);
}

static void find_calls(struct life *life)
{
	for (size_t i = 0; i < life->count; i++) {
		const struct history_event *event = &life->events[i];

		if (event->kind <= HISTORY_CANCEL) {
			if (life->call_count == CALLS_MAX)
				abort(); /* no test makes more calls for a timer */
			life->calls[life->call_count++] = (struct call){event, NULL};
		} else if (event->kind <= HISTORY_CANCEL_ANSWERED) {
			pair(life, event);
		}
	}
}

static bool is_unknown(const struct call *call)
{
	return !call->answered || call->answered->status == DW_EUNKNOWN;
}

static bool has_status(const struct call *call, enum history_kind kind, int status)
{
	return call->sent->kind == kind && call->answered && call->answered->status == status;
}

/* is_wish returns true for a call that sets a deadline and may have been carried out. */
static bool is_wish(const struct call *call)
{
	return call->sent->kind != HISTORY_CANCEL &&
	       (is_unknown(call) || call->answered->status == DW_OK);
}

/* is_replaced returns true if a server of the timer was replaced in this time. What that server did
 * may be lost. */
static bool is_replaced(const struct history *history, size_t number, dw_usec from, dw_usec until)
{
	for (size_t i = 0; i < history->replaced_count; i++)
		if (history->replaced[i].from <= until && history->replaced[i].until > from &&
		    history_is_in(history, history->replaced[i].parts, number))
			return true;
	return false;
}

/* was_repeated returns true if the start may belong to the call although their generations differ.
 * Either the call came to a new server before its first owner did, and that owner gave the clients'
 * writes other numbers. Or the call was repeated at another server. */
static bool was_repeated(const struct life *life, const struct call *call,
			 const struct history_event *start)
{
	if (call->answered->generation < start->generation &&
	    is_replaced(life->history, start->number, call->sent->at - OWNED_AFTER, start->at))
		return true;
	return start->at < call->answered->at &&
	       is_replaced(life->history, start->number, start->at, start->at);
}

/* find_wish returns the put or move that a start belongs to, or NULL. A put whose answer was lost
 * may be confirmed without its generation, if its timer no longer exists. A process with a journal
 * that returns a timer to the store may make a later generation with the same deadline. */
static const struct call *find_wish(const struct life *life, const struct history_event *start)
{
	for (size_t i = 0; i < life->call_count; i++) {
		const struct call *call = &life->calls[i];

		if (is_wish(call) && call->sent->due == start->due &&
		    (is_unknown(call) || call->answered->generation == 0 ||
		     call->answered->generation == start->generation ||
		     was_repeated(life, call, start) ||
		     (life->history->has_journals &&
		      call->answered->generation < start->generation)))
			return call;
	}
	return NULL;
}

static const struct call *find_put(const struct life *life)
{
	for (size_t i = 0; i < life->call_count; i++)
		if (life->calls[i].sent->kind == HISTORY_PUT && is_wish(&life->calls[i]))
			return &life->calls[i];
	return NULL;
}

/* ---- One start ----------------------------------------------------------------------------- */

/* was_known returns true if the wish was confirmed before the call was made. Then the call is about
 * the timer of that wish. */
static bool was_known(const struct call *wish, const struct call *call)
{
	return !is_unknown(wish) && wish->answered->at <= call->sent->at;
}

/* came_after returns true if the start certainly followed a confirmation at this time. Without a
 * fault in between it did: after a start the timer is settled, or cancels and moves are refused. */
static bool came_after(const struct life *life, const struct history_event *start, dw_usec at)
{
	return start->at > at || faults_between(life->history, start->number, start->at, at) == 0;
}

/* is_hidden returns true if the put was in the journal of its process and another process made the
 * call. */
static bool is_hidden(const struct call *wish, const struct call *call)
{
	return wish->answered && wish->answered->status == DW_OK &&
	       wish->answered->generation == 0 && wish->sent->process != call->sent->process;
}

/* has_doubt returns true if the timer was started before the call, or was cancelled with an unknown
 * outcome. The journal of that process knows what it has done, but another owner may know nothing
 * of it. */
static bool has_doubt(const struct life *life, const struct call *call)
{
	if (!life->history->has_journals)
		return false;
	for (const struct history_event *event = life->events; event < call->sent; event++)
		if (event->kind == HISTORY_START)
			return true;
	for (const struct call *each = life->calls; each < call; each++)
		if (each->sent->kind == HISTORY_CANCEL && is_unknown(each))
			return true;
	return false;
}

static void check_call(struct life *life, const struct history_event *start,
		       const struct call *wish, const struct call *call)
{
	const struct history_event *answer = call->answered;

	if (!answer || !was_known(wish, call))
		return;
	if (has_status(call, HISTORY_CANCEL, DW_OK) && came_after(life, start, answer->at))
		tell(life, HISTORY_CANCELLED, "%" PRId64 " us after it, attempt %" PRIu32,
		     start->at - answer->at, start->attempt);
	if (has_status(call, HISTORY_MOVE, DW_OK) && start->generation < answer->generation &&
	    came_after(life, start, answer->at))
		tell(life, HISTORY_MOVED,
		     "started %" PRId64 " us after the move was confirmed, generation %" PRIu64,
		     start->at - answer->at, start->generation);
	if (call != wish && answer->status == DW_ENOENT && start->at > answer->at &&
	    !is_hidden(wish, call) && !has_doubt(life, call))
		tell(life, HISTORY_GONE, "started %" PRId64 " us after that",
		     start->at - answer->at);
}

static void check_settled(struct life *life, const struct history_event *start)
{
	for (const struct history_event *event = life->events; event < start; event++)
		if (event->kind == HISTORY_SETTLED && event->generation == start->generation)
			tell(life, HISTORY_AGAIN, "%" PRId64 " us after it, attempt %" PRIu32,
			     start->at - event->at, start->attempt);
}

/* has_unknown_move returns true if a move has an unknown outcome. The journal that has the move may
 * carry it out while another journal has the attempts of the earlier generation. */
static bool has_unknown_move(const struct life *life)
{
	if (!life->history->has_journals)
		return false;
	for (size_t i = 0; i < life->call_count; i++)
		if (life->calls[i].sent->kind == HISTORY_MOVE && is_unknown(&life->calls[i]))
			return true;
	return false;
}

/* was_put_again returns true if a server was replaced while the put had no answer. The next server
 * may then have got the timer twice: from its last owner, and from the caller again. */
static bool was_put_again(const struct life *life, const struct history_event *start,
			  const struct history_event *before)
{
	const struct history *history = life->history;
	const struct call *put = find_put(life);

	if (start->generation == before->generation || !put ||
	    (!is_unknown(put) && put->answered->at < before->at))
		return false;
	return is_replaced(history, start->number, put->sent->at, before->at);
}

static void check_before(struct life *life, const struct history_event *start, size_t starts,
			 const struct history_event *before)
{
	const struct history *history = life->history;

	if (start->attempt <= before->attempt &&
	    !is_replaced(history, start->number, before->at, before->at) &&
	    !was_put_again(life, start, before) &&
	    (start->generation == before->generation || !has_unknown_move(life)))
		tell(life, HISTORY_ATTEMPT, "%" PRIu32 " after %" PRIu32, start->attempt,
		     before->attempt);
	if (faults_between(history, start->number, before->at, start->at) == 0)
		tell(life, HISTORY_REPEATED,
		     "started by process %u and, %" PRId64 " us later and without a fault in "
		     "between, by process %u",
		     before->process, start->at - before->at, start->process);
	else if (starts > 1 + faults_between(history, start->number, INT64_MIN, start->at))
		tell(life, HISTORY_REPEATED, "started %zu times", starts);
}

static void check_start(struct life *life, const struct history_event *start)
{
	const struct call *put = find_put(life), *wish = find_wish(life, start);

	if (!put || put->sent->at > start->at) {
		tell(life, HISTORY_PHANTOM, "started for %" PRId64, start->due);
		return;
	}
	if (start->digest != put->sent->digest)
		tell(life, HISTORY_DATA, "%" PRIx64 " instead of %" PRIx64, start->digest,
		     put->sent->digest);
	if (start->at < start->due)
		tell(life, HISTORY_EARLY, "%" PRId64 " us", start->due - start->at);
	if (!wish)
		tell(life, HISTORY_DEADLINE, "started for %" PRId64 ", generation %" PRIu64,
		     start->due, start->generation);
	else
		for (size_t i = 0; i < life->call_count; i++)
			check_call(life, start, wish, &life->calls[i]);
	check_settled(life, start);
}

static void check_starts(struct life *life)
{
	const struct history_event *before = NULL;
	size_t starts = 0;

	for (size_t i = 0; i < life->count; i++) {
		const struct history_event *start = &life->events[i];

		if (start->kind != HISTORY_START)
			continue;
		check_start(life, start);
		starts++;
		if (before)
			check_before(life, start, starts, before);
		before = start;
	}
}

/* ---- The end of one ------------------------------------------------------------------------ */

/* last_confirmed returns the confirmed put or move with the highest generation. */
static const struct call *last_confirmed(const struct life *life)
{
	const struct call *last = NULL;

	for (size_t i = 0; i < life->call_count; i++) {
		const struct call *call = &life->calls[i];

		if (is_wish(call) && !is_unknown(call) &&
		    (!last || call->answered->generation > last->answered->generation))
			last = call;
	}
	return last;
}

/* may_have_cancelled returns true if the cancel is confirmed or may have been carried out. A client
 * that has lost the answer to a cancel repeats it, and learns that there is no such timer. */
static bool may_have_cancelled(const struct life *life, const struct call *call)
{
	if (call->sent->kind != HISTORY_CANCEL)
		return false;
	if (is_unknown(call) || call->answered->status == DW_OK)
		return true;
	return call->answered->status == DW_ENOENT &&
	       faults_between(life->history, call->sent->number, call->sent->at,
			      call->answered->at) > 0;
}

static bool may_be_missing(const struct life *life)
{
	for (size_t i = 0; i < life->call_count; i++)
		if (may_have_cancelled(life, &life->calls[i]))
			return true;
	return false;
}

static void check_end(struct life *life)
{
	const struct call *last = last_confirmed(life);

	if (!last || may_be_missing(life))
		return;
	for (size_t i = 0; i < life->count; i++)
		if (life->events[i].kind == HISTORY_START &&
		    life->events[i].generation >= last->answered->generation)
			return;
	tell(life, HISTORY_LOST,
	     "due %" PRId64 ", confirmed by process %u with generation %" PRIu64, last->sent->due,
	     last->sent->process, last->answered->generation);
}

/* ---- All of it ------------------------------------------------------------------------------ */

/* by_number sorts events by timer, then by time. A call comes before its effects. */
static int by_number(const void *a, const void *b)
{
	const struct history_event *one = a, *other = b;

	if (one->number != other->number)
		return one->number < other->number ? -1 : 1;
	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return (int)one->kind - (int)other->kind;
}

/* next_life returns the events of the first timer from index `from` on. */
static struct life next_life(const struct history *history, size_t from)
{
	struct life life = {.history = history, .events = &history->events[from]};

	while (from + life.count < history->count &&
	       life.events[life.count].number == life.events[0].number)
		life.count++;
	return life;
}

static void sort(struct history *history)
{
	if (history->count > 0)
		qsort(history->events, history->count, sizeof *history->events, by_number);
}

void history_journals(struct history *history)
{
	history->has_journals = true;
}

size_t history_check(struct history *history, history_say_fn say, void *user)
{
	size_t broken = 0;

	sort(history);
	for (size_t from = 0; from < history->count;) {
		struct life life = next_life(history, from);

		life.say = say;
		life.user = user;
		find_calls(&life);
		check_starts(&life);
		check_end(&life);
		broken += life.broken;
		from += life.count;
	}
	return broken;
}

void history_show(const struct history *history, size_t number)
{
	static const char *const names[HISTORY_KINDS] = {
	    "put", "move", "cancel", "put:", "move:", "cancel:", "start", "settled"};
	dw_usec began = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct history_event *event = &history->events[i];

		if (event->number != number)
			continue;
		began = began ? began : event->at;
		(void)printf("      %9.3f ms  process %u  %-8s status %d  due %+.3f ms  "
			     "generation %" PRIu64 "  attempt %" PRIu32 "\n",
			     (double)(event->at - began) / 1e3, event->process, names[event->kind],
			     event->status, event->due ? (double)(event->due - began) / 1e3 : 0.0,
			     event->generation, event->attempt); /* for people */
	}
	for (size_t i = 0; i < history->fault_count; i++)
		(void)printf("      fault from %.3f to %.3f ms\n",
			     (double)(history->faults[i].from - began) / 1e3,
			     (double)(history->faults[i].until - began) / 1e3); /* see above */
}

/* ---- Figures -------------------------------------------------------------------------------- */

size_t history_repeats(struct history *history)
{
	size_t repeats = 0;

	sort(history);
	for (size_t from = 0; from < history->count;) {
		struct life life = next_life(history, from);
		size_t starts = 0;

		for (size_t i = 0; i < life.count; i++)
			starts += life.events[i].kind == HISTORY_START;
		repeats += starts > 1 ? starts - 1 : 0;
		from += life.count;
	}
	return repeats;
}

dw_usec history_slowest(struct history *history)
{
	dw_usec slowest = 0;

	sort(history);
	for (size_t from = 0; from < history->count;) {
		struct life life = next_life(history, from);

		find_calls(&life);
		for (size_t i = 0; i < life.call_count; i++) {
			const struct call *call = &life.calls[i];

			if (call->answered && call->answered->at - call->sent->at > slowest)
				slowest = call->answered->at - call->sent->at;
		}
		from += life.count;
	}
	return slowest;
}
