#include "store/redis/owner/member_list.h"

#include <stdio.h>
#include <string.h>

#include "store/identity.h"
#include "store/redis/core.h"
#include "store/redis/owner/member.h"

/* The items of a member in a reply of member.lua. */
enum { ITEM_NAME, ITEM_UNTIL, ITEM_RECORD, ITEMS, ITEMS_FROM = 3 };

bool member_is_self(const struct redis_store *store, const struct listed_member *listed)
{
	return strcmp(listed->name, store->names.nonce) == 0;
}

bool member_is_dead(const struct listed_member *listed)
{
	const char *bar = strchr(listed->holder, '|');

	return bar && identity_is_dead(bar + 1);
}

void member_list_read(const struct reply *reply, struct member_list *list)
{
	list->count = 0;
	for (size_t i = ITEMS_FROM; i + ITEMS <= reply->count; i += ITEMS) {
		const struct reply *items = &reply->items[i];
		struct listed_member *listed = &list->members[list->count];

		if (list->count == QUOTA_MEMBERS_MAX)
			return;
		*listed = (struct listed_member){.name = items[ITEM_NAME].bytes,
						 .until = reply_number(&items[ITEM_UNTIL])};
		list->count += member_read(items[ITEM_RECORD].bytes, &listed->row, &listed->holder);
	}
}

void member_call(struct redis_store *store, const char *how, const char *name, const char *record)
{
	call_begin_rare(&store->draft, SCRIPT_MEMBER, &store->shards[0]);
	command_text(&store->draft.words, how);
	command_text(&store->draft.words, name);
	command_text(&store->draft.words, record);
}

/* ---- Telling ------------------------------------------------------------------------------- */

/* add_member adds a row for a peer that lives. */
static bool add_member(struct redis_store *store, dw_op *op, dw_row ***tail,
		       const struct listed_member *listed)
{
	char who[sizeof store->names.holder];
	dw_member_row body = listed->row;

	(void)snprintf(who, sizeof who, "%.*s", (int)strcspn(listed->holder, "|"),
		       listed->holder); /* a long one is cut */
	body.until = listed->until;
	body.is_self = member_is_self(store, listed);
	return op_add_row(&store->alloc, op, tail, row_new(&store->alloc, who, &body, sizeof body));
}

static void members_told(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	dw_op *op = request->context;
	enum failure failure = call_failed(store, request, reply);
	dw_row **tail = &op->rows;
	struct member_list list = {.count = 0};
	bool done = true;

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN) {
		op_queue_push(&store->later.ops, op);
		return;
	}
	if (failure == FAILURE_NONE)
		member_list_read(reply, &list);
	for (unsigned i = 0; i < list.count && done; i++)
		if (!member_is_dead(&list.members[i]))
			done = add_member(store, op, &tail, &list.members[i]);
	answer(store, op, failure != FAILURE_NONE ? DW_ESTORE : done ? DW_OK : DW_ENOMEM);
}

static void members_untold(struct redis_store *store, struct redis_request *request)
{
	op_queue_push(&store->later.ops, request->context);
	request_free(&store->alloc, request);
}

/* The operation is not one of the request's: the reply has items for each member. */
void member_list_ask(struct redis_store *store, dw_op *op)
{
	int status;

	member_call(store, "", "", "");
	status = request_post(store, NULL, members_told, members_untold, op);
	if (status != DW_OK)
		answer(store, op, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
}
