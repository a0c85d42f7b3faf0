#include <assert.h>

#include "store/memory/table_scan.h"

static bool is_behind(const struct skiplist_node *node, const struct skiplist_node *before)
{
	return !before || before->due < node->due ||
	       (before->due == node->due && before->generation < node->generation);
}

static bool is_sound_timer(const struct timer_table *table, const struct stored_timer *timer)
{
	const dw_head *head = &timer->record.head;

	return timer->place.due == head->due && timer->place.generation == head->generation &&
	       head->generation <= table->generation &&
	       id_map_find(&table->timers, timer->name.id) == &timer->name &&
	       stored_is_claimed(timer) == (timer->record.claim != 0);
}

static bool is_sound(const struct timer_table *table)
{
	const struct skiplist_node *before = NULL;
	uint64_t claimed = 0;
	size_t count = 0;

	for (struct skiplist_node *node = table->order.first[0]; node; node = node->next[0]) {
		struct stored_timer *timer = stored_at(node);

		if (!is_behind(node, before) || !is_sound_timer(table, timer))
			return false;
		claimed += stored_is_claimed(timer);
		count++;
		before = node;
	}
	return count == table->timers.table.count && claimed == table->claimed;
}

void table_check(const struct timer_table *table)
{
	bool sound = is_sound(table);

	assert(sound);
	(void)sound; /* unused when assertions are compiled out */
}
