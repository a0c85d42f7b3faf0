#include "topic/counts.h"

#include "topic/topic.h"

void topic_counted(struct topics *topics, struct topic *topic, enum topic_count what)
{
	topic->counts[what]++;
	topics->rest[what] += topic->times == NULL;
}

bool topic_has_counted(const struct topic *topic)
{
	for (int i = 0; i < TOPIC_COUNTS; i++)
		if (topic->counts[i] > 0)
			return true;
	return false;
}

bool topic_is_kept(const struct topic *topic)
{
	return topic->times && topic_has_counted(topic);
}

void topic_started(struct topics *topics, struct topic *topic, dw_usec late)
{
	topic_counted(topics, topic, TOPIC_STARTED);
	if (topic->times)
		spread_add(&topic->times->late, late);
}

void topic_not_started(struct topics *topics, struct topic *topic, dw_usec late)
{
	topic->counts[TOPIC_STARTED]--;
	topics->rest[TOPIC_STARTED] -= topic->times == NULL;
	if (topic->times)
		spread_take(&topic->times->late, late);
}

void topic_took(struct topic *topic, dw_usec took)
{
	if (topic && topic->times)
		spread_add(&topic->times->took, took);
}
