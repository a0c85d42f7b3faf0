#include "store/redis/nodes/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "store/redis/core.h"
#include "store/redis/store.h"

#define ASK_EVERY DW_SECONDS(1)
/* The time between two questions after MOVED, or while a node may not be used yet. */
#define ASK_PAUSE DW_MILLISECONDS(200)

/* ---- The list -------------------------------------------------------------------------------- */

static void member_free(struct alloc *alloc, struct member_node *member)
{
	link_free(member->voter);
	link_free(member->node.link);
	alloc_free(alloc, member->url.host);
	alloc_free(alloc, member->url.port);
	alloc_free(alloc, member);
}

/* member_new makes an entry with a voter. Files of TLS, user and password are as in the store's
 * URL. */
static struct member_node *member_new(struct redis_store *store, const char *host, const char *port)
{
	const struct redis_url *url = &store->url;
	struct member_node *member = alloc_new(&store->alloc, sizeof *member);

	if (!member)
		return NULL;
	member->url = (struct redis_url){.kind = REDIS_CLUSTER,
					 .tls = url->tls,
					 .ca = url->ca,
					 .cert = url->cert,
					 .key = url->key,
					 .sni = url->sni,
					 .user = url->user,
					 .password = url->password};
	member->node.named = cluster_unnamed;
	member->proved_at = member->noted_at = INT64_MIN;
	member->first = member->noted_in = SHARDS_MAX;
	member->node.name = member->url.server;
	if (redis_url_aim(&member->url, host, port, &store->alloc) != DW_OK ||
	    voter_link(store, &member->url, &member->voter) != DW_OK) {
		member_free(&store->alloc, member);
		return NULL;
	}
	wake_channel_watch(&store->wake, link_descriptor(member->voter));
	return member;
}

static struct member_node *add(struct redis_store *store, const char *host, const char *port)
{
	struct cluster *cluster = store->nodes.cluster;
	struct member_node *member =
	    cluster->count < NODES_MAX ? member_new(store, host, port) : NULL;

	if (member)
		cluster->list[cluster->count++] = member;
	return member;
}

static void set_slots(struct redis_store *store)
{
	char key[sizeof store->names.name + 16];

	for (unsigned i = 0; i < SHARDS_MAX; i++) {
		(void)snprintf(key, sizeof key, "{%s:%02u}", store->names.name, i); /* it fits */
		store->nodes.cluster->places[i].slot = crc16_of(key) % 16384;
	}
}

int cluster_open(struct redis_store *store)
{
	const struct redis_url *url = &store->url;

	if (url->kind != REDIS_CLUSTER)
		return DW_OK;
	store->nodes.cluster = alloc_new(&store->alloc, sizeof *store->nodes.cluster);
	if (!store->nodes.cluster)
		return DW_ENOMEM;
	set_slots(store);
	/* Until the node of the first shard is known, store->node takes its place, without a
	 * link. */
	store->nodes.count = 0;
	store->node.named = cluster_unnamed;
	for (unsigned i = 0; i < url->host_count; i++)
		if (!add(store, url->hosts[i].host, url->hosts[i].port))
			return DW_ENOMEM;
	return redis_url_aim(&store->url, url->hosts[0].host, url->hosts[0].port, &store->alloc);
}

void cluster_free(struct redis_store *store)
{
	struct cluster *cluster = store->nodes.cluster;

	for (unsigned i = 0; cluster && i < cluster->count; i++)
		member_free(&store->alloc, cluster->list[i]);
	alloc_free(&store->alloc, cluster);
	store->nodes.cluster = NULL;
}

