#include "engine/rule/occurrences.h"

#include <string.h>

#include "base/message.h"
#include "calendar/rule_text.h"
#include "engine/core.h"
#include "engine/rule/derive.h"
#include "timer/record.h"

#define MISSED_AFTER DW_SECONDS(60)
#define MISSED_COUNTED 10000u /* missed occurrences are counted up to this */
#define MISSED_MAX 1000u      /* DW_MISSED_ALL delivers at most this many missed occurrences */
#define ZONE_AGAIN DW_HOURS(1)

/* A timer's rule, parsed, and its calendar. */
struct rule_of {
	struct record_rule now; /* the present occurrence */
	const dw_rule *rule;
	struct calendar *calendar;
	char message[DW_MESSAGE_SIZE];
};

static int rule_of(struct engine *engine, const struct timer *timer, struct rule_of *ret)
{
	struct rule_entry *entry = NULL;
	int status;

	ret->message[0] = '\0';
	if (!record_rule(timer->body, &ret->now))
		return DW_EINVAL;
	status = rules_get(engine, &ret->now, &entry, ret->message);
	if (status != DW_OK)
		return status;
	ret->rule = entry->rule;
	ret->calendar = &entry->calendar;
	return DW_OK;
}

/* due_of returns when the occurrence is due, with its jitter. */
static dw_usec due_of(const dw_rule *rule, struct calendar *calendar, const char *id,
		      dw_usec occurrence)
{
	if (rule->jitter_us == 0)
		return occurrence;
	return usec_add(occurrence, calendar_delay(rule->jitter_us, id, occurrence,
						   calendar_next(calendar, occurrence)));
}

/* ---- The first one ------------------------------------------------------------------------- */

/* until_of returns the time of the last occurrence that the rule allows, or a later time. A rule
 * with a count ends with its count-th occurrence. */
static dw_usec until_of(const dw_rule *rule, struct calendar *calendar, dw_usec after)
{
	if (rule->count == 0)
		return rule->end > 0 ? rule->end : DW_NEVER;
	return calendar_nth(calendar, rule->start > 0 ? rule->start - 1 : after, rule->count);
}

/* rule_of_timer returns the rule of a new timer in its stored form, before its calendar was asked.
 * A timer that comes from another store begins with the occurrence that it names, because earlier
 * occurrences are over. */
static struct record_rule rule_of_timer(const dw_timer *timer, dw_usec now, const char *text)
{
	const dw_rule *rule = timer->rule;
	dw_usec begun = timer->occurrence > 0 ? timer->occurrence : usec_max(now, 0);

	return (struct record_rule){.text = text,
				    .start = rule->start > 0 ? rule->start : begun,
				    .until = rule->end > 0 ? rule->end : DW_NEVER,
				    .computed = timer->occurrence > 0 ? 0 : now,
				    .missed =
					(uint32_t)usec_min((dw_usec)timer->missed, MISSED_COUNTED)};
}

int occurrence_first(struct engine *engine, struct first_occurrence *first)
{
	char text[DW_RULE_TEXT_MAX + 1];
	const dw_timer *timer = first->timer;
	const dw_rule *rule = timer->rule;
	dw_usec now = engine_now(engine);
	dw_usec after = timer->occurrence > 0 ? timer->occurrence - 1 : now;
	struct record_rule stored = rule_of_timer(timer, now, text);
	struct rule_entry *entry = NULL;
	int status;

	if (rule_write(rule, text, sizeof text) >= sizeof text)
		return engine_fail(engine, DW_EINVAL,
				   "rule: it is too long: as text it has at most %d bytes",
				   DW_RULE_TEXT_MAX);
	status = rules_get(engine, &stored, &entry, engine->events.error);
	if (status != DW_OK)
		return status;
	stored.until =
	    timer->rule_end > 0 ? timer->rule_end : until_of(rule, &entry->calendar, after);
	entry->calendar.end = stored.until;
	stored.occurrence = calendar_next(&entry->calendar, after);
	if (stored.until == DW_NEVER && rule->count > 0)
		stored.occurrence = DW_NEVER;
	if (stored.occurrence == DW_NEVER)
		return engine_fail(engine, DW_EINVAL, "rule: it never comes: %.200s", text);
	if (timer->occurrence == 0 || timer->occurrence != stored.occurrence)
		first->due = due_of(rule, &entry->calendar, first->id, stored.occurrence);
	first->size = record_rule_write(&stored, first->blocks);
	return DW_OK;
}

/* ---- The next one -------------------------------------------------------------------------- */

/* is_put_off returns true if a clock far ahead has computed the occurrence, and was set back since
 * by so much that earlier occurrences must not be skipped. */
static bool is_put_off(const struct record_rule *rule, dw_usec now)
{
	return rule->computed > usec_add(now, DERIVED_AGAIN);
}

/* begin_again lets a rule begin now, if the rule began with its put, by a clock that was far ahead.
 * If the rule has a count, its occurrences until `delivered` are counted as delivered. */
