/* Checks whether the engine's structures agree with each other, for tests. It looks at every timer,
 * and returns the number of the rule below that is broken. */
#include "engine/core.h"
#include "topic/order.h"

enum rule {
	RULE_INDEX = -1,  /* the index finds a timer by its id */
	RULE_PLACE = -2,  /* a timer is in a schedule or list (its place) that fits its state */
	RULE_SLOT = -3,   /* a schedule has the timers that name it as their place, and no others */
	RULE_ABSENT = -4, /* a place without a timer (ABSENT) has an operation or a call */
	RULE_CALLS = -5,  /* calls wait only behind an operation, or for a schedule */
	RULE_BACKING_OFF = -6, /* a timer that backs off is in a schedule, and not busy */
	RULE_TOPIC = -7,       /* a timer with a state has a topic */
	RULE_COUNT = -8,       /* the counters are right */
	RULE_SCHEDULE = -9,    /* every timer of a schedule is in the index */
	RULE_TOPICS = -10,     /* a topic's counters are right, and it has timers or a handler */
	/* Every waiting call is in the list of open calls, and all their bytes are counted. */
	RULE_OPEN = -11,
	RULE_INFLIGHT = -12, /* a busy timer has an operation in a queue or in the store */
	RULE_WHEEL = -13,    /* the wheels and their crowds are sound */
	RULE_WORK = -14,     /* the workers have no more timers than they can run */
	RULE_BATCH =
	    -15,         /* a gathered timer is in its topic's list, in order, and may wait there */
	RULE_READY = -16 /* a claimed timer that is not started is in its topic's list */
};

/* The sums over all timers. */
struct sums {
	const struct engine *engine;
	uint64_t timers, claimed, held, waiting, busy, calls;
	uint64_t in_claim, in_fire, in_work, running, gathered, claiming, ready, kept;
	uint64_t unscheduled, suspended, overdue;
	uint64_t of_shards[DW_SHARDS_MAX];         /* suspended timers */
	struct engine_shard shards[DW_SHARDS_MAX]; /* only the counts of timers are used */
	int broken;
};

static bool place_allowed(const struct timer *timer)
{
	switch ((enum timer_place)timer->place) {
	case PLACE_NONE:
		return true;
	case PLACE_CLAIM:
	case PLACE_OVERDUE:
		return timer->state == TIMER_PENDING && !timer->backing_off;
	/* A claimed timer waits here until all timers that its full topic tries are claimed. */
	case PLACE_WAITING:
		return !timer->backing_off && !timer->trying &&
		       (timer->state == TIMER_PENDING || timer->state == TIMER_CLAIMED);
	case PLACE_FIRE:
		return timer->backing_off || timer->state == TIMER_CLAIMED ||
		       timer->state == TIMER_HELD ||
		       (timer->state == TIMER_PENDING &&
			(timer->kept == TOPIC_REFUSED || timer->recurs)); /* waits for its zone */
	case PLACE_WORK:
		return timer->state == TIMER_CLAIMED && !timer->backing_off;
	case PLACE_UNSCHEDULED:
		return timer->state != TIMER_ABSENT || timer->backing_off;
	case PLACE_SUSPENDED:
		return !timer->backing_off;
	}
	return false;
}

/* slot_agrees returns true if the schedule that the timer names holds it. */
static bool slot_agrees(const struct timers *timers, const struct timer *timer)
{
	const struct schedule *schedule = timer->place == PLACE_CLAIM  ? &timers->claim
					  : timer->place == PLACE_FIRE ? &timers->fire
								       : &timers->work;

	if (timer->place != PLACE_CLAIM && timer->place != PLACE_FIRE && timer->place != PLACE_WORK)
		return timer->slot == 0 && !timer->crowded;
	return schedule_has(schedule, timer);
}

/* runs_here returns true if the timer's handler is on the stack of this thread. */
static bool runs_here(const struct timer *timer)
{
	return timer->state == TIMER_FIRING && !timer->on_worker;
}

/* idle returns true for a timer that has no operation under way and is in no schedule or list. */
static bool idle(const struct timer *timer)
{
	return !timer->busy && !timer->backing_off && timer->place == PLACE_NONE &&
	       !runs_here(timer);
}

/* gathers returns true if the timer may wait for a batch. */
static bool gathers(const struct timer *timer)
{
	return timer->state == TIMER_CLAIMED && !timer->backing_off &&
	       (timer->place == PLACE_FIRE || timer->place == PLACE_WORK) &&
	       timer->topic->handler.fire_batch;
}

/* is_ready returns true if the timer waits only for its handler. */
static bool is_ready(const struct timer *timer)
{
	if (timer->state == TIMER_HELD)
		return timer->unstarted && timer->place != PLACE_UNSCHEDULED;
	return timer->state == TIMER_CLAIMED && !timer->gathered &&
	       (timer->place == PLACE_FIRE || timer->place == PLACE_WORK);
}

