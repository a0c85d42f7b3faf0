/* Says why no node of a cluster is used. */
#include <stdio.h>

#include "store/redis/core.h"
#include "store/redis/store.h"

/* why says what is wrong with one node. */
static const char *why(const struct member_node *member, char room[DW_MESSAGE_SIZE])
{
	bool fatal;
	const char *trouble = link_trouble(member->voter, &fatal);

	if (!member->connection && trouble[0])
		return trouble;
	(void)snprintf(room, DW_MESSAGE_SIZE, "%.100s: %.140s", member->url.server,
		       member->words[0] ? member->words : "it is not used yet"); /* cut if long */
	return room;
}

static const char *why_none(const struct redis_store *store, char *room)
{
	const struct cluster *cluster = store->nodes.cluster;
	char part[DW_MESSAGE_SIZE];
	size_t used;

	used = (size_t)snprintf(room, DW_MESSAGE_SIZE,
				"no majority of the masters of the cluster names a node for %d s",
				(int)(NAMED_FOR / 1000000));
	for (unsigned i = 0; i < cluster->count; i++)
		if (used < DW_MESSAGE_SIZE && !cluster->list[i]->is_double)
			used += (size_t)snprintf(room + used, DW_MESSAGE_SIZE - used, "; %s",
						 why(cluster->list[i], part));
	return room;
}

const char *store_why(const struct redis_store *store, char *room, bool *ret_fatal)
{
	*ret_fatal = false;
	if (!store->nodes.cluster)
		return sentinels_why(store, room, ret_fatal);
	return nodes_are_up(store) ? "" : why_none(store, room);
}
