#include "engine/due/claim.h"

#include "engine/core.h"
#include "engine/due/fire.h"
#include "engine/call/lifecycle.h"
#include "engine/rule/occurrences.h"
#include "engine/rule/put_off.h"
#include "engine/due/urgent.h"
#include "engine/heal/loss.h"
#include "topic/gather.h"
#include "topic/order.h"

#define TURN_SWEEP_MAX 1024u
#define KNOWN_BODY_MAX 1024u /* a larger body is not sent with its claim */

/* is_known returns true if memory knows the stored timer to the last byte, because this owner has
 * put or scanned it and it was never claimed. While a scan is not over, another owner or a client
 * may have changed the timer. */
static bool is_known(const struct recovery *recovery, const struct timer *timer)
{
	const dw_head *head = &timer->head;

	return recovery_is_over(recovery, timer->shard) && !timer->unsure && !timer->provisional &&
	       timer->body_size > 0 && timer->body_size <= KNOWN_BODY_MAX &&
	       head->state == DW_PENDING && head->attempt == 0 && head->retries == 0 &&
	       head->crashes == 0 && head->open == 0;
}

static dw_op *claim_op(struct engine *engine, struct timer *timer)
{
	bool known = is_known(&engine->recovery, timer);
	dw_op *op = op_new(&engine->alloc, DW_OP_CLAIM, timer->id, known ? timer->body : NULL,
			   known ? timer->body_size : 0);

	if (op && known)
		op->flags |= DW_OP_KNOWN;
	if (op && timer->provisional)
		op->flags |= DW_OP_PROVISIONAL;
	return op;
}

/* send_claim sends the claim. If the topic gathers batches and the timer is due, the batch waits
 * for this claim. */
static void send_claim(struct engine *engine, struct timer *timer)
{
	dw_op *op = claim_op(engine, timer);

	if (op && engine->shards.count > 1) /* a store with one shard answers claims in order */
		ticket_of(op)->late = late_add(&engine->submit.late, timer->head.due);
	urgent_send(engine, timer, op);
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

/* next_due takes out the next timer to be claimed. Timers that came due during a pause are
 * first. */
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
	/* The answer to the operation of a busy timer arms it again. */
	if (!timer->busy && !loss_meets(engine, timer))
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
	if (timer->busy) /* the answer to the timer's operation arms it again */
		return true;
	if (loss_meets(engine, timer) || shards_suspend(engine, timer))
		return true;
	/* The settings of its topic were not known yet, so its back-off seemed too long. */
	if (timer->head.due > until && !put_off_is(engine, timer)) {
		timer_arm_claim(engine, timer);
		return true;
	}
	if (timer->topic->is_full || !topic_handler(&engine->topics, timer->topic))
		await_handler(engine, timer);
	else if (!occurrence_must_wait(engine, timer))
		send_claim(engine, timer);
	return true;
}

/* ---- A full queue -------------------------------------------------------------------------- */

/* a store pushes at most this many bytes of messages at once */
#define ROUND_BYTES ((size_t)256 << 10)

/* One attempt to push the first timers of a full topic: how many are tried, and whether all of
 * these are claimed. */
struct round {
	uint32_t count;
	bool is_claimed;
};

static struct round next_round(const struct topic *topic, dw_usec now)
{
	struct round round = {.is_claimed = true};
	const struct timer *timer = order_first(topic->waiting);
	size_t bytes = 0;

	while (timer && timer->head.due <= now && round.count < topic->full_tries &&
	       (round.count == 0 || bytes + timer->body_size <= ROUND_BYTES)) {
		bytes += timer->body_size;
		round.count++;
		round.is_claimed = round.is_claimed && timer->state == TIMER_CLAIMED;
		timer = order_next(topic->waiting, timer);
	}
	return round;
}

static void claim_waiting(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	if (timer->busy || loss_meets(engine, timer)) /* an answer arms a busy timer again */
		return;
	if (shards_suspend(engine, timer) || occurrence_must_wait(engine, timer))
		return;
	topic_tries(timer);
	send_claim(engine, timer);
}

static void push_waiting(struct engine *engine, struct timer *timer, dw_usec now)
{
	timer_disarm(engine, timer);
	topic_tries(timer);
	fire_claimed(engine, timer, now);
}

/* go_round claims the timers of the round that are not claimed yet. Claims are answered in any
 * order, so claimed timers wait again. When all are claimed, they are pushed at once, in their
 * order. */