static int begin_again(struct engine *engine, struct rule_of *of, dw_usec now, dw_usec delivered)
{
	uint64_t count = of->rule->count, left = count;
	struct rule_entry *entry = NULL;
	int status;

	if (!is_put_off(&of->now, now) || of->rule->start > 0 || of->now.start <= now)
		return DW_OK;
	if (count > 0)
		left -= calendar_count(of->calendar, of->now.start, delivered, count);
	of->now.start = now;
	of->now.until = of->rule->end > 0 ? of->rule->end : DW_NEVER;
	status = rules_get(engine, &of->now, &entry, of->message);
	if (status != DW_OK)
		return status;
	if (count > 0)
		of->now.until = left > 0 ? calendar_nth(&entry->calendar, now, left) : now;
	entry->calendar.end = of->now.until;
	return DW_OK;
}

/* next_op makes the NEXT operation. Its bytes are the body, then what the handler has said, then
 * the topic. A dead letter keeps the handler's reason (why), any other end its result. */
static dw_op *next_op(struct engine *engine, const struct timer *timer, const struct rule_of *of,
		      struct record_rule *next)
{
	size_t topic_size = strlen(timer->topic->name) + 1;
	const struct said *said = timer->reason ? timer->why : timer->result;
	size_t said_size = said ? said->size : 0;
	size_t size = timer->body_size + said_size;
	dw_op *op = op_new(&engine->alloc, DW_OP_NEXT, timer->id, NULL, size + topic_size);

	if (!op)
		return NULL;
	memcpy(op_room(op), timer->body, timer->body_size);
	next->computed = engine_now(engine);
	record_renew(op_room(op), next);
	if (said_size > 0)
		memcpy(op_room(op) + timer->body_size, said->bytes, said_size);
	op->body_size = timer->body_size;
	op->limit = said_size;
	op->topic = memcpy(op_room(op) + size, timer->topic->name, topic_size);
	op->head = timer->head;
	op->head.due = due_of(of->rule, of->calendar, timer->id, next->occurrence);
	/* Stored here, because the answer changes head. */
	op->after.generation = timer->head.generation;
	return op;
}

/* newest returns a time after which the next occurrence is looked for, so that at most `most` of
 * the occurrences until now are delivered. */
static dw_usec newest(const struct rule_of *of, dw_usec now, uint64_t most)
{
	dw_usec after = of->now.occurrence - 1;

	if (of->rule->missed_age_us > 0)
		after = usec_max(after, usec_sub(now, of->rule->missed_age_us) - 1);
	return calendar_newest(of->calendar, after, now, most);
}

/* still_due returns a time for a timer that is late. The first occurrence after this time is the
 * next one to deliver. */
static dw_usec still_due(const struct rule_of *of, dw_usec now)
{
	switch (of->rule->missed) {
	case DW_MISSED_SKIP:
		return now;
	case DW_MISSED_ALL:
		return newest(of, now, MISSED_MAX);
	default:
		return newest(of, now, 1);
	}
}

/* tell_missed reports occurrences that no handler will get. */
static void tell_missed(struct engine *engine, const struct timer *timer, uint64_t count)
{
	dw_event event = {.kind = DW_EVENT_MISSED,
			  .status = DW_ELATE,
			  .id = timer->id,
			  .topic = timer->topic->name,
			  .count = count};

	event_raise(engine, &event, "%s: %llu%s occurrences were missed and are left out",
		    timer->id, (unsigned long long)count, count == MISSED_COUNTED ? "+" : "");
}

/* skip sets the next occurrence of a timer whose present occurrence was missed. */
static void skip(struct engine *engine, const struct timer *timer, const struct rule_of *of,
		 struct record_rule *next)
{
	dw_usec now = engine_now(engine);
	dw_usec after = still_due(of, now);
	uint64_t count = calendar_count(of->calendar, of->now.occurrence - 1, usec_min(after, now),
					MISSED_COUNTED);

	next->occurrence = calendar_next(of->calendar, after);
	next->missed = (uint32_t)usec_min((dw_usec)(next->missed + count), MISSED_COUNTED);
	if (next->occurrence > now || of->rule->missed == DW_MISSED_ALL)
		tell_missed(engine, timer, count);
}

/* last_of returns the time after which the next occurrence is looked for. */
static dw_usec last_of(struct engine *engine, const struct rule_of *of)
{
	dw_usec now = engine_now(engine);

	return is_put_off(&of->now, now) ? usec_min(now, of->now.occurrence) : of->now.occurrence;
}

