#include "store/redis/nodes/shown.h"

#include <stdio.h>

#include "base/usec.h"
#include "store/redis/core.h"

/* say_unused says why a connected server is not used. */
static void say_unused(const struct redis_store *store, const struct node *node, char *ret_why)
{
	const struct nomination *named = &node->named;
	dw_usec left = usec_sub(usec_add(named->since, NAMED_FOR), store->now);

	if (!named->server[0] || store->now >= named->until || left <= 0)
		(void)snprintf(ret_why, DW_MESSAGE_SIZE,
			       "no majority names it: look whether the others are up and see it");
	else
		(void)snprintf(
		    ret_why, DW_MESSAGE_SIZE,
		    "it was named a moment ago: it is used in %d s, when nobody uses the "
		    "last server any more",
		    (int)(left / 1000000) + 1);
}

static void fill(const struct redis_store *store, const struct node *node, dw_node *shown)
{
	bool fatal;
	const char *trouble = link_trouble(node->link, &fatal);

	(void)snprintf(shown->name, sizeof shown->name, "%s",
		       node->name ? node->name : store->url.server); /* it fits */
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].node == node)
			shown->shards[i / 64] |= UINT64_C(1) << i % 64;
	shown->is_connected = node->connection != 0;
	shown->arrived = node->arrived;
	shown->replicas = store->url.replicas;
	shown->is_late = node->held.is_late;
	if (shown->is_connected)
		return;
	shown->away_us = usec_max(usec_sub(store->now, node->down_since), 0);
	if (trouble[0])
		(void)snprintf(shown->why, sizeof shown->why, "%s", trouble);
	else
		say_unused(store, node, shown->why);
}

/* is_first returns true if no shard before this one is at the same node. */
static bool is_first(const struct redis_store *store, unsigned shard)
{
	for (unsigned i = 0; i < shard; i++)
		if (store->shards[i].node == store->shards[shard].node)
			return false;
	return true;
}

/* shown_node shows the nodes in the order of their first shards. It leaves out masters that have no
 * shard of this namespace. */
int shown_node(const dw_store *base, size_t number, dw_node *ret_node)
{
	const struct redis_store *store = (const struct redis_store *)base;

	if (!store->nodes.sentinels && !store->nodes.cluster)
		return 0;
	for (unsigned i = 0; i < store->shard_count; i++) {
		if (!is_first(store, i) || number-- > 0)
			continue;
		fill(store, store->shards[i].node, ret_node);
		return 1;
	}
	return 0;
}
