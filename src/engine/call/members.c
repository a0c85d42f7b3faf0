#include "engine/call/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "port/driven.h"

/* The list in the form that the callback gets. */
struct member_page {
	struct engine *engine;
	dw_member *members;
	unsigned *shards; /* the shards of all members */
};

static void free_page(struct member_page *shown)
{
	alloc_free(&shown->engine->alloc, shown->members);
	alloc_free(&shown->engine->alloc, shown->shards);
}

/* show writes the member, and its shards at `shards`. It returns how many shards the member has. */
static size_t show(const dw_row *row, unsigned *shards, dw_member *ret_member)
{
	const dw_member_row *member = row->body;
	size_t count = 0;

	for (unsigned i = 0; i < DW_SHARDS_MAX; i++)
		if (member->shards[i / 64] >> i % 64 & 1)
			shards[count++] = i;
	*ret_member = (dw_member){.size = sizeof *ret_member,
				  .who = row->id,
				  .version = member->version,
				  .since = member->since,
				  .until = member->until,
				  .clock_us = member->clock,
				  .shards = shards,
				  .shard_count = count,
				  .room = member->room,
				  .is_self = member->is_self,
				  .is_dead = member->is_dead,
				  .share = member->share,
				  .busy_count = member->busy,
				  .busy_topics = member->runs,
				  .is_leaving = member->is_leaving,
				  .unhandled = member->unhandled,
				  .unhandled_topics = member->lacks};
	return count;
}

/* members_by_age compares two members. They are sorted, because the server lists them in the order
 * in which it heard of them. */
static int members_by_age(const void *a, const void *b)
{
	const dw_member *one = a, *other = b;

	if (one->since != other->since)
		return one->since < other->since ? -1 : 1;
	return strcmp(one->who, other->who);
}

void members_show(struct engine *engine, const struct call *call)
{
	struct member_page shown AT_END(free_page) = {.engine = engine};
	dw_member_list list = {.size = sizeof list, .shard_count = engine->shards.count};
	const struct alloc *alloc = &engine->alloc;
	size_t used = 0, room = call->status == DW_OK ? call->op->row_count : 0;
	int status = call->status;

	if (status == DW_OK) {
		shown.members = alloc_new(alloc, (room + 1) * sizeof *shown.members);
		shown.shards = alloc_new(alloc, (room + 1) * DW_SHARDS_MAX * sizeof *shown.shards);
	}
	if (status == DW_OK && (!shown.members || !shown.shards))
		status = DW_ENOMEM;
	if (status != DW_OK) {
		call->member_asker.fn(engine->env.handle, status, NULL, call->member_asker.user);
		return;
	}
	for (const dw_row *row = call->op->rows; row; row = row->next)
		used += show(row, shown.shards + used, &shown.members[list.count++]);
	qsort(shown.members, list.count, sizeof *shown.members, members_by_age);
	list.members = shown.members;
	call->member_asker.fn(engine->env.handle, DW_OK, &list, call->member_asker.user);
}

int engine_members(struct engine *engine, dw_members_fn fn, void *user)
{
	struct call *call;
	int status;

	if (!driven_has_members(engine->store))
		return engine_fail(engine, DW_EINVAL,
				   "only a store in Redis is shared by several processes");
	status = call_new(engine, CALL_MEMBERS, "", &call);
	if (status != DW_OK)
		return status;
	call->member_asker = (struct member_asker){fn, user};
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_MEMBERS, NULL, NULL, 0));
}

int engine_owns(struct engine *engine, const char *id)
{
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	return engine->shards.all[driven_shard_of(engine->store, id)].owned;
}

int engine_node(const struct engine *engine, size_t number, dw_node *ret_node)
{
	size_t size = ret_node->size;
	dw_node node;

	if (!driven_node(engine->store, number, &node))
		return DW_ENOENT;
	memset(ret_node, 0, size);
	memcpy(ret_node, &node, size < sizeof node ? size : sizeof node);
	ret_node->size = size;
	return DW_OK;
}

int engine_leave(struct engine *engine)
{
	if (!engine->env.is_peer)
		return engine_fail(engine, DW_EROLE,
				   "only a peer gives its shards to others: open as DW_PEER");
	giving_leave(engine);
	return DW_OK;
}
