/* Asks each connected server for its time, INFO, and some settings, and a node of a cluster also
 * for the state of the cluster. A server may refuse any of these questions; the refusal is a fact,
 * too. The settings are named one by one, because CONFIG GET with a wildcard for all of them would
 * return the passwords. Adds what this store knows of the Sentinels, and of nodes that do not
 * answer. */
#include "store/redis/page/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

/* The questions to a server. The first one measures the time of a reply. */
static const struct {
	enum redis_command_id command;
	const char *words[2];
} questions[] = {
    {COMMAND_TIME, {NULL, NULL}},
    {COMMAND_INFO, {NULL, NULL}},
    {COMMAND_CONFIG, {"GET", "maxmemory*"}},
    {COMMAND_CONFIG, {"GET", "appendonly"}},
    {COMMAND_CONFIG, {"GET", "appendfsync"}},
    {COMMAND_CONFIG, {"GET", "save"}},
    {COMMAND_CONFIG, {"GET", "timeout"}},
    {COMMAND_CONFIG, {"GET", "tcp-keepalive"}},
    {COMMAND_CONFIG, {"GET", "client-output-buffer-limit"}},
    {COMMAND_CONFIG, {"GET", "client-query-buffer-limit"}},
    {COMMAND_CONFIG, {"GET", "proto-max-bulk-len"}},
    {COMMAND_CONFIG, {"GET", "cluster-*"}},
    {COMMAND_CLUSTER, {"INFO", NULL}},
};

/* How many of the questions are only for nodes of a cluster. They are the last ones. */
enum { OF_CLUSTERS = 2 };

struct facts {
	dw_op *op;
	dw_row **tail;
	unsigned left;
	unsigned answers;
	int status; /* the first failure in this process; a failure of a server is a fact */
};

static void end_one(struct redis_store *store, struct facts *facts)
{
	dw_op *op = facts->op;
	int status = facts->status;

	if (--facts->left > 0)
		return;
	if (status == DW_OK && facts->answers == 0)
		status = DW_ESTORE;
	alloc_free(&store->alloc, facts);
	answer(store, op, status);
}

/* ---- Facts --------------------------------------------------------------------------------- */

static const char *server_of(const struct redis_store *store, const struct redis_request *request)
{
	const struct node *node = request->node;

	return node && node->name ? node->name : store->url.server;
}

static void add_of(struct alloc *alloc, struct facts *facts, const char *server, const char *name,
		   const char *value)
{
	size_t size = strlen(value) + 1, server_size = strlen(server) + 1;
	dw_row *row;
	char *room;

	if (facts->status != DW_OK) /* after a failure the tail is not valid */
		return;
	row = row_new(alloc, name, NULL, size + server_size);
	if (row) {
		room = (char *)row_room(row);
		row->body_size = size;
		memcpy(room, value, size);
		row->token = memcpy(room + size, server, server_size);
	}
	if (!op_add_row(alloc, facts->op, &facts->tail, row))
		facts->status = DW_ENOMEM;
}

static void add(struct redis_store *store, struct redis_request *request, const char *name,
		const char *value)
{
	add_of(&store->alloc, request->context, server_of(store, request), name, value);
}

static void add_count(struct redis_store *store, struct facts *facts, const char *server,
		      const char *name, int64_t count)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRId64, count); /* it fits */
	add_of(&store->alloc, facts, server, name, text);
}

static void add_number(struct redis_store *store, struct redis_request *request, const char *name,
		       int64_t number)
{
	add_count(store, request->context, server_of(store, request), name, number);
}

/* take_time compares the clocks. It assumes that the server read its clock halfway between question
 * and reply. */
static void take_time(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	dw_usec way = usec_sub(store->env.steady(store->env.steady_user), request->sent);
	dw_usec server =
	    reply_number(&reply->items[0]) * DW_SECONDS(1) + reply_number(&reply->items[1]);
	dw_usec here = usec_sub(store->env.now(store->env.now_user), way / 2);

	add_number(store, request, "latency_us", way);
	add_number(store, request, "clock_us", usec_sub(here, server));
}

/* take_info reads lines of NAME:VALUE. */
static void take_info(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	const char *at = reply->bytes;

	while (*at) {
		size_t size = strcspn(at, "\r\n");
		const char *colon = memchr(at, ':', size);
		char name[64], value[DW_MESSAGE_SIZE];

		if (*at != '#' && colon) {
			(void)snprintf(name, sizeof name, "%.*s", (int)(colon - at),
				       at); /* cut if long */
			(void)snprintf(value, sizeof value, "%.*s",
				       (int)(size - (size_t)(colon + 1 - at)),
				       colon + 1); /* cut if long */
			add(store, request, name, value);
		}
		at += size;
		at += strspn(at, "\r\n");
	}
}

static void take_settings(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	for (size_t i = 0; i + 1 < reply->count; i += 2) {
		char name[80];

		(void)snprintf(name, sizeof name, "config.%s",
			       reply->items[i].bytes); /* cut if long */
		add(store, request, name, reply->items[i + 1].bytes);
	}
}

