#include "topic/ready.h"

#include <assert.h>

#include "topic/topic.h"

/* topic_ready makes at most this many steps to find a timer's place in the list. The timers of one
 * shard come nearly in order, and the timers of several shards come in batches. */
#define READY_STEPS_MAX 16

void topic_ready(struct timer *timer)
{
	struct topic *topic = timer->topic;
	struct timer *before = topic->ready_last;

	assert(!timer->ready && !timer->gathered);
	for (int i = 0; i < READY_STEPS_MAX && before && timer_is_before(timer, before); i++)
		before = before->prev;
	timer->prev = before;
	timer->next = before ? before->next : topic->ready;
	*(before ? &before->next : &topic->ready) = timer;
	*(timer->next ? &timer->next->prev : &topic->ready_last) = timer;
	timer->ready = true;
	topic->ready_count++;
}

void topic_unready(struct timer *timer)
{
	struct topic *topic = timer->topic;

	if (!timer->ready)
		return;
	*(timer->prev ? &timer->prev->next : &topic->ready) = timer->next;
	*(timer->next ? &timer->next->prev : &topic->ready_last) = timer->prev;
	timer->prev = timer->next = NULL;
	timer->ready = false;
	topic->ready_count--;
}

void topic_runs(const struct timer *timer)
{
	struct topic *topic = timer->topic;
	const dw_head *head = &timer->head;

	if (topic->running > 1 &&
	    (head->due < topic->last.due ||
	     (head->due == topic->last.due && head->generation < topic->last.generation)))
		return;
	topic->last = (struct topic_started){head->due, head->generation};
}

void topic_keep(struct timer *timer, enum topic_keep keep)
{
	struct topic_kept *kept = &timer->topic->kept[keep];

	assert(!timer->kept && keep != TOPIC_NOT_KEPT);
	if (kept->count++ == 0)
		kept->first = timer->head.due;
	timer->kept = (uint8_t)keep;
}

void topic_unkeep(struct timer *timer)
{
	if (timer->kept)
		timer->topic->kept[timer->kept].count--;
	timer->kept = TOPIC_NOT_KEPT;
}
