/* Functions of the class that only call the same function of the store of Redis. */
#include "port/driven.h"
#include "store/fallback/core.h"

static const dw_store *redis_of(const dw_store *store)
{
	return ((const struct fallback *)store)->front;
}

int front_descriptor(const dw_store *store)
{
	return driven_descriptor(redis_of(store));
}

int front_is_lost(const dw_store *store, const char *id)
{
	return driven_is_lost(redis_of(store), id);
}

int front_is_whole(dw_store *store)
{
	return driven_is_whole(((struct fallback *)store)->front);
}

unsigned front_shards(const dw_store *store)
{
	return driven_shards(redis_of(store));
}

unsigned front_shard_of(const dw_store *store, const char *id)
{
	return driven_shard_of(redis_of(store), id);
}

int front_take_shard(dw_store *store, dw_shard_news *ret_news)
{
	return driven_take_shard(((struct fallback *)store)->front, ret_news);
}

int front_take_call(dw_store *store, dw_take_call *ret_call)
{
	return driven_take_call(((struct fallback *)store)->front, ret_call);
}

void front_replicas(const dw_store *store, dw_replica_stats *ret_stats)
{
	driven_replicas(redis_of(store), ret_stats);
}

int front_node(const dw_store *store, size_t number, dw_node *ret_node)
{
	return driven_node(redis_of(store), number, ret_node);
}