static void add_refusal(struct redis_store *store, struct redis_request *request,
			const struct reply *reply)
{
	char name[80];

	(void)snprintf(name, sizeof name, "refused.%s", request->shape->command); /* it fits */
	add(store, request, name, reply->bytes);
}

/* ---- What is known without a question ------------------------------------------------------- */

/* trouble_of says why a Sentinel cannot be used; "": it can be used. */
static const char *trouble_of(const struct sentinel *sentinel)
{
	bool fatal;
	const char *trouble = link_trouble(sentinel->link, &fatal);

	if (!sentinel->connection)
		return *trouble ? trouble : "it does not answer";
	if (sentinel->is_strange)
		return sentinel->words;
	return sentinel->words[0] ? "" : "it has not answered yet";
}

static void add_sentinel(struct redis_store *store, struct facts *facts, unsigned number)
{
	const struct sentinel *sentinel = store->nodes.sentinels->list[number];
	const char *server = sentinel->url.server, *trouble = trouble_of(sentinel);

	if (sentinel->is_double)
		return;
	if (*trouble) {
		add_of(&store->alloc, facts, server, "sentinel.trouble", trouble);
		return;
	}
	add_of(&store->alloc, facts, server, "sentinel.names",
	       store->nodes.sentinels->votes[number].server);
	add_of(&store->alloc, facts, server, "sentinel.master", store->url.master);
	add_count(store, facts, server, "sentinel.knows", sentinel->knows);
	add_count(store, facts, server, "sentinel.quorum", sentinel->quorum);
	add_count(store, facts, server, "sentinel.replicas", sentinel->replicas);
	add_count(store, facts, server, "sentinel.down_after_ms", sentinel->down_after_ms);
	add_count(store, facts, server, "sentinel.tilt", sentinel->is_tilted);
}

/* add_trouble adds a fact about a node of a cluster that does not answer. */
static void add_trouble(struct redis_store *store, struct facts *facts,
			const struct member_node *member)
{
	bool fatal;
	const char *trouble = link_trouble(member->voter, &fatal);

	if (member->is_double || (member->connection && !member->words[0]))
		return;
	if (member->connection)
		trouble = member->words;
	add_of(&store->alloc, facts, member->url.server, "cluster.trouble",
	       *trouble ? trouble : "it does not answer");
}

static void add_known(struct redis_store *store, struct facts *facts)
{
	const struct sentinels *sentinels = store->nodes.sentinels;
	const struct cluster *cluster = store->nodes.cluster;

	for (unsigned i = 0; sentinels && i < sentinels->count; i++)
		add_sentinel(store, facts, i);
	for (unsigned i = 0; cluster && i < cluster->count; i++)
		add_trouble(store, facts, cluster->list[i]);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void facts_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct facts *facts = request->context;

	facts->answers++;
	if (reply->kind == REPLY_ERROR)
		add_refusal(store, request, reply);
	else if (request->shape == shape_of(COMMAND_TIME))
		take_time(store, request, reply);
	else if (request->shape != shape_of(COMMAND_CONFIG))
		take_info(store, request, reply);
	else
		take_settings(store, request, reply);
	request_free(&store->alloc, request);
	end_one(store, facts);
}

static void facts_lost(struct redis_store *store, struct redis_request *request)
{
	struct facts *facts = request->context;

	request_free(&store->alloc, request);
	end_one(store, facts);
}

static void ask_node(struct redis_store *store, struct node *node, struct facts *facts)
{
	size_t count = sizeof questions / sizeof *questions;

	if (store->url.replicas > 0)
		add_count(store, facts, node->name ? node->name : store->url.server,
			  "replicas.wanted", store->url.replicas);
	for (size_t i = 0; i < (store->nodes.cluster ? count : count - OF_CLUSTERS); i++) {
		int status;

		command_begin(&store->draft, questions[i].command);
		store->draft.node = node;
		for (size_t j = 0; j < 2 && questions[i].words[j]; j++)
			command_text(&store->draft.words, questions[i].words[j]);
		facts->left++;
		status = request_post(store, NULL, facts_answered, facts_lost, facts);
		if (status == DW_OK)
			continue;
		facts->left--;
		if (status == DW_ENOMEM)
			facts->status = DW_ENOMEM;
	}
}

void facts_begin(struct redis_store *store, dw_op *op)
{
	struct facts *facts = alloc_new(&store->alloc, sizeof *facts);

	if (!facts) {
		answer(store, op, DW_ENOMEM);
		return;
	}
	*facts = (struct facts){.op = op, .tail = &op->rows, .left = 1};
	add_known(store, facts);
	for (unsigned i = 0; i < store->nodes.count; i++)
		if (store->nodes.list[i]->connection)
			ask_node(store, store->nodes.list[i], facts);
	end_one(store, facts);
}
