#include "cli/out/nodes.h"

#include <stdio.h>
#include <string.h>

#include "cli/out/line.h"
#include "cli/out/members.h"
#include "cli/out/table.h"
#include "cli/out/text.h"

enum { LINE_SIZE = DW_NODE_NAME_SIZE + MEMBERS_SHARDS_SIZE + DW_MESSAGE_SIZE + 128 };

static json_t *shards_of(const dw_node *node)
{
	json_t *shards = json_array();

	/* If out of memory, an entry is missing, here and below. */
	for (unsigned i = 0; i < DW_NODE_SHARDS; i++)
		if (node->shards[i / 64] >> i % 64 & 1)
			(void)json_array_append_new(shards, json_integer(i));
	return shards;
}

static json_t *object_of(const dw_node *node)
{
	json_t *object = json_pack("{s:s, s:o, s:b, s:I, s:o, s:I}", "node", node->name, "shards",
				   shards_of(node), "connected", node->is_connected, "away_us",
				   (json_int_t)node->away_us, "why", line_name(node->why),
				   "arrived_shards", (json_int_t)node->arrived);

	if (node->replicas == 0)
		return object;
	(void)json_object_set_new(object, "replicas", json_integer(node->replicas));
	(void)json_object_set_new(object, "level",
				  json_string(node->is_late ? "stored" : "replicated"));
	return object;
}

json_t *nodes_array(const dw *d)
{
	dw_node node = {.size = sizeof node};
	json_t *nodes = NULL;

	for (size_t i = 0; dw_get_node(d, i, &node) == DW_OK; i++) {
		nodes = nodes ? nodes : json_array();
		(void)json_array_append_new(nodes, object_of(&node));
	}
	return nodes;
}

void nodes_add(json_t *object, const dw *d)
{
	json_t *nodes = nodes_array(d);

	if (nodes)
		(void)json_object_set_new(object, "nodes", nodes);
}

/* print_replicas prints how many replicas have a change before its call is answered. */
static void print_replicas(const dw_node *node)
{
	char line[128];

	if (node->replicas == 0)
		return;
	(void)snprintf(line, sizeof line,
		       node->is_late
			   ? "%u are late: calls are answered when the server has a change"
			   : "%u have a change before its call is answered",
		       node->replicas); /* it fits */
	table_row_text("  replicas", line, strlen(line));
}

static void print_node(const dw_node *node)
{
	char line[LINE_SIZE], shards[MEMBERS_SHARDS_SIZE], away[TEXT_SPAN_SIZE];
	json_t *numbers = shards_of(node);

	members_shards(numbers, shards);
	json_decref(numbers);
	text_span(node->away_us, 1, away);
	(void)snprintf(line, sizeof line, "%s, shards %s%s%s%s%s", node->name,
		       *shards ? shards : "none", node->is_connected ? "" : "; not in use for ",
		       node->is_connected ? "" : away, *node->why ? ": " : "",
		       node->why); /* it fits */
	table_row_text("node", line, strlen(line));
	print_replicas(node);
}

void nodes_print(const dw *d)
{
	dw_node node = {.size = sizeof node};

	for (size_t i = 0; dw_get_node(d, i, &node) == DW_OK; i++)
		print_node(&node);
}
