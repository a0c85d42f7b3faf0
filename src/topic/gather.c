#include "topic/gather.h"

#include <assert.h>

#include "base/usec.h"
#include "topic/topic.h"

void topic_gather(struct timer *timer)
{
	struct topic *topic = timer->topic;
	struct timer *before = topic->gathered_last;

	assert(!timer->gathered);
	while (before && timer_is_before(timer, before))
		before = before->prev;
	timer->prev = before;
	timer->next = before ? before->next : topic->gathered;
	*(before ? &before->next : &topic->gathered) = timer;
	*(timer->next ? &timer->next->prev : &topic->gathered_last) = timer;
	timer->gathered = true;
	topic->gathered_count++;
}

void topic_claims(struct timer *timer)
{
	timer->topic->claiming_count += !timer->claiming;
	timer->claiming = true;
}

void topic_claimed(struct timer *timer)
{
	if (timer->claiming)
		timer->topic->claiming_count--;
	timer->claiming = false;
}

void topic_ungather(struct timer *timer)
{
	struct topic *topic = timer->topic;

	assert(timer->gathered);
	*(timer->prev ? &timer->prev->next : &topic->gathered) = timer->next;
	*(timer->next ? &timer->next->prev : &topic->gathered_last) = timer->prev;
	timer->prev = timer->next = NULL;
	timer->gathered = false;
	topic->gathered_count--;
}

bool topic_batch_is_full(const struct topic *topic)
{
	return topic->gathered_count >= topic->handler.batch_max;
}

dw_usec topic_wait_ends(const struct timer *timer)
{
	return usec_add(timer->head.due, timer->topic->handler.batch_wait);
}

bool topic_gathers(const struct topic *topic, dw_usec now)
{
	return topic->gathered && !topic_batch_is_full(topic) &&
	       now < topic_wait_ends(topic->gathered);
}
