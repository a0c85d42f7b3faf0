/* Chooses the queues that a take of many topics asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/queue/take.h"
#include "topic/settings.h"

static int by_age(const void *a, const void *b)
{
	const struct take_topic *left = a, *right = b;

	if (left->first_due != right->first_due)
		return left->first_due < right->first_due ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* keep_oldest adds the topic to the take's list. The list keeps only the DW_TAKE_TOPICS_MAX topics
 * with the oldest messages. */
static void keep_oldest(struct take *take, const struct take_topic *found)
{
	struct take_topic *last = &take->topics[DW_TAKE_TOPICS_MAX - 1];
	struct take_topic *place = last;

	if (take->count < DW_TAKE_TOPICS_MAX)
		place = &take->topics[take->count++];
	else if (by_age(found, last) >= 0)
		return;
	*place = *found;
	qsort(take->topics, take->count, sizeof *take->topics, by_age);
}

static bool is_candidate(const dw_row *row, const dw_topic_info *info)
{
	return row->status == DW_OK && !(info->settings.paused & DW_PAUSE_DELIVERY) &&
	       info->waiting + info->taken + info->later > 0;
}

void take_find(struct take *take, const dw_row *row)
{
	take->at = take->count = 0;
	for (; row; row = row->next) {
		dw_topic_info info = {.size = 0};
		struct take_topic found;

		info_read(&info, row->body, row->body_size);
		if (!is_candidate(row, &info) || !take_wants(take, row->id))
			continue;
		found.first_due = info.oldest_message ? info.oldest_message : DW_NEVER;
		(void)snprintf(found.name, sizeof found.name, "%s",
			       row->id); /* fits: the name was checked before */
		if (!take->last.name[0] || by_age(&found, &take->last) > 0)
			keep_oldest(take, &found);
	}
}
