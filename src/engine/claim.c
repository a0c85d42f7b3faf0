#include "engine/claim.h"

#include "engine/core.h"
#include "engine/occurrences.h"
#include "engine/urgent.h"
#include "topic/gather.h"

#define TURN_SWEEP_MAX 1024u
#define KNOWN_BODY_MAX 1024u /* a larger body is not sent with its claim */

/* is_known: true if memory knows the stored timer to the last byte, because this owner has put or
 * scanned it and it was never claimed. While a scan is not over, another owner or a client may have
 * changed the timer. */
static bool is_known(const struct engine *engine, const struct timer *timer)
{
	const dw_head *head = &timer->head;

	return recovery_is_over(&engine->recovery) && !timer->unsure && !timer->provisional &&
	       timer->body_size > 0 && timer->body_size <= KNOWN_BODY_MAX &&
	       head->state == DW_PENDING && head->attempt == 0 && head->retries == 0 &&
	       head->crashes == 0 && head->open == 0;
}

static dw_op *claim_op(struct engine *engine, struct timer *timer)
{
	bool known = is_known(engine, timer);
	dw_op *op = op_new(&engine->alloc, DW_OP_CLAIM, timer->id, known ? timer->body : NULL,
			   known ? timer->body_size : 0);

	if (op && known)
		op->flags |= DW_OP_KNOWN;
	if (op && timer->provisional)
		op->flags |= DW_OP_PROVISIONAL;
	return op;
}

/* send_claim: a batch of the topic waits for the claims of timers that are due. */
static void send_claim(struct engine *engine, struct timer *timer)
{
	urgent_send(engine, timer, claim_op(engine, timer));
	if (timer->busy && timer->topic->handler.fire_batch &&
	    timer->head.due <= engine_now(engine))
		topic_claims(timer);
}

/* await_handler lets the timer wait until its topic has a handler. */
static void await_handler(struct engine *engine, struct timer *timer)
{
	dw_event event = {.kind = DW_EVENT_NO_HANDLER,
			  .id = timer->id,
			  .topic = timer->topic->name,
			  .count = timer->topic->waiting_count + 1};

	timer_await_handler(engine, timer);
	if (event.count == 1 && !timer->topic->is_full &&
	    !(timer->topic->settings.paused & DW_PAUSE_DELIVERY))
		event_raise(engine, &event, "no handler for topic %s: its timers wait",
			    timer->topic->name);
}

bool claim_is_due(const struct engine *engine, dw_usec now, dw_usec *ret_until)
{
	dw_usec lead = submit_lead(engine);

	if (!engine->timers.overdue.first &&
	    schedule_wake(&engine->timers.claim) > usec_add(now, lead))
		return false;
	*ret_until = usec_add(now, 2 * lead);
	return true;
}

/* next_due takes out the next timer to be claimed: first those that a pause has kept. */
static struct timer *next_due(struct engine *engine, dw_usec until)
{
	struct timer *timer = engine->timers.overdue.first;

	if (timer) {
		timer_disarm(engine, timer);
		return timer;
	}
	timer = schedule_pop(&engine->timers.claim, until);
	if (timer)
		timer->place = PLACE_NONE;
	return timer;
}

bool claim_keep_next(struct engine *engine, dw_usec now)
{
	struct timer *timer = schedule_pop(&engine->timers.claim, now);

	if (!timer)
		return false;
	timer->place = PLACE_NONE;
	if (!timer->busy) /* the answer to its operation arms it again */
		timer_await_resume(engine, timer);
	return true;
}

bool claim_next(struct engine *engine, dw_usec until)
{
	struct timer *timer;

	if (submit_is_urgent_full(&engine->submit))
		return false;
	timer = next_due(engine, until);
	if (!timer)
		return false;
	if (timer->busy) /* the answer to its operation arms it again */
		return true;
	if (cut_off_holds(engine, timer))
		return true;
	if (timer->topic->is_full || !topic_handler(&engine->topics, timer->topic))
		await_handler(engine, timer);
	else if (!occurrence_must_wait(engine, timer))
		send_claim(engine, timer);
	return true;
}

/* claim_one takes out the first waiting timer of the topic, and claims it if it may be claimed.
 * False: the answer to its operation arms it again. */
static bool claim_one(struct engine *engine, struct topic *topic)
{
	struct timer *timer = topic->waiting;

	timer_disarm(engine, timer);
	if (timer->busy)
		return false;
	if (!cut_off_holds(engine, timer) && !occurrence_must_wait(engine, timer))
		send_claim(engine, timer);
	return true;
}

static void claim_some(struct engine *engine, struct topic *topic)
{
	uint32_t tries = topic->full_tries;

	while (tries > 0 && topic->waiting && !submit_is_urgent_full(&engine->submit))
		tries -= claim_one(engine, topic);
}

