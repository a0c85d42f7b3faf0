#include "engine/heal/giving.h"

#include "engine/core.h"
#include "engine/due/urgent.h"
#include "port/driven.h"

#define DRAIN DW_MILLISECONDS(50)   /* a shard is kept from starting timers for this long */
#define FREEZE DW_MILLISECONDS(50)  /* calls of its ids wait for this long */
#define AGAIN DW_MILLISECONDS(100)  /* time between two attempts */
#define AGAIN_BUSY DW_SECONDS(1)    /* the same, if deliveries run in each shard */
#define FAILING_LONG DW_SECONDS(10) /* after this time without success a shard drains for long */
#define DRAIN_LONG DW_SECONDS(30)
#define LONG_PAUSE DW_MINUTES(5) /* between two such attempts; each time twice as long */
#define LONG_PAUSE_MAX DW_HOURS(1)

/* ---- Which shard --------------------------------------------------------------------------- */

static bool may_give(const struct engine_shard *shard)
{
	return shard->owned && !shard->refused && !shard->drops;
}

/* choose returns the shard with the fewest deliveries, or -1. Of several it is the next one after
 * the last attempt. */
static int choose(const struct engine *engine)
{
	const struct shards *shards = &engine->shards;
	int best = -1;

	for (unsigned i = 1; i <= shards->count; i++) {
		unsigned number = (engine->ownership.giving.shard + i) % shards->count;

		if (may_give(&shards->all[number]) &&
		    (best < 0 || shards->all[number].running < shards->all[best].running))
			best = (int)number;
	}
	return best;
}

/* drain_time returns for how long the shard may drain. If no shard was quiet for long, one waits
 * for its deliveries, now and then. */
static dw_usec drain_time(struct giving *giving, dw_usec steady)
{
	if (giving->failing == 0 || steady < usec_add(giving->failing, FAILING_LONG) ||
	    steady < giving->long_at)
		return DRAIN;
	giving->long_pause =
	    giving->long_pause ? usec_min(2 * giving->long_pause, LONG_PAUSE_MAX) : LONG_PAUSE;
	giving->long_at = usec_add(steady, giving->long_pause);
	return DRAIN_LONG;
}

static void begin(struct engine *engine, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	int number = choose(engine);

	if (number < 0) {
		giving->at = usec_add(steady, AGAIN);
		return;
	}
	giving->active = true;
	giving->shard = (unsigned)number;
	giving->until = usec_add(steady, drain_time(giving, steady));
	engine->shards.all[number].giving = GIVING_DRAINS;
}

/* ---- Draining ------------------------------------------------------------------------------ */

/* give_back_of gives back the claims of the list that are of the shard. A put with DW_NEW may be
 * under way for a timer that stays in its list. If the store has failed, the timer waits for a
 * later attempt. */
static void give_back_of(struct engine *engine, struct timer *first)
{
	for (struct timer *timer = first, *next; timer; timer = next) {
		next = timer->next;
		if (timer->shard == engine->ownership.giving.shard &&
		    timer->state == TIMER_CLAIMED && !timer->busy && !timer->calls &&
		    timer->failures == 0)
			urgent_give_back(engine, timer);
	}
}

static void give_back_of_topic(struct topic *topic, void *user)
{
	give_back_of(user, topic->ready);
	give_back_of(user, topic->gathered);
}

/* give_back gives back what is claimed: due timers wait in the list of the shard, and others in
 * those of their topics. */
static void give_back(struct engine *engine, const struct engine_shard *shard)
{
	if (shard->claimed == 0)
		return;
	give_back_of(engine, shard->suspended.first);
	topics_each(&engine->topics, give_back_of_topic, engine);
}

static bool is_quiet(const struct engine_shard *shard)
{
	return shard->running == 0 && shard->claimed == 0;
}

/* end lets the shard go on. The turn looks at the timers in its list again. */
static void end(struct engine *engine)
{
	engine->shards.all[engine->ownership.giving.shard].giving = GIVING_NOT;
	engine->shards.more = true;
	engine->ownership.giving.active = engine->ownership.giving.asked = false;
}

static void give_up(struct engine *engine, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	bool is_busy = engine->shards.all[giving->shard].running > 0;

	if (giving->failing == 0)
		giving->failing = steady;
	giving->at = usec_add(steady, is_busy ? AGAIN_BUSY : AGAIN);
	end(engine);
}

static void ask(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_GIVE, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	op->limit = engine->ownership.giving.shard;
	engine->ownership.giving.asked = true;
	submit_push(&engine->submit, op, true);
}

static void go_on(struct engine *engine, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	struct engine_shard *shard = &engine->shards.all[giving->shard];

	if (giving->asked)
		return;
	if (!may_give(shard) || engine->drive.closing || steady >= giving->until) {
		give_up(engine, steady);
		return;
	}
	give_back(engine, shard);
	if (!is_quiet(shard))
		return;
	if (shard->giving == GIVING_DRAINS) {
		shard->giving = GIVING_WAITS;
		giving->until = usec_add(steady, FREEZE);
	}
	if (shard->busy == 0)
		ask(engine);
}

/* ---- The turn ------------------------------------------------------------------------------ */

/* wants_to_begin returns true if a shard should be given as soon as the last attempt is past. */
static bool wants_to_begin(const struct engine *engine)
{
	return engine->env.is_peer && engine->ownership.role == DW_OWNER &&
	       !engine->drive.closing && !engine->ownership.giving.active &&
	       driven_surplus(engine->store) > 0;
}

void giving_round(struct engine *engine)
{
	struct giving *giving = &engine->ownership.giving;
	bool wants = wants_to_begin(engine);
	dw_usec steady = wants || giving->active ? engine_steady(engine) : 0;

	if (wants && steady >= giving->at)
		begin(engine, steady);
	if (giving->active)
		go_on(engine, steady);
}

dw_usec giving_wake(const struct engine *engine, dw_usec now)
{
	const struct giving *giving = &engine->ownership.giving;
	dw_usec at = giving->active ? giving->until : giving->at;

	if (giving->asked || (!giving->active && !wants_to_begin(engine)))
		return DW_NEVER;
	return usec_add(now, usec_max(usec_sub(at, engine_steady(engine)), 0));
}

void giving_answered(struct engine *engine, const dw_op *op)
{
	struct giving *giving = &engine->ownership.giving;
	dw_usec steady = engine_steady(engine);

	if (op->status != DW_OK) {
		give_up(engine, steady);
		return;
	}
	end(engine);
	shards_lose(engine, giving->shard);
	giving->failing = 0;
	giving->at = steady;
}
