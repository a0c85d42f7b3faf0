/* A node: sends commands in order, and passes each reply to the sender of its command. A command
 * that waits for its reply is a request. */
#include "store/redis/wire/node.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "redis/link_server.h"
#include "store/redis/core.h"

/* The most items of replies that one turn takes; the next turn takes the others. */
#define ITEMS_A_TURN 4096u

/* ---- Requests -------------------------------------------------------------------------------- */

struct redis_request *request_new(struct alloc *alloc, struct shard *shard,
				  void (*answered)(struct redis_store *, struct redis_request *,
						   const struct reply *),
				  void (*lost)(struct redis_store *, struct redis_request *))
{
	struct redis_request *request = alloc_new(alloc, sizeof *request);

	if (!request)
		return NULL;
	request->shard = shard;
	request->answered = answered;
	request->lost = lost;
	return request;
}

void request_free(struct alloc *alloc, struct redis_request *request)
{
	assert(!request->ops.first);
	alloc_free(alloc, request);
}

void request_push(struct request_list *list, struct redis_request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

struct redis_request *request_pop(struct request_list *list)
{
	struct redis_request *request = list->first;

	if (!request)
		return NULL;
	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	request->next = NULL;
	return request;
}

struct node *request_node(struct redis_store *store, const struct redis_request *request)
{
	if (request->node)
		return request->node;
	if (request->shard)
		return request->shard->node;
	return store->draft.node ? store->draft.node : store->nodes.home;
}

int request_send(struct redis_store *store, struct redis_request *request)
{
	const struct redis_draft *draft = &store->draft;
	const struct redis_command *words = &draft->words;
	struct node *node = request_node(store, request);
	int status;

	assert(draft->shape);
	/* The link may already be up again while the requests of its last connection are given
	 * up. */
	if (!node->connection)
		return DW_ESTORE;
	if (words->status != DW_OK)
		return words->status;
	status = link_send(node->link, words->count, words->word, words->size, store->now);
	if (status != DW_OK)
		return status;
	request->node = node;
	request->history = node->history;
	request->sent = store->now;
	request->script = draft->script;
	request->shape = draft->shape;
	request->as_owner = request->shard && shard_is_ours(request->shard);
	if (request->number) {
		assert(request->shard->channel.next == request->number);
		request->shard->channel.next++;
		request->shard->channel.under_way++;
	}
	request_push(&node->under_way, request);
	return DW_OK;
}

int request_post(struct redis_store *store, struct shard *shard, request_answered *answered,
		 request_lost *lost, void *context)
{
	struct redis_request *request = request_new(&store->alloc, shard, answered, lost);
	int status;

	if (!request)
		return DW_ENOMEM;
	request->context = context;
	status = request_send(store, request);
	if (status != DW_OK)
		request_free(&store->alloc, request);
	return status;
}

/* ---- The connection -------------------------------------------------------------------------- */

/* mark_unsent marks the last requests if the link has not sent them. */
static void mark_unsent(struct node *node)
{
	size_t unsent = link_unsent(node->link), count = 0;
	struct redis_request *request;

	for (request = node->under_way.first; request; request = request->next)
		count++;
	for (request = node->under_way.first; request; request = request->next)
		request->is_unsent = count-- <= unsent;
}

static void connection_lost(struct redis_store *store, struct node *node)
{
	struct redis_request *request = node->under_way.first;

	mark_unsent(node);
	if (request && link_blamed(node->link) == node->seen)
		request->closed_on = node->connection;
	node->last = node->connection;
	node->last_seen = node->seen;
	node->connection = 0;
	node->down_since = store->now;
	node->went_down = true;
	/* The replies to these requests came first, so they are the first in doubt. */
	while ((request = request_pop(&node->held.requests)))
		request->lost(store, request);
	while ((request = request_pop(&node->under_way)))
		request->lost(store, request);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct channel *channel = &store->shards[i].channel;

		if (store->shards[i].node != node)
			continue;
		channel->handshake = HANDSHAKE_NONE;
		channel->under_way = 0;
		channel->is_broken = false;
		channel->pause_until = 0;
	}
}

/* end_leases ends the leases at the time when the majority for their server was over. They have
 * ended even if a majority names the server again, because another process may have used another
 * server meanwhile. */
static void end_leases(const struct redis_store *store, const struct node *node, bool is_moved)
{
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard_lease *lease = &store->shards[i].lease;

		if (store->shards[i].node != node)
			continue;
		lease->until = usec_min(usec_add(lease->until, lease->away), node->named.until);
		lease->away = 0;
		lease->is_moved = lease->is_ours && (is_moved || lease->is_moved);
	}
}

