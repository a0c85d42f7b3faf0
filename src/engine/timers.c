#include "engine/core.h"
#include "engine/rule/put_off.h"

#include <assert.h>

#include "port/driven.h"
#include "timer/record.h"
#include "topic/gather.h"
#include "topic/ready.h"

int timers_init(struct engine *engine)
{
	struct timers *timers = &engine->timers;
	const struct alloc *alloc = &engine->alloc;
	int status = index_init(&timers->index, alloc, rng_next(&engine->rng));

	if (status == DW_OK)
		status = schedule_init(&timers->claim, alloc, engine_now(engine));
	if (status == DW_OK)
		status = schedule_init(&timers->fire, alloc, engine_now(engine));
	if (status == DW_OK && engine->env.workers.count > 0)
		status = schedule_init(&timers->work, alloc, engine_now(engine));
	return status;
}

static void free_timer(struct timer *timer, void *user)
{
	const struct engine *engine = user;

	timer_free(&engine->alloc, timer);
}

void timers_free(struct engine *engine)
{
	struct timers *timers = &engine->timers;

	index_each(&timers->index, free_timer, engine);
	if (timers->index.timers.alloc)
		index_free(&timers->index);
	if (timers->claim.alloc)
		schedule_free(&timers->claim);
	if (timers->fire.alloc)
		schedule_free(&timers->fire);
	if (timers->work.alloc)
		schedule_free(&timers->work);
}

void timers_fetch(const struct timers *timers, const char *const *ids, int count)
{
	uint64_t hashes[FETCHED_AHEAD];

	assert(count <= FETCHED_AHEAD);
	for (int i = 0; i < count; i++)
		hashes[i] = index_fetch_bucket(&timers->index, ids[i]);
	for (int i = 0; i < count; i++)
		index_fetch_timer(&timers->index, hashes[i]);
}

int timer_adopt(struct engine *engine, const struct record *record, const void *body,
		struct timer **ret_timer)
{
	struct timer *timer = timer_new(&engine->alloc, record, body);

	if (!timer)
		return DW_ENOMEM;
	timer->topic = topics_get(&engine->topics, record->topic, record->topic_size);
	if (!timer->topic) {
		alloc_free(&engine->alloc, timer);
		return DW_ENOMEM;
	}
	timer->topic->timer_count++;
	engine->timers.rules.in_use |= timer->recurs;
	*ret_timer = timer;
	return DW_OK;
}

struct timer *timer_place(struct engine *engine, const char *id)
{
	struct timer *timer = timer_new_place(&engine->alloc, id);

	if (timer)
		timer_find_shard(engine, timer);
	return timer;
}

void timer_find_shard(const struct engine *engine, struct timer *timer)
{
	timer->shard = (uint8_t)driven_shard_of(engine->store, timer->id);
}

static bool counts(const struct timer *timer)
{
	return timer->state != TIMER_ABSENT;
}

bool timer_is_running(const struct timer *timer)
{
	return timer->state == TIMER_FIRING || timer->state == TIMER_VERDICT ||
	       (timer->state == TIMER_HELD && !timer->unstarted);
}

/* count_in_shard adds the timer to the numbers of its shard, or takes it away if `by` is -1. */
static void count_in_shard(struct shards *shards, const struct timer *timer, int by)
{
	struct engine_shard *shard = &shards->all[timer->shard];

	if (timer->state == TIMER_CLAIMED || timer->unstarted)
		shard->unstarted += (uint32_t)by;
	else if (timer_is_running(timer))
		shard->running += (uint32_t)by;
}

void timer_set_busy(struct shards *shards, struct timer *timer, bool is_busy)
{
	shards->all[timer->shard].busy += (uint32_t)is_busy - (uint32_t)timer->busy;
	timer->busy = is_busy;
}

void timer_set_state(struct engine *engine, struct timer *timer, enum timer_state state)
{
	count_in_shard(&engine->shards, timer, -1);
	engine->stats.timers -= counts(timer);
	engine->timers.claimed -= timer->state == TIMER_CLAIMED;
	engine->stats.held -= timer->state == TIMER_HELD;
	if (timer->topic)
		timer->topic->running -= timer_is_running(timer);
	if (state != TIMER_CLAIMED)
		topic_unready(timer);
	if (state == TIMER_PENDING || state == TIMER_ABSENT)
		topic_tried(timer);
	timer->unstarted = false;
	timer->state = (uint8_t)state;
	count_in_shard(&engine->shards, timer, 1);
	engine->stats.timers += counts(timer);
	engine->timers.claimed += state == TIMER_CLAIMED;
	engine->stats.held += state == TIMER_HELD;
	if (timer->topic)
		timer->topic->running += timer_is_running(timer);
}