static int check_timer(const struct engine *engine, const struct timer *timer)
{
	if (index_find(&engine->timers.index, timer->id) != timer)
		return RULE_INDEX;
	if (!place_allowed(timer))
		return RULE_PLACE;
	if (!slot_agrees(&engine->timers, timer))
		return RULE_SLOT;
	if (timer->state == TIMER_ABSENT && idle(timer) && !engine->drive.closing)
		return RULE_ABSENT;
	if (timer->calls && idle(timer) && !engine->drive.closing)
		return RULE_CALLS;
	if (timer->backing_off &&
	    (timer->busy || (timer->place != PLACE_FIRE && timer->place != PLACE_UNSCHEDULED)))
		return RULE_BACKING_OFF;
	if (timer->state != TIMER_ABSENT && !timer->topic)
		return RULE_TOPIC;
	if (timer->gathered && !gathers(timer))
		return RULE_BATCH;
	if (timer->ready != is_ready(timer))
		return RULE_READY;
	return 0;
}

static void look_at(struct timer *timer, void *user)
{
	struct sums *sums = user;

	if (sums->broken == 0)
		sums->broken = check_timer(sums->engine, timer);
	sums->timers += timer->state != TIMER_ABSENT;
	sums->claimed += timer->state == TIMER_CLAIMED;
	sums->held += timer->state == TIMER_HELD;
	sums->waiting += timer->place == PLACE_WAITING;
	sums->busy += timer->busy;
	sums->in_claim += timer->place == PLACE_CLAIM;
	sums->in_fire += timer->place == PLACE_FIRE;
	sums->in_work += timer->place == PLACE_WORK;
	sums->running += timer->state == TIMER_FIRING && timer->on_worker;
	sums->gathered += timer->gathered;
	sums->ready += timer->ready;
	sums->kept += timer->kept != TOPIC_NOT_KEPT;
	sums->claiming += timer->claiming + timer->trying;
	sums->unscheduled += timer->place == PLACE_UNSCHEDULED;
	sums->suspended += timer->place == PLACE_SUSPENDED;
	sums->of_shards[timer->shard] += timer->place == PLACE_SUSPENDED;
	sums->overdue += timer->place == PLACE_OVERDUE;
	sums->shards[timer->shard].unstarted += timer->state == TIMER_CLAIMED || timer->unstarted;
	sums->shards[timer->shard].running += timer_is_running(timer);
	sums->shards[timer->shard].busy += timer->busy;
	for (const struct call *call = timer->calls; call; call = call->next)
		sums->calls++;
}

/* list_counts returns true if the list has `expected` timers, and its counter says so. */
static bool list_counts(const struct timer_list *list, uint64_t expected)
{
	uint64_t count = 0;

	for (const struct timer *timer = list->first; timer; timer = timer->next)
		count++;
	return count == expected && count == list->count;
}

static bool shards_count(const struct shards *shards, const struct sums *sums)
{
	for (unsigned i = 0; i < DW_SHARDS_MAX; i++) {
		const struct engine_shard *shard = &shards->all[i], *found = &sums->shards[i];

		if (!list_counts(&shard->suspended, sums->of_shards[i]) ||
		    shard->unstarted != found->unstarted || shard->running != found->running ||
		    shard->busy != found->busy)
			return false;
	}
	return shards->suspended == sums->suspended;
}

struct topic_sums {
	/* Number of timers that wait, and of topics that have such timers. */
	uint64_t timers, topics;
	uint64_t gathered, claiming, ready, kept;
	bool broken;
};

/* count_gathered counts the timers of the topic that wait for a batch, and checks their order and
 * the topic's own counter. */
static uint64_t count_gathered(const struct topic *topic, bool *ret_broken)
{
	uint32_t count = 0;

	for (const struct timer *timer = topic->gathered; timer; timer = timer->next) {
		count++;
		if (timer->next &&
		    (timer->next->prev != timer || timer->next->head.due < timer->head.due))
			*ret_broken = true;
	}
	if (count != topic->gathered_count || (count > 0 && !topic->handler.fire_batch))
		*ret_broken = true;
	return count;
}

/* count_ready counts the timers of the topic that are claimed and not started, and checks the
 * topic's own counter. */
static uint64_t count_ready(const struct topic *topic, bool *ret_broken)
{
	uint64_t count = 0;

	for (const struct timer *timer = topic->ready; timer; timer = timer->next)
		count++;
	if (count != topic->ready_count)
		*ret_broken = true;
	return count;
}

/* look_at_topic checks that the topic has timers, a handler, settings or counts, and adds its
 * waiting timers to the sums. */
