/* Says why no node of a cluster is used. */
#include <stdio.h>

#include "store/redis/core.h"
#include "store/redis/nodes/why_list.h"
#include "store/redis/store.h"

void member_note_refusal(struct member_node *member, const struct reply *reply)
{
	const bool tls = member->url.tls;

	member->is_useless = reply_fails(reply, "ERR This instance has cluster support disabled") ||
			     reply_fails(reply, "ERR unknown command");
	if (reply_fails(reply, "ERR unknown command"))
		(void)snprintf(member->words, sizeof member->words,
			       "it does not know CLUSTER NODES: for Sentinels use "
			       "%sHOST,HOST/MASTER",
			       redis_url_scheme(REDIS_SENTINEL, tls));
	else if (member->is_useless)
		(void)snprintf(member->words, sizeof member->words,
			       "it is no node of a Redis Cluster: use %s",
			       redis_url_scheme(REDIS_SINGLE, tls));
	else
		(void)snprintf(member->words, sizeof member->words, "%.160s",
			       reply->kind == REPLY_ERROR
				   ? reply->bytes
				   : "its answer to CLUSTER NODES is not that of a Redis Cluster");
}

static bool are_useless(const struct cluster *cluster)
{
	for (unsigned i = 0; i < cluster->count; i++)
		if (!cluster->list[i]->is_useless)
			return false;
	return cluster->count > 0;
}

/* has_answers returns true if a node has answered which nodes the cluster has. */
static bool has_answers(const struct cluster *cluster)
{
	for (unsigned i = 0; i < cluster->count; i++)
		if (cluster->list[i]->id[0])
			return true;
	return false;
}

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

static bool has_slots(const struct cluster *cluster)
{
	for (unsigned i = 0; i < SHARDS_MAX; i++)
		if (cluster->places[i].member)
			return true;
	return false;
}

/* lacks_others returns true if there are masters that too few others name, in a namespace without
 * notes. */
static bool lacks_others(const struct cluster *cluster)
{
	for (unsigned i = 0; i < cluster->count; i++)
		if (cluster->list[i]->lacks_others)
			return true;
	return false;
}

/* is_told returns true if the list of troubles has this node. A replica is not used, which is no
 * trouble. */
static bool is_told(const struct member_node *member)
{
	return !member->is_double && !member->lacks_others &&
	       (!member->connection || member->masters > 0 || member->words[0]);
}

static const char *why_none(const struct cluster *cluster, char *room)
{
	char subject[DW_MESSAGE_SIZE] = "no node of the cluster can be used", part[DW_MESSAGE_SIZE];
	struct why_list list;

	if (lacks_others(cluster))
		(void)snprintf(subject, sizeof subject,
			       "too few masters of the cluster answer for a namespace that is new "
			       "there"); /* it fits */
	else if (has_slots(cluster))
		(void)snprintf(subject, sizeof subject,
			       "no majority of the masters of the cluster names a node for %d s",
			       (int)(NAMED_FOR / 1000000)); /* it fits */
	else if (has_answers(cluster))
		(void)snprintf(subject, sizeof subject,
			       "no master of the cluster has slots: redis-cli --cluster create "
			       "assigns them"); /* it fits */
	why_list_begin(&list, room, subject);
	for (unsigned i = 0; i < cluster->count; i++)
		if (is_told(cluster->list[i]))
			why_list_add(&list, why(cluster->list[i], part));
	why_list_end(&list);
	return room;
}

const char *store_why(const struct redis_store *store, char *room, bool *ret_fatal)
{
	*ret_fatal = false;
	if (!store->nodes.cluster)
		return sentinels_why(store, room, ret_fatal);
	*ret_fatal = are_useless(store->nodes.cluster);
	return nodes_are_up(&store->nodes) ? "" : why_none(store->nodes.cluster, room);
}
