#include "store/redis/wire/nodes.h"

#include "store/redis/core.h"

bool nodes_add(struct redis_store *store, struct node *node)
{
	struct nodes *nodes = &store->nodes;

	if (nodes->count == NODES_MAX)
		return false;
	node->down_since = store->env.steady(store->env.steady_user);
	nodes->list[nodes->count++] = node;
	if (!nodes->home)
		nodes->home = node;
	return true;
}

/* is_busy returns true if a reply of the shard's node may still change something of the shard. */
static bool is_busy(const struct acquisition *acquisition, const struct shard *shard)
{
	return shard->channel.under_way > 0 || shard->channel.handshake == HANDSHAKE_ASKED ||
	       shard->lease.is_renewing || shard->inbox.is_read || shard->cut.is_asked ||
	       shard->confirm.is_asked || shard->give.is_asked ||
	       shard->rebuild.state == REBUILD_ACQUIRING || acquisition->active;
}

/* bring moves a shard to another node. Its lease ends at the latest when its old node was not to be
 * used any more. While the new node shows our fence, nobody else has had the shard there. */
static void bring(struct redis_store *store, struct shard *shard, struct node *node)
{
	struct shard_lease *lease = &shard->lease;

	lease->until = usec_min(usec_add(lease->until, lease->away), shard->node->named.until);
	lease->away = 0;
	lease->is_moved = lease->is_ours;
	node->arrived += shard->node->link != NULL;
	shard->node = node;
	channel_forget(&shard->channel);
	shard->channel.moved = ++store->names.connections;
	shard->channel.is_moving = shard->channel.is_broken = false;
	shard->channel.pause_until = 0;
	shard->cut.look_at = usec_min(shard->cut.look_at, store->now);
	shard_expect_news(&store->sets, shard);
	shard_mark(&store->sets, shard, lease->is_ours ? SHARD_HANDSHAKE : SHARD_READY);
}

void nodes_follow(struct redis_store *store, struct shard *shard)
{
	struct node *to = store->nodes.place[shard->number];
	bool is_moving = to && to != shard->node;

	if (shard->channel.is_moving && !is_moving)
		shard_mark(&store->sets, shard, SHARD_READY);
	shard->channel.is_moving = is_moving;
	if (is_moving && !is_busy(&store->ownership.acquisition, shard))
		bring(store, shard, to);
}

uint64_t nodes_connection(const struct shard *shard)
{
	uint64_t number = shard->node->connection;

	return number > shard->channel.moved ? number : shard->channel.moved;
}

void nodes_moved(struct redis_store *store)
{
	store->nodes.has_moved = true;
	nodes_rest(store);
}

void nodes_rest(struct redis_store *store)
{
	store->nodes.pause_until = usec_add(store->now, DW_MILLISECONDS(20));
}

const struct node *nodes_new(const struct redis_store *store)
{
	for (unsigned i = 0; i < store->nodes.count; i++) {
		const struct node *node = store->nodes.list[i];

		/* A master that was replaced stays in the list, though nobody names it. */
		if (node_is_new(node) && store->now < node->named.until)
			return node;
	}
	return NULL;
}

bool nodes_are_up(const struct nodes *nodes)
{
	for (unsigned i = 0; i < nodes->count; i++)
		if (nodes->list[i]->connection)
			return true;
	return false;
}

bool nodes_have_work(const struct nodes *nodes)
{
	for (unsigned i = 0; i < nodes->count; i++) {
		const struct node *node = nodes->list[i];

		if (node->connection && (node->under_way.first || node->held.requests.first))
			return true;
	}
	return false;
}

void nodes_wire(struct redis_store *store)
{
	for (unsigned i = 0; i < store->nodes.count; i++)
		node_wire(store, store->nodes.list[i]);
}

dw_usec nodes_due(const struct redis_store *store)
{
	dw_usec at = DW_NEVER;

	for (unsigned i = 0; i < store->nodes.count; i++) {
		const struct node *node = store->nodes.list[i];

		at = usec_min(at, node->more ? store->now : link_due(node->link));
		if (store->now < node_trouble_at(node))
			at = usec_min(at, node_trouble_at(node));
	}
	return at;
}

void nodes_drop(struct redis_store *store, const char *why)
{
	for (unsigned i = 0; i < store->nodes.count; i++) {
		struct node *node = store->nodes.list[i];

		if (!node->under_way.first && !store->scans)
			continue;
		link_drop(node->link, why);
		node_watch(store, node);
	}
}

void nodes_lose(struct redis_store *store)
{
	/* All connections count as down first, so that no lost request sends anything. */
	for (unsigned i = 0; i < store->nodes.count; i++)
		store->nodes.list[i]->connection = 0;
	for (unsigned i = 0; i < store->nodes.count; i++) {
		struct request_list *list = &store->nodes.list[i]->under_way;
		struct redis_request *request;

		while ((request = request_pop(list)))
			request->lost(store, request);
	}
}

void nodes_careful(struct redis_store *store)
{
	for (unsigned i = 0; i < store->nodes.count; i++)
		link_careful(store->nodes.list[i]->link, store->now);
}

bool nodes_blame(const struct nodes *nodes, uint32_t closed_on)
{
	for (unsigned i = 0; closed_on && i < nodes->count; i++)
		if (closed_on == (uint32_t)nodes->list[i]->blamed)
			return true;
	return false;
}
