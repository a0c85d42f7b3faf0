#include "sim/core/recurrence.h"

#include "calendar/next.h"
#include "sim/core/sim.h"
#include "timer/record.h"

#define MISSED_COUNTED 10000u /* missed occurrences are counted up to this */
#define ALL_MAX 1000          /* so many are delivered by DW_MISSED_ALL */
#define OCCURRENCES_MAX 30u
#define CROWD 2500 /* occurrences of a rule, of which more than ALL_MAX may be missed */

/* ---- The planted bugs ---------------------------------------------------------------------- */

static struct sim *planted;

void recurrence_plant(struct sim *sim)
{
	planted = sim;
}

dw_usec __real_calendar_next(struct calendar *, dw_usec after);
dw_usec __wrap_calendar_next(struct calendar *, dw_usec after);
dw_usec __real_calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next);
dw_usec __wrap_calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next);

/* The linker redirects the engine's calls to here (--wrap). */
dw_usec __wrap_calendar_next(struct calendar *calendar, dw_usec after)
{
	if (planted && planted->bug == BUG_NEXT_FROM_NOW)
		after = usec_max(after, clocks_wall(planted));
	return __real_calendar_next(calendar, after);
}

dw_usec __wrap_calendar_delay(dw_usec jitter_us, const char *id, dw_usec occurrence, dw_usec next)
{
	dw_usec delay = __real_calendar_delay(jitter_us, id, occurrence, next);

	if (planted && planted->bug == BUG_JITTER_REDRAWN && delay > 0)
		delay = (dw_usec)(planted->trace.event_count % (uint64_t)delay);
	return delay;
}

/* ---- Rules --------------------------------------------------------------------------------- */

struct recurrence recurrence_draw(struct sim *sim)
{
	static const dw_usec periods[] = {DW_MILLISECONDS(5), DW_MILLISECONDS(200), DW_SECONDS(3),
					  DW_SECONDS(20)};
	struct recurrence rule = {.every = DW_MILLISECONDS(1)};
	bool crowd = chance(sim, 100);

	if (!crowd)
		rule.every += (dw_usec)draw(sim, (uint64_t)periods[draw(sim, 4)]);
	rule.start = clocks_wall(sim) - (dw_usec)draw(sim, (uint64_t)rule.every * 3);
	if (chance(sim, 3000))
		rule.start += rule.every * (dw_usec)draw(sim, 6);
	rule.end =
	    rule.start + rule.every * (crowd ? CROWD : 5 + (dw_usec)draw(sim, OCCURRENCES_MAX));
	rule.missed = crowd ? DW_MISSED_ALL : (dw_missed)draw(sim, 3);
	rule.missed_after = 1 + (dw_usec)draw(sim, chance(sim, 5000) ? 20000 : DW_SECONDS(5));
	if (!crowd && chance(sim, 3000))
		rule.missed_age = 1 + (dw_usec)draw(sim, (uint64_t)rule.every * 4);
	if (chance(sim, 4000))
		rule.jitter = (dw_usec)draw(sim, (uint64_t)rule.every / 2 + 1);
	return rule;
}

dw_rule recurrence_rule(const struct recurrence *rule)
{
	return (dw_rule){.size = sizeof(dw_rule),
			 .every = rule->every,
			 .start = rule->start,
			 .end = rule->end,
			 .jitter_us = rule->jitter,
			 .missed = rule->missed,
			 .missed_after_us = rule->missed_after,
			 .missed_age_us = rule->missed_age};
}

/* newest: the last occurrence until `until`. If there is none yet, a time before start. */
static dw_usec newest(const struct recurrence *rule, dw_usec until)
{
	dw_usec since = usec_min(until, rule->end) - rule->start;

	if (since < 0)
		return rule->start - rule->every;
	return rule->start + since / rule->every * rule->every;
}

/* following: the first occurrence after `after`, or DW_NEVER. */
static dw_usec following(const struct recurrence *rule, dw_usec after)
{
	dw_usec next = newest(rule, after) + rule->every;

	return after >= rule->end || next > rule->end ? DW_NEVER : next;
}

static bool is_occurrence(const struct recurrence *rule, dw_usec time)
{
	return time >= rule->start && time == newest(rule, time);
}

/* youngest: the latest occurrence with which a timer may go on that is late at `now`. */
static dw_usec youngest(const struct recurrence *rule, dw_usec now)
{
	dw_usec at = newest(rule, now);

	if (rule->missed == DW_MISSED_SKIP)
		at = following(rule, now);
	if (rule->missed == DW_MISSED_ALL)
		at -= (ALL_MAX - 1) * rule->every;
	if (rule->missed_age > 0)
		at = usec_max(at, following(rule, now - rule->missed_age - 1));
	return at;
}

/* is_left_out: at `now`, must the occurrence not be delivered any more? */
static bool is_left_out(const struct recurrence *rule, dw_usec occurrence, dw_usec now)
{
	dw_usec after = (newest(rule, now) - occurrence) / rule->every;

	if (rule->missed_age > 0 && occurrence < now - rule->missed_age)
		return true;
	switch (rule->missed) {
	case DW_MISSED_SKIP:
		return occurrence <= now;
	case DW_MISSED_ALL:
		return after >= ALL_MAX;
	default:
		return after > 0;
	}
}