void timer_unstart(struct engine *engine, struct timer *timer)
{
	count_in_shard(&engine->shards, timer, -1);
	timer->topic->running -= timer_is_running(timer);
	timer->unstarted = true;
	topic_ready(timer);
	count_in_shard(&engine->shards, timer, 1);
}

void timer_start(struct engine *engine, struct timer *timer)
{
	count_in_shard(&engine->shards, timer, -1);
	topic_unready(timer);
	timer->unstarted = false;
	timer->topic->running += timer_is_running(timer);
	count_in_shard(&engine->shards, timer, 1);
}

void timer_release(struct engine *engine, struct timer *timer)
{
	assert(!timer->calls);
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
	topic_claimed(timer);
	if (timer->topic) {
		timer->topic->timer_count--;
		topics_drop(&engine->topics, timer->topic);
	}
	timer_free(&engine->alloc, timer);
}

/* ---- Schedules ----------------------------------------------------------------------------- */

static void list_push(struct timer_list *list, struct timer *timer, enum timer_place place)
{
	/* A timer is in one list at a time, so a held timer leaves the list of its topic. */
	topic_unready(timer);
	timer->place = (uint8_t)place;
	timer->next = NULL;
	timer->prev = list->last;
	*(list->last ? &list->last->next : &list->first) = timer;
	list->last = timer;
	list->count++;
}

static void list_remove(struct timer_list *list, struct timer *timer)
{
	*(timer->prev ? &timer->prev->next : &list->first) = timer->next;
	*(timer->next ? &timer->next->prev : &list->last) = timer->prev;
	timer->prev = timer->next = NULL;
	list->count--;
}

void timer_arm_claim(struct engine *engine, struct timer *timer)
{
	dw_usec at = put_off_is(engine, timer) ? engine_now(engine) : timer->head.due;

	assert(timer->place == PLACE_NONE);
	if (schedule_add(&engine->timers.claim, timer, at) == DW_OK)
		timer->place = PLACE_CLAIM;
	else
		list_push(&engine->timers.unscheduled, timer, PLACE_UNSCHEDULED);
}

/* put_in notes that the timer is in the schedule `fire` or `work`. */
static void put_in(struct timer *timer, enum timer_place place)
{
	timer->place = (uint8_t)place;
	if (timer->state == TIMER_CLAIMED && !timer->gathered)
		topic_ready(timer);
}

void timer_arm_fire(struct timers *timers, struct timer *timer, dw_usec at)
{
	assert(timer->place == PLACE_NONE);
	if (schedule_add(&timers->fire, timer, at) == DW_OK)
		put_in(timer, PLACE_FIRE);
	else
		list_push(&timers->unscheduled, timer, PLACE_UNSCHEDULED);
}

/* keep counts a due timer that waits for this reason. The timer is in no other count of due
 * timers. */
static void keep(struct report *report, struct timer *timer, enum topic_keep reason)
{
	topic_keep(timer, reason);
	report->outdated = true;
}

void timer_suspend(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	topic_tried(timer);
	list_push(&engine->shards.all[timer->shard].suspended, timer, PLACE_SUSPENDED);
	engine->shards.suspended++;
	if (timer->state == TIMER_PENDING || timer->state == TIMER_CLAIMED)
		keep(&engine->report, timer, TOPIC_SUSPENDED);
}

void timer_await_limit(struct engine *engine, struct timer *timer, dw_usec at)
{
	timer_arm_fire(&engine->timers, timer, at);
	keep(&engine->report, timer, TOPIC_REFUSED);
}

void timer_await_resume(struct engine *engine, struct timer *timer)
{
	list_push(&engine->timers.overdue, timer, PLACE_OVERDUE);
	keep(&engine->report, timer, TOPIC_OVERDUE);
}

void timer_await_zone(struct engine *engine, struct timer *timer, dw_usec until)
{
	timer_arm_fire(&engine->timers, timer, until);
	keep(&engine->report, timer, TOPIC_ZONELESS);
}