/* begin_node connects to a node that is a master. */
static void begin_node(struct redis_store *store, struct member_node *member)
{
	if (member->node.link || link_open(store, &member->url, NULL, &member->node.link) != DW_OK)
		return; /* the next answer tries again */
	wake_channel_watch(&store->wake, link_descriptor(member->node.link));
	/* Always succeeds: there are no more nodes than members. */
	(void)nodes_add(store, &member->node);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int send(const struct redis_store *store, struct member_node *member,
		const char *const *words, int count)
{
	size_t sizes[3];
	int status;

	for (int i = 0; i < count; i++)
		sizes[i] = strlen(words[i]);
	status = link_send(member->voter, count, words, sizes, store->now);
	member->asked += status == DW_OK;
	return status;
}

/* ask_proof asks a node that is not used yet whether another store has used it in this epoch. */
static void ask_proof(const struct redis_store *store, struct member_node *member)
{
	char key[sizeof store->names.name + 16];
	const char *words[] = {"HGET", key, "node"};

	if (node_is_usable(store, &member->node) || member->first == SHARDS_MAX)
		return;
	(void)snprintf(key, sizeof key, "{%s:%02u}:m", store->names.name,
		       member->first); /* it fits */
	member->asks_proof = send(store, member, words, 3) == DW_OK;
}

/* is_settled returns true if every master that has a link may be used. */
static bool is_settled(const struct redis_store *store)
{
	const struct cluster *cluster = store->nodes.cluster;

	for (unsigned i = 0; i < cluster->count; i++)
		if (cluster->list[i]->node.link && !node_is_usable(store, &cluster->list[i]->node))
			return false;
	return store->nodes.count > 0;
}

static void ask_node(struct redis_store *store, struct member_node *member)
{
	static const char *const words[] = {"CLUSTER", "NODES"};

	if (member->asked > 0 || store->now < member->ask_at || member->is_double)
		return;
	member->asked_at = store->now;
	member->ask_at = usec_add(store->now, is_settled(store) ? ASK_EVERY : ASK_PAUSE);
	member->asks_proof = false;
	if (send(store, member, words, 2) != DW_OK)
		link_drop(member->voter, "no memory for a question");
	else
		ask_proof(store, member);
}

static void ask_soon(const struct cluster *cluster)
{
	for (unsigned i = 0; i < cluster->count; i++) {
		struct member_node *member = cluster->list[i];

		member->ask_at = usec_min(member->ask_at, usec_add(member->asked_at, ASK_PAUSE));
	}
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* take_self notes the node's id from its own line. Two entries may be the same node, one by its
 * name and one by its address. Then the voter of the later one does not ask any more. */
static void take_self(const struct cluster *cluster, struct member_node *member,
		      const struct cluster_line *line)
{
	member->epoch = line->epoch;
	if (strcmp(member->id, line->id) == 0)
		return;
	for (unsigned i = 0; i < cluster->count; i++)
		if (cluster->list[i] != member && strcmp(cluster->list[i]->id, line->id) == 0) {
			member->is_double = true;
			return;
		}
	memcpy(member->id, line->id, sizeof member->id);
}

static bool is_at(const struct member_node *member, const struct cluster_line *line)
{
	return strcmp(member->url.host, line->host) == 0 &&
	       strcmp(member->url.port, line->port) == 0;
}

/* tell_full warns once that the cluster has nodes that are not asked. */
static void tell_full(struct redis_store *store, const struct cluster_line *line)
{
	struct cluster *cluster = store->nodes.cluster;

	if (!cluster->is_full && may_complain(store)) {
		cluster->is_full = true;
		complain(store,
			 "the cluster has more than %d nodes: %.100s:%s and others are not used; "
			 "remove nodes that are gone (CLUSTER FORGET), or use fewer replicas",
			 NODES_MAX, line->host, line->port);
	}
}

/* find returns the entry of a node, and adds one if there is none. NULL: the list is full, or there
 * is no memory. */
static struct member_node *find(struct redis_store *store, const struct cluster_line *line)
{
	struct cluster *cluster = store->nodes.cluster;
	struct member_node *member = NULL;

	for (unsigned i = 0; i < cluster->count && !member; i++)
		if (strcmp(cluster->list[i]->id, line->id) == 0)
			member = cluster->list[i];
	for (unsigned i = 0; i < cluster->count && !member; i++)
		if (!cluster->list[i]->id[0] && is_at(cluster->list[i], line))
			member = cluster->list[i];
	if (!member && line->is_known && line->host[0])
		member = add(store, line->host, line->port);
	if (!member && cluster->count == NODES_MAX)
		tell_full(store, line);
	if (member)
		memcpy(member->id, line->id, sizeof member->id);
	return member;
}

/* follow_address changes the address of an entry that is not connected, because a node that came
 * back may have another one. As long as a name from the URL leads to the node, the name stays. */
static void follow_address(struct redis_store *store, struct member_node *member,
			   const struct cluster_line *line)
{
	if (member->connection || !line->is_known || !line->host[0] || is_at(member, line) ||
	    redis_url_aim(&member->url, line->host, line->port, &store->alloc) != DW_OK)
		return;
	link_aim(member->voter, store->now);
	link_aim(member->node.link, store->now);
}

/* take_claims notes which slots the node has. */
static void take_claims(struct nodes *nodes, struct member_node *member,
			const struct cluster_line *line)
{
	for (unsigned i = 0; i < SHARDS_MAX; i++) {
		struct cluster_place *place = &nodes->cluster->places[i];

		if ((place->member && line->epoch <= place->epoch && place->member != member) ||
		    !cluster_line_has(line, place->slot))
			continue;
		place->epoch = line->epoch;
		place->member = member;
		nodes->place[i] = &member->node;
		if (i == 0)
			nodes->home = &member->node;
	}
}

/* find_first notes the first shard at each node. */
static void find_first(struct cluster *cluster)
{
	for (unsigned i = 0; i < cluster->count; i++)
		cluster->list[i]->first = SHARDS_MAX;
	for (unsigned i = SHARDS_MAX; i-- > 0;)
		if (cluster->places[i].member)
			cluster->places[i].member->first = i;
}

static void vote(struct redis_store *store, unsigned voter, struct member_node *member, bool names)
{
	struct vote vote = {.asked = store->nodes.cluster->list[voter]->asked_at};

	if (names)
		memcpy(vote.server, member->id, sizeof member->id);
	vote_take(&member->votes[voter], &vote, store->now, 0);
}

/* take_line takes one line of the voter's answer, which describes a node. */
static void take_line(struct redis_store *store, unsigned voter, const struct cluster_line *line,
		      bool is_vote)
{
	struct member_node *member = find(store, line);

	if (!member)
		return;
	follow_address(store, member, line);
	vote(store, voter, member, is_vote && line->is_master);
	if (!line->is_master)
		return;
	begin_node(store, member);
	if (member->node.link)
		take_claims(&store->nodes, member, line);
}

/* count_masters counts the masters with slots. It returns 0 if the voter is not one of them, or if
 * it is not in a cluster. */
static unsigned count_masters(const char *text, struct cluster_line *ret_self)
{
	struct cluster_line line;
	unsigned count = 0;

	*ret_self = (struct cluster_line){.slots = NULL};
	for (const char *at = text; (at = cluster_line_read(at, &line));) {
		count += line.is_master;
		if (line.is_self)
			*ret_self = line;
	}
	return ret_self->is_master ? count : 0;
}

static void take_nodes(struct redis_store *store, unsigned voter, const struct reply *reply)
{
	struct member_node *member = store->nodes.cluster->list[voter];
	struct cluster_line self, line;

	self.is_self = false;
	if (reply->kind == REPLY_BULK)
		member->masters = count_masters(reply->bytes, &self);
	if (!self.is_self) {
		member_note_refusal(member, reply);
		return;
	}
	member->is_useless = false;
	take_self(store->nodes.cluster, member, &self);
	if (member->is_double)
		return;
	member->words[0] = '\0';
	for (const char *at = reply->bytes; (at = cluster_line_read(at, &line));)
		take_line(store, voter, &line, member->masters > 0);
	find_first(store->nodes.cluster);
}

/* take_proof reads "ID:EPOCH". */
static void take_proof(struct member_node *member, const struct reply *reply)
{
	char mine[CLUSTER_ID_SIZE + 24];

	(void)snprintf(mine, sizeof mine, "%s:%" PRIu64, member->id, member->epoch); /* it fits */
	if (reply->kind == REPLY_BULK && reply_is(reply, mine))
		member->noted_at = member->asked_at;
}

static void take(struct redis_store *store, unsigned number, const struct reply *reply)
{
	struct member_node *member = store->nodes.cluster->list[number];

	if (member->asked == 0) {
		link_drop(member->voter, "the server sent a reply to no command");
		return;
	}
	member->asked--;
	store->nodes.cluster->has_answers = true;
	if (member->asks_proof && member->asked == 0)
		take_proof(member, reply);
	else
		take_nodes(store, number, reply);
}

static void work(struct redis_store *store, unsigned number)
{
	struct member_node *member = store->nodes.cluster->list[number];
	struct reply *reply;

	link_work(member->voter, store->now);
	if (link_connection(member->voter) != member->connection) {
		member->connection = link_connection(member->voter);
		member->asked = 0;
		member->ask_at = INT64_MIN;
	}
	if (!member->connection)
		return;
	while ((reply = link_take(member->voter))) {
		take(store, number, reply);
		reply_free(reply);
	}
	ask_node(store, member);
	link_work(member->voter, store->now);
}

/* ---- Following the slots --------------------------------------------------------------------- */

/* follow lets a shard follow its slot. A node that was emptied has lost its note. So the note is
 * written again after a shard at the node was rebuilt. */
static void follow(struct redis_store *store, struct shard *shard)
{
	struct member_node *member = store->nodes.cluster->places[shard->number].member;

	nodes_follow(store, shard);
	if (member && shard->rebuild.state != REBUILD_NONE)
		member->noted = 0;
}

/* aim lets the subscribers use another node when their node is away. Any node will do, because a
 * published message reaches all nodes. */
static void aim(struct redis_store *store)
{
	const struct member_node *found = NULL;

	for (unsigned i = 0; i < store->nodes.cluster->count; i++) {
		const struct member_node *member = store->nodes.cluster->list[i];

		if (!member->node.connection)
			continue;
		if (strcmp(member->url.host, store->url.host) == 0 &&
		    strcmp(member->url.port, store->url.port) == 0)
			return;
		found = found ? found : member;
	}
	if (!found ||
	    redis_url_aim(&store->url, found->url.host, found->url.port, &store->alloc) != DW_OK)
		return;
	link_aim(store->wake.link, store->now);
	link_aim(store->wake.next, store->now);
	link_aim(store->later.consumers.link, store->now);
}

void cluster_work(struct redis_store *store)
{
	if (!store->nodes.cluster)
		return;
	if (store->nodes.has_moved)
		ask_soon(store->nodes.cluster);
	store->nodes.has_moved = false;
	for (unsigned i = 0; i < store->nodes.cluster->count; i++)
		work(store, i);
	votes_count(store);
	aim(store);
	for (unsigned i = 0; i < store->shard_count; i++)
		follow(store, &store->shards[i]);
	cluster_note(store);
}

dw_usec cluster_due(const struct nodes *nodes)
{
	const struct cluster *cluster = nodes->cluster;
	dw_usec at = DW_NEVER;

	for (unsigned i = 0; cluster && i < cluster->count; i++) {
		const struct member_node *member = cluster->list[i];

		at = usec_min(at, link_due(member->voter));
		if (member->connection && member->asked == 0)
			at = usec_min(at, member->ask_at);
	}
	return at;
}

dw_usec cluster_settling_until(const struct redis_store *store)
{
	const struct cluster *cluster = store->nodes.cluster;
	dw_usec until = INT64_MIN;

	for (unsigned i = 0; cluster && i < cluster->count; i++) {
		const struct node *node = &cluster->list[i]->node;
		const struct nomination *named = &node->named;
		bool fatal;

		if (named->server[0] && node_is_new(node) && store->now < named->until &&
		    !link_trouble(node->link, &fatal)[0])
			until = usec_max(
			    until, usec_add(named->since, NAMED_FOR + NAMED_OTHERS + ASK_EVERY));
	}
	return until;
}