/* ---- What is stored ------------------------------------------------------------------------ */

/* check_stored reads the occurrence of a new generation. False: it is none of the rule. */
static bool check_stored(struct sim *sim, const dw_op *op, struct generation *made)
{
	const struct recurrence *rule = &made->asked->rule;
	struct record_rule stored;

	if (!record_rule(op->body, &stored) || !is_occurrence(rule, stored.occurrence)) {
		broken(sim, "R2", "%s was stored at a time that its rule does not name", op->id);
		return false;
	}
	made->occurrence = stored.occurrence;
	made->missed = stored.missed;
	if (op->head.due !=
	    stored.occurrence + __real_calendar_delay(rule->jitter, op->id, stored.occurrence,
						      following(rule, stored.occurrence)))
		broken(sim, "R2", "the jitter of %s is another one than before", op->id);
	return true;
}

void recurrence_put(struct sim *sim, const dw_op *op, struct generation *made)
{
	const struct recurrence *rule = &made->asked->rule;

	if (!check_stored(sim, op, made))
		return;
	if (made->missed != 0 ||
	    made->occurrence >
		usec_max(rule->start, newest(rule, sim->clocks.wall_max) + rule->every))
		broken(sim, "R2", "%s does not begin with the first occurrence", op->id);
}

/* check_skipped: the policy has left out occurrences from that of `old` on. */
static void check_skipped(struct sim *sim, const struct generation *old,
			  const struct generation *made)
{
	const struct recurrence *rule = &old->asked->rule;
	dw_usec now = sim->clocks.wall_max;
	uint64_t missed = old->missed;

	missed += (uint64_t)((made->occurrence - old->occurrence) / rule->every);
	if (now - old->due <= rule->missed_after)
		broken(sim, "R2", "an occurrence of %s was left out, but it was not late",
		       old->name->id);
	if (made->occurrence > youngest(rule, now))
		broken(sim, "R3", "more occurrences of %s were left out than the policy says",
		       old->name->id);
	if (made->missed != (missed < MISSED_COUNTED ? missed : MISSED_COUNTED))
		broken(sim, "R3", "%s: %u occurrences count as missed", old->name->id,
		       (unsigned)made->missed);
}

void recurrence_renewed(struct sim *sim, const dw_op *op, const dw_head *wanted,
			struct generation *made)
{
	const struct generation *old = made->before;
	const struct recurrence *rule = &old->asked->rule;

	if (!check_stored(sim, op, made))
		return;
	if (made->occurrence <= old->occurrence)
		broken(sim, "R4", "the occurrences of %s do not grow", op->id);
	else if (!op->reason && (!old->started || old->attempt != wanted->attempt))
		check_skipped(sim, old, made);
	else if (made->occurrence != following(rule, old->occurrence) || made->missed != 0)
		broken(sim, "R2", "after a delivery of %s, an occurrence was left out", op->id);
}

bool recurrence_is_over(const struct sim *sim, const struct generation *generation)
{
	const struct recurrence *rule = &generation->asked->rule;
	dw_usec now = sim->clocks.wall_max;

	return rule->every > 0 && now - generation->due > rule->missed_after &&
	       youngest(rule, now) == DW_NEVER;
}

void recurrence_settled(struct sim *sim, const struct generation *generation)
{
	const struct recurrence *rule = &generation->asked->rule;

	if (rule->every > 0 && !generation->ending &&
	    following(rule, generation->occurrence) != DW_NEVER &&
	    !recurrence_is_over(sim, generation))
		broken(sim, "R2", "%s has ended, but its rule goes on", generation->name->id);
}

/* ---- What is started ----------------------------------------------------------------------- */

/* check_growth compares with earlier starts, since somebody moved or requeued the timer. */
static void check_growth(struct sim *sim, const struct generation *generation)
{
	for (const struct generation *each = generation; each->moved_to == 0 && each->before;) {
		each = each->before;
		if (each->asked != generation->asked || !each->started)
			continue;
		if (each->occurrence == generation->occurrence)
			broken(sim, "R1", "an occurrence of %s started twice",
			       generation->name->id);
		if (each->occurrence > generation->occurrence)
			broken(sim, "R4", "%s started an earlier occurrence", generation->name->id);
	}
}

/* check_last: an engine without memory does not say that an occurrence is the last one. */
static void check_last(struct sim *sim, const struct recurrence *rule, const dw_firing *firing)
{
	bool last = following(rule, firing->occurrence) == DW_NEVER;

	if ((firing->last && !last) || (!firing->last && last && sim->memory.fail_count == 0))
		broken(sim, "R3", "whether an occurrence of %s is the last one", firing->id);
}

void recurrence_started(struct sim *sim, const struct generation *generation,
			const dw_firing *firing, bool batched)
{
	const struct recurrence *rule = &generation->asked->rule;

	if (firing->occurrence != generation->occurrence || firing->missed != generation->missed)
		broken(sim, "R3", "%s started for another occurrence", firing->id);
	if (rule->every == 0)
		return;
	check_growth(sim, generation);
	check_last(sim, rule, firing);
	if (!batched && !generation->retried && firing->now - firing->due > rule->missed_after &&
	    is_left_out(rule, firing->occurrence, firing->now))
		broken(sim, "R3", "%s started an occurrence that the policy leaves out",
		       firing->id);
}