void timer_await_handler(struct engine *engine, struct timer *timer)
{
	topic_wait(&engine->topics, timer);
	timer->place = PLACE_WAITING;
	engine->stats.unhandled++;
}

void timer_await_worker(struct engine *engine, struct timer *timer, dw_usec at)
{
	assert(timer->place == PLACE_NONE && timer->state == TIMER_CLAIMED);
	if (schedule_add(&engine->timers.work, timer, at) == DW_OK)
		put_in(timer, PLACE_WORK);
	else
		timer_retry_later(engine, timer);
}

void timer_gather(struct engine *engine, struct timer *timer, dw_usec at)
{
	assert(timer->place == PLACE_NONE && timer->state == TIMER_CLAIMED && !timer->busy);
	if (schedule_add(&engine->timers.fire, timer, at) != DW_OK) {
		timer_retry_later(engine, timer);
		return;
	}
	timer->place = PLACE_FIRE;
	topic_gather(timer);
}

void timer_disarm(struct engine *engine, struct timer *timer)
{
	if (timer->gathered)
		topic_ungather(timer);
	topic_unkeep(timer);
	if (timer->state == TIMER_CLAIMED)
		topic_unready(timer);
	switch ((enum timer_place)timer->place) {
	case PLACE_NONE:
		break;
	case PLACE_CLAIM:
		schedule_remove(&engine->timers.claim, timer);
		break;
	case PLACE_FIRE:
		schedule_remove(&engine->timers.fire, timer);
		break;
	case PLACE_WORK:
		schedule_remove(&engine->timers.work, timer);
		break;
	case PLACE_WAITING:
		topic_unwait(&engine->topics, timer);
		engine->stats.unhandled--;
		break;
	case PLACE_UNSCHEDULED:
		list_remove(&engine->timers.unscheduled, timer);
		break;
	case PLACE_SUSPENDED:
		list_remove(&engine->shards.all[timer->shard].suspended, timer);
		engine->shards.suspended--;
		break;
	case PLACE_OVERDUE:
		list_remove(&engine->timers.overdue, timer);
		break;
	}
	timer->place = PLACE_NONE;
	timer->backing_off = false;
}

void timer_came_out(struct timer *timer)
{
	timer->place = PLACE_NONE;
	topic_unkeep(timer);
	if (timer->state == TIMER_CLAIMED)
		topic_unready(timer);
}

void timer_retry_later(struct engine *engine, struct timer *timer)
{
	dw_usec delay = RETRY_STORE;

	for (uint16_t i = 0; i < timer->failures && delay < RETRY_STORE_MAX; i++)
		delay *= 2;
	if (timer->failures < UINT16_MAX)
		timer->failures++;
	timer_disarm(engine, timer);
	topic_tried(timer);
	timer_arm_fire(&engine->timers, timer,
		       usec_add(engine_now(engine), usec_min(delay, RETRY_STORE_MAX)));
	timer->backing_off = true;
}

/* ---- Changes ------------------------------------------------------------------------------- */

void timer_drop(struct engine *engine, struct timer *timer)
{
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
}

void timer_doubt(struct engine *engine, struct timer *timer)
{
	if (timer->state != TIMER_CLAIMED)
		return;
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_PENDING);
}

struct call *timer_replace(struct engine *engine, struct timer *old, struct timer *fresh)
{
	struct call *settling = old->settling;

	/* A timer is never replaced while its handler runs on this thread, because answers are
	 * handled between two handlers. A worker's job and a message have copies of the timer. */
	assert(old->state != TIMER_FIRING || old->on_worker || old->busy);
	index_replace(&engine->timers.index, old, fresh);
	fresh->calls = old->calls;
	fresh->busy = old->busy;
	topic_claimed(old);
	topic_tried(old);
	old->calls = NULL;
	old->busy = false;
	old->settling = NULL;
	timer_disarm(engine, old);
	if (!old->storing)
		/* A timer that its put is still storing belongs to that call. */
		timer_release(engine, old);
	return settling;
}

struct call *timer_forget(struct engine *engine, struct timer *timer)
{
	struct call *settling = timer->settling;

	if (settling && timer->judging && !settling->early)
		settling = NULL; /* the verdict is under way, and its answer answers the call */
	if (settling) {
		timer->settling = NULL;
		settling->early = false;
	}
	timer_drop(engine, timer);
	timer->head.generation = 0;
	return settling;
}
