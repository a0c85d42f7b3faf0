/* Counts which masters the masters of a cluster name: this decides which of them may be used, and
 * until when. */
#include <string.h>

#include "base/usec.h"
#include "store/redis/core.h"

static unsigned masters_of(const struct cluster *cluster)
{
	unsigned most = 1;

	for (unsigned i = 0; i < cluster->count; i++)
		if (cluster->list[i]->masters > most)
			most = cluster->list[i]->masters;
	return most;
}

/* is_voter returns true if another master names this one, so that this master has not been
 * replaced, or if it is the only master. */
static bool is_voter(const struct redis_store *store, unsigned number)
{
	const struct member_node *member = store->nodes.cluster->list[number];

	for (unsigned i = 0; i < store->nodes.cluster->count; i++)
		if (i != number && member->votes[i].server[0] &&
		    store->now < usec_add(member->votes[i].asked, NAMED_BOUND))
			return true;
	return member->masters == 1;
}

/* gather copies the votes of all nodes that are voters. */
static void gather(struct redis_store *store, const struct member_node *member)
{
	struct cluster *cluster = store->nodes.cluster;

	for (unsigned i = 0; i < cluster->count; i++) {
		cluster->counted[i] = member->votes[i];
		if (!is_voter(store, i))
			cluster->counted[i].server[0] = '\0';
	}
}

/* length_of returns for how long enough others have named the node. Once the node was used, by this
 * store or by a store that has written a note, its own word counts, too: as long as the others name
 * this node, they name no node in its place. */
static dw_usec length_of(struct redis_store *store, struct member_node *member, unsigned number,
			 const struct nomination *all)
{
	struct cluster *cluster = store->nodes.cluster;
	struct nomination others = cluster_unnamed;
	unsigned masters = masters_of(cluster);

	member->lacks_others = false;
	if (all->since <= member->proved_at || all->since <= member->noted_at)
		return usec_max(all->length, NAMED_FOR + NAMED_OTHERS);
	if (masters == 1)
		return all->length;
	cluster->counted[number].server[0] = '\0';
	member->lacks_others = !named_count(&others, cluster->counted, cluster->count,
					    named_others(masters), store->now);
	return member->lacks_others ? 0 : others.length;
}

static void count_of(struct redis_store *store, unsigned number)
{
	struct member_node *member = store->nodes.cluster->list[number];
	struct nomination named = cluster_unnamed;

	gather(store, member);
	if (!named_count(&named, store->nodes.cluster->counted, store->nodes.cluster->count,
			 named_majority(masters_of(store->nodes.cluster)), store->now))
		return;
	named.length = length_of(store, member, number, &named);
	if (named.length >= NAMED_FOR + NAMED_OTHERS)
		member->proved_at = store->now;
	node_name(store, &member->node, &named);
}

void votes_count(struct redis_store *store)
{
	for (unsigned i = 0; store->nodes.cluster->has_answers && i < store->nodes.cluster->count;
	     i++)
		count_of(store, i);
	store->nodes.cluster->has_answers = false;
}