void claim_full(struct engine *engine)
{
	dw_usec steady = engine->topics.full ? engine_steady(engine) : 0;
	struct topic *topic;

	while ((topic = engine->topics.full) && topic->full_until <= steady &&
	       !submit_is_urgent_full(&engine->submit)) {
		if (!topic->waiting || !topic_handler(&engine->topics, topic)) {
			topic_unfill(&engine->topics, topic);
			continue;
		}
		topic_try(&engine->topics, topic, steady);
		claim_some(engine, topic);
	}
}

dw_usec claim_full_wake(const struct engine *engine, dw_usec now)
{
	const struct topic *topic = engine->topics.full;

	if (!topic)
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(topic->full_until, engine_steady(engine)), 0));
}

void claim_revive(struct engine *engine)
{
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX; i++) {
		struct topic *topic = topics_revivable(&engine->topics);
		struct timer *timer = topic ? topic->waiting : NULL;

		if (!timer)
			return;
		timer_disarm(engine, timer);
		timer_arm_claim(engine, timer);
	}
}

/* ---- After a step of the wall clock -------------------------------------------------------- */

/* longest_pause: after a failure. */
static dw_usec longest_pause(const struct engine *engine)
{
	return engine->claims.store_is_back ? 0 : RETRY_STORE_MAX;
}

/* bring_forward: the wall clock was set back, so a hold or a pause would end too late, and a timer
 * would wait too long for its zone. Now it ends after its longest normal time at the latest. */
static void bring_forward(struct engine *engine, struct timer *timer, dw_usec now)
{
	bool backing_off = timer->backing_off;
	dw_usec latest = usec_add(now, backing_off ? longest_pause(engine) : engine->env.hold);

	if (timer->slot_time <= latest)
		return;
	if (backing_off && engine->claims.store_is_back)
		timer->failures = 0;
	timer_disarm(engine, timer);
	timer_arm_fire(engine, timer, latest);
	timer->backing_off = backing_off;
}

/* gather_again: the time-out of the batch may be too late by the new time, or the timer not due any
 * more. It gathers again when it is due. */
static void gather_again(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	timer_arm_fire(engine, timer, timer->head.due);
}

/* recheck_timer looks at the first of a topic's waiting timers. If it is not due any more, it waits
 * for its deadline again. Otherwise it goes to the end of the list. */
static void recheck_timer(struct engine *engine, struct timer *timer, dw_usec until)
{
	struct topics *topics = &engine->topics;

	if (timer->head.due > until) {
		timer_disarm(engine, timer);
		timer_arm_claim(engine, timer);
	} else if (timer->next) {
		topic_unwait(topics, timer);
		topic_wait(topics, timer);
	}
}

/* recheck looks once at all waiting timers of each topic, some of them in each turn. */
static void recheck(struct engine *engine, dw_usec now)
{
	dw_usec until = usec_add(now, 2 * submit_lead(engine));

	for (uint32_t i = 0; i < TURN_SWEEP_MAX && engine->topics.recheck; i++) {
		struct topic *topic = engine->topics.recheck;

		if (topic->recheck == 0) {
			topics_rechecked(&engine->topics);
			continue;
		}
		topic->recheck--;
		recheck_timer(engine, topic->waiting, until);
	}
}

void claim_clock_stepped_back(struct engine *engine)
{
	engine->claims.sweep_fire = schedule_size(&engine->timers.fire);
	engine->claims.sweep_work = schedule_size(&engine->timers.work);
	topics_recheck(&engine->topics);
}

void claim_store_came_back(struct engine *engine)
{
	engine->claims.store_is_back = true;
	engine->claims.sweep_fire = schedule_size(&engine->timers.fire);
}

static void sweep(struct engine *engine, struct schedule *schedule, uint32_t *left, dw_usec now)
{
	for (uint32_t i = 0; i < TURN_SWEEP_MAX && *left != 0; i++) {
		struct timer *timer = schedule_at(schedule, --*left);

		if (!timer)
			continue;
		if (timer->gathered)
			gather_again(engine, timer);
		if (timer->backing_off || timer->state == TIMER_HELD ||
		    timer->state == TIMER_PENDING)
			bring_forward(engine, timer, now);
		else if (timer->state == TIMER_CLAIMED && !timer->busy &&
			 timer->head.due > usec_add(now, 4 * LEAD_MAX))
			urgent_give_back(engine, timer);
	}
}

void claim_sweep(struct engine *engine, dw_usec now)
{
	recheck(engine, now);
	sweep(engine, &engine->timers.fire, &engine->claims.sweep_fire, now);
	sweep(engine, &engine->timers.work, &engine->claims.sweep_work, now);
	if (engine->claims.sweep_fire == 0)
		engine->claims.store_is_back = false;
}

bool claim_has_more(const struct engine *engine)
{
	return engine->claims.sweep_fire > 0 || engine->claims.sweep_work > 0 ||
	       topics_revivable(&engine->topics) || engine->topics.recheck;
}
