#include "port/driven.h"

#include <stddef.h>

/* HAS is true if the store's class is new enough to have this member, and the store has it. */
#define HAS(store, slot)                                                                           \
	((store)->type->size >= offsetof(dw_store_class, slot) + sizeof(store)->type->slot &&      \
	 (store)->type->slot)

#define WINDOW 2048u

int driven_descriptor(const dw_store *store)
{
	return HAS(store, descriptor) ? store->type->descriptor(store) : -1;
}

void driven_turn(dw_store *store, dw_usec steady)
{
	if (HAS(store, turn))
		store->type->turn(store, steady);
}

dw_usec driven_due(const dw_store *store)
{
	return HAS(store, due) ? store->type->due(store) : DW_NEVER;
}

unsigned driven_shards(const dw_store *store)
{
	return HAS(store, shards) ? store->type->shards(store) : 1;
}

unsigned driven_shard_of(const dw_store *store, const char *id)
{
	return HAS(store, shard_of) ? store->type->shard_of(store, id) : 0;
}

dw_usec driven_lease(const dw_store *store, unsigned shard)
{
	return HAS(store, lease) ? store->type->lease(store, shard) : DW_NEVER;
}

bool driven_owns(const dw_store *store)
{
	unsigned count = driven_shards(store);

	for (unsigned i = 0; i < count; i++)
		if (driven_lease(store, i) != INT64_MIN)
			return true;
	return false;
}

bool driven_take_shard(dw_store *store, dw_shard_news *ret_news)
{
	return HAS(store, take_shard) && store->type->take_shard(store, ret_news);
}

bool driven_has_members(const dw_store *store)
{
	return HAS(store, surplus);
}

bool driven_tells_facts(const dw_store *store)
{
	return HAS(store, tells_facts) && store->type->tells_facts;
}

unsigned driven_surplus(const dw_store *store)
{
	return HAS(store, surplus) ? store->type->surplus(store) : 0;
}

void driven_leave(dw_store *store)
{
	if (HAS(store, leave))
		store->type->leave(store);
}

void driven_sharing(const dw_store *store, dw_sharing *ret_sharing)
{
	*ret_sharing = (dw_sharing){0};
	if (HAS(store, sharing))
		store->type->sharing(store, ret_sharing);
}

size_t driven_window(const dw_store *store)
{
	return HAS(store, window) ? store->type->window : WINDOW;
}

dw_usec driven_patience(const dw_store *store)
{
	return HAS(store, patience) ? store->type->patience : DW_NEVER;
}

bool driven_may_lose(const dw_store *store)
{
	return HAS(store, is_lost);
}

bool driven_is_lost(const dw_store *store, const char *id)
{
	return driven_may_lose(store) && store->type->is_lost(store, id);
}

bool driven_is_whole(dw_store *store)
{
	return !HAS(store, is_whole) || store->type->is_whole(store);
}

int driven_trouble(const dw_store *store, char *ret_words, size_t size)
{
	return HAS(store, trouble) ? store->type->trouble(store, ret_words, size) : DW_OK;
}

bool driven_keeps_topics(const dw_store *store)
{
	return HAS(store, keeps_topics);
}

bool driven_settles_messages(const dw_store *store)
{
	return HAS(store, settles_messages);
}

dw_usec driven_look_every(const dw_store *store)
{
	return HAS(store, look_every) ? store->type->look_every : 0;
}

bool driven_calls_takes(const dw_store *store)
{
	return HAS(store, take_call);
}

bool driven_take_call(dw_store *store, dw_take_call *ret_call)
{
	return HAS(store, take_call) && store->type->take_call(store, ret_call);
}

bool driven_loads_by_generation(const dw_store *store)
{
	return HAS(store, loads_by_generation);
}

void driven_began(dw_store *store, const char *id)
{
	if (HAS(store, began))
		store->type->began(store, id);
}

bool driven_take_event(dw_store *store, dw_store_event *ret_event)
{
	return HAS(store, take_event) && store->type->take_event(store, ret_event);
}

void driven_journal(const dw_store *store, dw_journal_stats *ret_stats)
{
	*ret_stats = (dw_journal_stats){.state = DW_JOURNAL_NONE};
	if (HAS(store, journal))
		store->type->journal(store, ret_stats);
}

void driven_replicas(const dw_store *store, dw_replica_stats *ret_stats)
{
	*ret_stats = (dw_replica_stats){0};
	if (HAS(store, replicas))
		store->type->replicas(store, ret_stats);
}

bool driven_node(const dw_store *store, size_t number, dw_node *ret_node)
{
	*ret_node = (dw_node){.size = sizeof *ret_node};
	return HAS(store, node) && store->type->node(store, number, ret_node);
}

void driven_delay(const dw_store *store, char *ret_words, size_t size)
{
	ret_words[0] = '\0';
	if (HAS(store, delay))
		store->type->delay(store, ret_words, size);
}