int occurrence_next(struct engine *engine, struct timer *timer, dw_op **ret_op)
{
	struct rule_of of;
	struct record_rule next;
	int status = rule_of(engine, timer, &of);
	dw_usec last = status == DW_OK ? last_of(engine, &of) : 0;

	if (status == DW_OK)
		status = begin_again(engine, &of, engine_now(engine), of.now.occurrence);
	if (status != DW_OK)
		return status;
	next = of.now;
	if (timer->skips) {
		skip(engine, timer, &of, &next);
	} else {
		next.occurrence = calendar_next(of.calendar, last);
		next.missed = 0;
	}
	if (next.occurrence == DW_NEVER)
		return DW_ENOENT;
	*ret_op = next_op(engine, timer, &of, &next);
	return *ret_op ? DW_OK : DW_ENOMEM;
}

dw_op *occurrence_move(struct engine *engine, const struct timer *timer, dw_usec now)
{
	struct rule_of of;
	struct record_rule next;
	bool stays;

	if (timer->busy || timer->state != TIMER_PENDING || timer->head.retries > 0 ||
	    rule_of(engine, timer, &of) != DW_OK || of.now.occurrence <= now)
		return NULL;
	/* A timer that somebody has moved stays where it is. */
	if (usec_sub(timer->head.due, of.now.occurrence) > of.rule->jitter_us ||
	    timer->head.due < of.now.occurrence)
		return NULL;
	/* If the changed rule still has the occurrence, the timer keeps it, even if the rule has an
	 * earlier one now. The earlier one may have been delivered already, by a clock that was set
	 * back a little since, or after a move. */
	stays = calendar_next(of.calendar, of.now.occurrence - 1) == of.now.occurrence;
	if (stays && !is_put_off(&of.now, now))
		return NULL;
	if (begin_again(engine, &of, now, of.now.occurrence - 1) != DW_OK)
		return NULL;
	next = of.now;
	next.occurrence = calendar_next(of.calendar, now);
	if (next.occurrence == DW_NEVER || (stays && next.occurrence >= of.now.occurrence))
		return NULL;
	return next_op(engine, timer, &of, &next);
}

/* ---- Delivering ---------------------------------------------------------------------------- */

bool occurrence_is_known(struct engine *engine, const struct timer *timer, char *ret_message)
{
	struct rule_of of;

	if (rule_of(engine, timer, &of) != DW_EINVAL)
		return true; /* without memory, the zone is looked up when the timer is due */
	memcpy(ret_message, of.message, sizeof of.message);
	return false;
}

bool occurrence_must_wait(struct engine *engine, struct timer *timer)
{
	char message[DW_MESSAGE_SIZE];
	dw_event event = {.kind = DW_EVENT_ZONE,
			  .status = DW_EINVAL,
			  .id = timer->id,
			  .topic = timer->topic->name,
			  .count = 1};

	if (!timer->recurs || occurrence_is_known(engine, timer, message))
		return false;
	if (!timer->zone_noted && !rules_note_unknown(engine, timer, message))
		event_raise(engine, &event, "%s waits, and is tried again in an hour: %s",
			    timer->id, message);
	timer->zone_noted = false;
	timer_await_zone(engine, timer,
			 usec_add(usec_max(engine_now(engine), timer->head.due), ZONE_AGAIN));
	return true;
}

/* give_back takes back the claim of a timer whose zone has become unknown since the claim, or that
 * is not late any more. Its deadline stays, so that the next owner tries it at once. */
static void give_back(struct engine *engine, struct timer *timer)
{
	timer->verdict = DW_RETRY;
	timer->uncounted = true;
	timer->retry_at = timer->head.due;
	timer_set_state(engine, timer, TIMER_VERDICT);
}

bool occurrence_is_missed(struct engine *engine, struct timer *timer, dw_usec now)
{
	struct rule_of of;
	dw_usec limit;
	int status;

	if (!timer->recurs || timer->head.retries > 0)
		return false;
	status = rule_of(engine, timer, &of);
	if (status == DW_ENOMEM) {
		timer_retry_later(engine, timer);
		return true;
	}
	if (status != DW_OK) {
		give_back(engine, timer);
		return true;
	}
	limit = of.rule->missed_after_us > 0 ? of.rule->missed_after_us : MISSED_AFTER;
	if (usec_sub(now, timer->head.due) <= limit || still_due(&of, now) < of.now.occurrence)
		return false;
	timer->skips = true;
	timer->verdict = DW_DONE;
	timer_set_state(engine, timer, TIMER_VERDICT);
	return true;
}

void occurrence_look_again(struct engine *engine, struct timer *timer)
{
	struct rule_of of;

	if (!timer->skips || timer->no_retry || rule_of(engine, timer, &of) != DW_OK ||
	    still_due(&of, engine_now(engine)) >= of.now.occurrence)
		return;
	timer->skips = false;
	give_back(engine, timer);
}

void occurrence_show(struct engine *engine, const struct timer *timer, dw_firing *firing)
{
	struct rule_of of;

	if (!timer->recurs || !record_rule(timer->body, &of.now))
		return;
	firing->occurrence = of.now.occurrence;
	firing->missed = of.now.missed;
	if (rule_of(engine, timer, &of) == DW_OK)
		firing->last = calendar_next(of.calendar, of.now.occurrence) == DW_NEVER;
}