static void go_round(struct engine *engine, const struct topic *topic, struct round round,
		     dw_usec now)
{
	struct timer *timer = order_first(topic->waiting);

	for (; round.count > 0; round.count--) {
		struct timer *next = order_next(topic->waiting, timer);

		if (round.is_claimed)
			push_waiting(engine, timer, now);
		else if (timer->state == TIMER_PENDING)
			claim_waiting(engine, timer);
		timer = next;
	}
}

/* try_full tries a full topic again, if none of its timers is being tried. */
static void try_full(struct engine *engine, struct topic *topic, dw_usec steady)
{
	dw_usec now = engine_now(engine);
	struct round round = next_round(topic, now);

	if (!topic->waiting || !topic_handler(&engine->topics, topic))
		topic_unfill(&engine->topics, topic);
	else if (round.count == 0)
		topic_try_later(
		    &engine->topics, topic,
		    usec_add(steady, usec_min(usec_sub(order_first(topic->waiting)->head.due, now),
					      FULL_WAIT_MAX))); /* at most: the clock may be set */
	else if (!round.is_claimed || !delivery_may_start(engine))
		topic_try_later(&engine->topics, topic, usec_add(steady, FULL_WAIT));
	else
		topic_try(&engine->topics, topic, steady);
	if (topic->is_full && (!round.is_claimed || delivery_may_start(engine)))
		go_round(engine, topic, round, now);
}

void claim_full(struct engine *engine)
{
	dw_usec steady = engine->topics.full ? engine_steady(engine) : 0;
	struct topic *next;

	for (struct topic *topic = engine->topics.full; topic && topic->full_until <= steady;
	     topic = next) {
		next = topic->next;
		if (submit_is_urgent_full(&engine->submit))
			return;
		if (topic->trying_count == 0)
			try_full(engine, topic, steady);
	}
}

dw_usec claim_full_wake(const struct engine *engine, dw_usec now)
{
	const struct topic *topic = engine->topics.full;

	while (topic && topic->trying_count > 0)
		topic = topic->next;
	if (!topic)
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(topic->full_until, engine_steady(engine)), 0));
}

/* ---- Those that wait for a handler --------------------------------------------------------- */

void claim_revive(struct engine *engine)
{
	for (uint32_t i = 0; i < TURN_CLAIMS_MAX; i++) {
		struct topic *topic = topics_revivable(&engine->topics);
		struct timer *timer = topic ? order_first(topic->waiting) : NULL;

		if (!timer)
			return;
		timer_disarm(engine, timer);
		lifecycle_resume(engine, timer);
	}
}

/* ---- After a step of the wall clock -------------------------------------------------------- */

/* longest_pause returns how long a timer may still back off. If the store is back, it need not back
 * off at all. */
static dw_usec longest_pause(const struct claims *claims)
{
	return claims->store_is_back ? 0 : RETRY_STORE_MAX;
}

/* bring_forward is called after the wall clock was set back. A hold or a pause would end too late,
 * and a timer would wait too long for its zone. Now each ends after its longest normal time at the
 * latest. */
static void bring_forward(struct engine *engine, struct timer *timer, dw_usec now)
{
	bool backing_off = timer->backing_off;
	dw_usec latest =
	    usec_add(now, backing_off ? longest_pause(&engine->claims) : engine->env.hold);

	if (timer->slot_time <= latest)
		return;
	if (backing_off && engine->claims.store_is_back)
		timer->failures = 0;
	timer_disarm(engine, timer);
	timer_arm_fire(&engine->timers, timer, latest);
	timer->backing_off = backing_off;
}

/* gather_again takes a gathered timer out of its batch, because by the new time its time-out may be
 * too late, or the timer is not due any more. The timer gathers again when it is due. */
static void gather_again(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	timer_arm_fire(&engine->timers, timer, timer->head.due);
}

/* recheck is called after the wall clock was set back. It finds timers that wait for a handler or a
 * full queue, but are not due any more. These timers wait for their deadlines again. They have the
 * latest deadlines of their topic, so recheck begins at the end of each topic's order. */
static void recheck(struct engine *engine, dw_usec now)
{
	dw_usec until = usec_add(now, 2 * submit_lead(engine));

	for (uint32_t i = 0; i < TURN_SWEEP_MAX && engine->topics.recheck; i++) {
		struct timer *timer = order_last(engine->topics.recheck->waiting);

		if (timer->head.due <= until) {
			topics_rechecked(&engine->topics);
			continue;
		}
		timer_disarm(engine, timer);
		lifecycle_resume(engine, timer);
	}
}

void claim_clock_stepped_back(struct engine *engine)
{
	schedule_scatter(&engine->timers.fire);
	if (timers_have_work(&engine->timers))
		schedule_scatter(&engine->timers.work);
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

		if (!timer || loss_meets(engine, timer))
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
