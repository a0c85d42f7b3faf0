/* A timer and the structures it is in: index, topic, schedules. */
#include "engine/internal.h"

#include <assert.h>

#include "timer/record.h"

int timer_adopt(struct engine *engine, const char *id, const void *body, size_t body_size,
		struct timer **ret_timer)
{
	struct timer *timer = timer_new(&engine->alloc, id, body, body_size);
	struct record record;

	if (!timer)
		return DW_ENOMEM;
	if (body) {
		if (record_decode(body, body_size, &record) == DW_OK)
			timer->topic = topics_get(&engine->topics, record.topic, record.topic_size);
		if (!timer->topic) {
			alloc_free(&engine->alloc, timer);
			return DW_ENOMEM;
		}
		timer->topic->timer_count++;
	}
	*ret_timer = timer;
	return DW_OK;
}

static bool counts(const struct timer *timer)
{
	return timer->state != TIMER_ABSENT;
}

void timer_set_state(struct engine *engine, struct timer *timer, enum timer_state state)
{
	engine->stats.timers -= counts(timer);
	engine->claimed -= timer->state == TIMER_CLAIMED;
	engine->stats.held -= timer->state == TIMER_HELD;
	timer->state = (uint8_t)state;
	engine->stats.timers += counts(timer);
	engine->claimed += state == TIMER_CLAIMED;
	engine->stats.held += state == TIMER_HELD;
}

/* timer_release frees a timer that is in no index any more. */
void timer_release(struct engine *engine, struct timer *timer)
{
	assert(!timer->calls);
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
	if (timer->topic) {
		timer->topic->timer_count--;
		topics_drop(&engine->topics, timer->topic);
	}
	alloc_free(&engine->alloc, timer);
}

/* strand keeps a timer that no schedule had memory for; every turn tries again. */
static void strand(struct engine *engine, struct timer *timer)
{
	timer->place = PLACE_STRANDED;
	timer->prev = NULL;
	timer->next = engine->stranded;
	if (timer->next)
		timer->next->prev = timer;
	engine->stranded = timer;
}

static void unstrand(struct engine *engine, struct timer *timer)
{
	if (timer->prev)
		timer->prev->next = timer->next;
	else
		engine->stranded = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
	timer->prev = timer->next = NULL;
}

void timer_arm_claim(struct engine *engine, struct timer *timer)
{
	assert(timer->place == PLACE_NONE);
	if (schedule_add(&engine->claim, timer, timer->head.due) == DW_OK)
		timer->place = PLACE_CLAIM;
	else
		strand(engine, timer);
}

void timer_arm_fire(struct engine *engine, struct timer *timer, dw_usec at)
{
	assert(timer->place == PLACE_NONE);
	if (schedule_add(&engine->fire, timer, at) == DW_OK)
		timer->place = PLACE_FIRE;
	else
		strand(engine, timer);
}

void timer_disarm(struct engine *engine, struct timer *timer)
{
	switch ((enum timer_place)timer->place) {
	case PLACE_NONE:
		break;
	case PLACE_CLAIM:
		schedule_remove(&engine->claim, timer);
		break;
	case PLACE_FIRE:
		schedule_remove(&engine->fire, timer);
		break;
	case PLACE_WORK:
		schedule_remove(&engine->work, timer);
		break;
	case PLACE_UNHANDLED:
		topic_unpark(&engine->topics, timer);
		engine->stats.unhandled--;
		break;
	case PLACE_STRANDED:
		unstrand(engine, timer);
		break;
	}
	timer->place = PLACE_NONE;
	timer->waiting = false;
}

void timer_replace(struct engine *engine, struct timer *old, struct timer *fresh)
{
	assert(old != engine->firing); /* answers are taken between handlers; a job has a copy */
	index_replace(&engine->index, old, fresh);
	fresh->calls = old->calls;
	fresh->busy = old->busy;
	old->calls = NULL;
	old->busy = false;
	if (old->settling)
		call_answer(engine, old->settling, DW_ESTALE);
	old->settling = NULL;
	timer_disarm(engine, old);
	if (!old->storing)
		timer_release(engine, old); /* one that is being stored is its call's */
}

void timer_forget(struct engine *engine, struct timer *timer)
{
	struct call *settling = timer->settling;

	if (settling && (!timer->busy || settling->early)) {
		timer->settling = NULL;
		settling->early = false;
		call_answer(engine, settling, DW_ESTALE);
	}
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_ABSENT);
	timer->head.generation = 0;
}

void timer_retry_later(struct engine *engine, struct timer *timer)
{
	dw_usec delay = RETRY_STORE;

	for (uint16_t i = 0; i < timer->failures && delay < RETRY_STORE_MAX; i++)
		delay *= 2;
	if (timer->failures < UINT16_MAX)
		timer->failures++;
	timer_disarm(engine, timer);
	timer_arm_fire(engine, timer,
		       usec_add(engine_now(engine), usec_min(delay, RETRY_STORE_MAX)));
	timer->waiting = true;
}