void node_name(struct redis_store *store, struct node *node, const struct nomination *named)
{
	bool is_moved = node->named.server[0] && strcmp(node->named.server, named->server) != 0;

	node->arrived += is_moved ? store->shard_count : 0;
	if (is_moved || store->now >= node->named.until)
		end_leases(store, node, is_moved);
	node->named = *named;
}

bool node_is_new(const struct node *node)
{
	return node->named.length < NAMED_FOR + NAMED_OTHERS;
}

bool node_is_usable(const struct redis_store *store, const struct node *node)
{
	return named_is_usable(&node->named, store->ownership.role == DW_OWNER, store->now);
}

/* connection_of returns the link's connection, or 0 if this store must not use the server. In that
 * case it drops the connection, so that replies to commands sent before do not count: a server that
 * stood still may have carried them out after another server took its place. */
static uint64_t connection_of(const struct redis_store *store, struct node *node)
{
	if (node_is_usable(store, node))
		return link_connection(node->link);
	if (node->connection)
		link_drop(node->link, "no majority names this server any more");
	return 0;
}

/* note_server notices that the connection leads to another server, or to a server that was not the
 * master all the time. If the server does not show its ids, it counts as another one. */
static void note_server(struct node *node)
{
	const struct link_server *server = link_server(node->link);

	if (server && server->id[0] && server->history[0] &&
	    strcmp(server->id, node->server) == 0 &&
	    strcmp(server->history, node->replication) == 0)
		return;
	node->history++;
	node->server[0] = node->replication[0] = '\0';
	if (!server)
		return;
	memcpy(node->server, server->id, sizeof node->server);
	memcpy(node->replication, server->history, sizeof node->replication);
}

void node_watch(struct redis_store *store, struct node *node)
{
	uint64_t connection = connection_of(store, node);

	if (connection == (node->connection ? node->seen : 0))
		return;
	if (node->connection)
		connection_lost(store, node);
	if (!connection)
		return;
	node->seen = connection;
	node->connection = ++store->names.connections;
	node->blamed = link_blamed(node->link) == node->last_seen ? node->last : 0;
	note_server(node);
	node->came_up = true;
}

/* items_of counts the items of a reply on the first two levels, because a page of a scan is an
 * array of arrays. */
static size_t items_of(const struct reply *reply)
{
	size_t count = 1;

	if (reply->kind != REPLY_ARRAY)
		return count;
	for (size_t i = 0; i < reply->count; i++)
		count += reply->items[i].kind == REPLY_ARRAY ? reply->items[i].count : 1;
	return count;
}

/* request_misread is called when a reply has a wrong shape. The replies behind it may then belong
 * to other commands. So the connection is dropped, and all requests on it are lost. */
static void request_misread(struct redis_request *request)
{
	char why[DW_MESSAGE_SIZE];

	for (dw_op *op = request->ops.first; op; op = op->next)
		op->flags |= op->flags & OP_MISREAD ? OP_MISREAD_AGAIN : OP_MISREAD;
	(void)snprintf(why, sizeof why,
		       "the reply to %s has a wrong shape: check whether a proxy changes the "
		       "replies",
		       request->shape->command); /* it fits */
	link_drop(request->node->link, why);
}

/* take_reply passes the reply to the oldest request. If the shape of the reply is wrong, this
 * request is lost, together with the requests behind it. */
static void take_reply(struct redis_store *store, struct node *node, const struct reply *reply)
{
	struct redis_request *request = node->under_way.first;

	if (!request) {
		link_drop(node->link, "the server sent a reply to no command");
	} else if (!shape_fits(request->shape, reply, request->ops.count)) {
		request_misread(request);
	} else {
		(void)request_pop(&node->under_way);
		request->answered(store, request, reply);
	}
}

/* watch_again reads the clock again, because the time in which this store may use the server may be
 * over. */
static void watch_again(struct redis_store *store, struct node *node)
{
	if (node->named.until == DW_NEVER)
		return;
	store->now = store->env.steady(store->env.steady_user);
	node_watch(store, node);
}

/* take_replies returns true if there was a reply. */
static bool take_replies(struct redis_store *store, struct node *node)
{
	size_t items = 0;
	struct reply *reply;

	while (items < ITEMS_A_TURN && node->connection && (reply = link_take(node->link))) {
		watch_again(store, node);
		if (node->connection)
			take_reply(store, node, reply);
		items += items_of(reply);
		reply_free(reply);
		node_watch(store, node);
	}
	return items > 0;
}

bool node_refuses(const struct node *node)
{
	bool fatal;

	return node->connection && link_trouble(node->link, &fatal)[0];
}

void node_wire(struct redis_store *store, struct node *node)
{
	link_work(node->link, store->now);
	node_watch(store, node);
	watch_again(store, node);
	/* The link may have read more replies while it wrote. Then the descriptor is not readable
	 * any more, so the next turn must come by itself. */
	node->more = take_replies(store, node);
}