static void look_at_topic(struct topic *topic, void *user)
{
	struct topic_sums *sums = user;
	uint64_t count = 0;

	for (const struct timer *timer = order_first(topic->waiting); timer;
	     timer = order_next(topic->waiting, timer))
		count++;
	if (count != topic->waiting_count || count > topic->timer_count ||
	    (!handler_is_set(&topic->handler) && topic->timer_count == 0 && !topic->is_set &&
	     !topic_is_kept(topic)))
		sums->broken = true;
	sums->timers += count;
	sums->topics +=
	    count > 0 && !topic->is_full && !(topic->settings.paused & DW_PAUSE_DELIVERY);
	sums->gathered += count_gathered(topic, &sums->broken);
	sums->ready += count_ready(topic, &sums->broken);
	sums->claiming += topic->claiming_count + topic->trying_count;
	for (int i = 0; i < TOPIC_KEPTS; i++)
		sums->kept += topic->kept[i].count;
}

/* check_topics checks that the list contains all topics with waiting timers, and that topics with
 * handlers come first. */
static int check_topics(const struct topics *topics, const struct sums *sums)
{
	struct topics copy = *topics; /* topics_each needs topics that it may change */
	struct topic_sums found = {0};
	uint64_t count = 0;

	topics_each(&copy, look_at_topic, &found);
	for (const struct topic *topic = copy.waiting; topic; topic = topic->next) {
		count++;
		if (!topic->waiting || topic->is_full ||
		    (topic->prev && topic_is_served(topic) && !topic_is_served(topic->prev)))
			return RULE_TOPICS;
	}
	if (found.gathered != sums->gathered || found.claiming != sums->claiming)
		return RULE_BATCH;
	if (found.ready != sums->ready)
		return RULE_READY;
	if (found.kept != sums->kept)
		return RULE_COUNT;
	return !found.broken && found.timers == sums->waiting && found.topics == count
		   ? 0
		   : RULE_TOPICS;
}

static int check_open(const struct calls *calls, const struct sums *sums)
{
	uint64_t count = 0;
	uint64_t again = 0;
	size_t bytes = 0;

	for (const struct call *call = calls->open; call; call = call->next_open) {
		if (call->next_open && call->next_open->prev_open != call)
			return RULE_OPEN;
		count++;
		again += call->internal;
		bytes += call->bytes;
	}
	if (again != calls->internal_count || bytes != calls->bytes)
		return RULE_OPEN;
	return count == calls->count && sums->calls <= count ? 0 : RULE_OPEN;
}

/* check_work checks that just the timers with PLACE_WORK are in the work schedule, and that workers
 * have no more jobs than there are workers. The jobs may have more timers than are firing,
 * because a timer may be replaced while its job is on a worker. */
static int check_work(const struct engine *engine, const struct sums *sums)
{
	uint64_t count =
	    timers_have_work(&engine->timers) ? schedule_count(&engine->timers.work) : 0;

	if (sums->in_work != count ||
	    (timers_have_work(&engine->timers) && !schedule_check(&engine->timers.work)))
		return RULE_WORK;
	return sums->running <= engine->delivery.on_workers &&
		       engine->stats.running <= engine->env.workers.count
		   ? 0
		   : RULE_WORK;
}

static int check_sums(const struct engine *engine, const struct sums *sums)
{
	uint64_t under_way = engine->submit.urgent_inflight +
			     (uint64_t)engine->submit.ordinary_inflight +
			     engine->submit.urgent.count + engine->submit.ordinary.count +
			     engine->submit.answers.count;

	if (sums->timers != engine->stats.timers || sums->claimed != engine->timers.claimed ||
	    sums->held != engine->stats.held || sums->waiting != engine->stats.unhandled)
		return RULE_COUNT;
	if (sums->in_claim != schedule_count(&engine->timers.claim) ||
	    sums->in_fire != schedule_count(&engine->timers.fire))
		return RULE_SCHEDULE;
	if (!list_counts(&engine->timers.unscheduled, sums->unscheduled) ||
	    !shards_count(&engine->shards, sums) ||
	    !list_counts(&engine->timers.overdue, sums->overdue))
		return RULE_COUNT;
	return sums->busy <= under_way ? 0 : RULE_INFLIGHT;
}

int engine_check(const struct engine *engine)
{
	struct sums sums = {.engine = engine};
	/* index_each needs an index that it may change */
	struct index index = engine->timers.index;
	int broken;

	index_each(&index, look_at, &sums);
	broken = sums.broken;
	if (broken == 0)
		broken = check_sums(engine, &sums);
	if (broken == 0)
		broken = check_work(engine, &sums);
	if (broken == 0)
		broken = check_topics(&engine->topics, &sums);
	if (broken == 0)
		broken = check_open(&engine->calls, &sums);
	if (broken == 0 &&
	    (!schedule_check(&engine->timers.claim) || !schedule_check(&engine->timers.fire)))
		broken = RULE_WHEEL;
	return broken;
}
