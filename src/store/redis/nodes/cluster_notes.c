/* Writes notes about which nodes of a cluster are used. A store that is opened later reads them,
 * and need not wait before it uses these nodes. */
#include <inttypes.h>
#include <stdio.h>

#include "store/redis/core.h"

/* may_note returns true if this store may write the note about a node. An owner notes each epoch. A
 * client that writes only notes nodes about which nobody has written. A server that was emptied has
 * lost the note, and gets it again when its shards were rebuilt. */
static bool may_note(const struct redis_store *store, const struct member_node *member)
{
	bool writes = false, owns = false;

	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];
		bool is_here = shard->node == &member->node;
		bool is_open = shard->channel.handshake == HANDSHAKE_DONE;

		if (is_here && shard->rebuild.state != REBUILD_NONE)
			return false;
		writes = writes || is_open;
		owns = owns || (is_here && is_open && shard_is_ours(shard));
	}
	return owns || (writes && member->noted_at == INT64_MIN);
}

/* note writes the note about one node, with its epoch, if the present note differs. */
static void note(struct redis_store *store, struct member_node *member)
{
	char text[CLUSTER_ID_SIZE + 24];

	if (member->noted == member->epoch && member->noted_in == member->first)
		return;
	if (member->first == SHARDS_MAX || !node_is_usable(store, &member->node) ||
	    node_is_new(&member->node) || !may_note(store, member))
		return;
	(void)snprintf(text, sizeof text, "%s:%" PRIu64, member->id, member->epoch); /* it fits */
	if (layout_note_node(store, member->first, &member->node, text) != DW_OK)
		return; /* the next turn tries again */
	member->noted = member->epoch;
	member->noted_in = member->first;
}

void cluster_note(struct redis_store *store)
{
	for (unsigned i = 0; i < store->nodes.cluster->count; i++)
		note(store, store->nodes.cluster->list[i]);
}
