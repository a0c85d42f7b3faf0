/* Asks each connected server for its time, INFO, and some settings. A server may refuse any of
 * these; that is a fact, too. The settings are named one by one, because CONFIG GET with a wildcard
 * for all would tell the passwords. */
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
};

struct facts {
	dw_op *op;
	dw_row **tail;
	unsigned left;
	unsigned answers;
	int status; /* the first failure here; that of a server is a fact */
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

	return node && node->name ? node->name : store->url.name;
}

static void add(struct redis_store *store, struct redis_request *request, const char *name,
		const char *value)
{
	struct facts *facts = request->context;
	const char *server = server_of(store, request);
	size_t size = strlen(value) + 1, server_size = strlen(server) + 1;
	dw_row *row;
	char *room;

	if (facts->status != DW_OK) /* after a failure there is no tail any more */
		return;
	row = row_new(&store->alloc, name, NULL, size + server_size);
	if (row) {
		room = (char *)row_room(row);
		row->body_size = size;
		memcpy(room, value, size);
		row->token = memcpy(room + size, server, server_size);
	}
	if (!op_add_row(&store->alloc, facts->op, &facts->tail, row))
		facts->status = DW_ENOMEM;
}

static void add_number(struct redis_store *store, struct redis_request *request, const char *name,
		       int64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRId64, number); /* it fits */
	add(store, request, name, text);
}

/* take_time compares the clocks at the middle of the way there and back. */
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
	else if (request->shape == shape_of(COMMAND_INFO))
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
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
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
	for (unsigned i = 0; i < store->nodes.count; i++)
		if (store->nodes.list[i]->connection)
			ask_node(store, store->nodes.list[i], facts);
	end_one(store, facts);
}
