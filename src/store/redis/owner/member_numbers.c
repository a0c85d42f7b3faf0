#include "store/redis/owner/member_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/counts.h"
#include "store/redis/core.h"
#include "store/redis/owner/member.h"
#include "store/redis/owner/member_list.h"

/* The items of a reply of reports.lua: first the numbers of peers that have left, then ITEMS items
 * for each peer. */
enum { ITEM_LEFT = 1, ITEM_NOW, ITEMS_FROM };
enum { ITEM_NAME, ITEM_UNTIL, ITEM_RECORD, ITEM_TEXT, ITEMS };

void numbers_tell(struct redis_store *store, const char *kind, const dw_op *op)
{
	call_begin_rare(&store->draft, SCRIPT_TELL, &store->shards[0]);
	command_text(&store->draft.words, store->names.nonce);
	command_text(&store->draft.words, kind);
	command_number(&store->draft.words, store->env.now(store->env.now_user));
	command_bytes(&store->draft.words, op->body, op->body_size);
}

static void told(struct redis_store *store, struct redis_request *request,
		 const struct reply *reply)
{
	(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
}

static void untold(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

void numbers_tell_topics(struct redis_store *store, const dw_op *op)
{
	numbers_tell(store, NUMBERS_TOPICS, op);
	(void)request_post(store, NULL, told, untold, NULL);
}

void numbers_ask(struct redis_store *store, const char *kind)
{
	call_begin_rare(&store->draft, SCRIPT_REPORTS, &store->shards[0]);
	command_text(&store->draft.words, kind);
}

bool numbers_are_needed(const struct redis_store *store)
{
	return (store->ownership.role != DW_OWNER || shard_is_shared(store)) &&
	       !shard_is_cut_off(&store->shards[0]);
}

/* A peer in a reply of reports.lua. */
struct told_member {
	struct listed_member listed;
	/* The peer's process has ended, or its time in the list is over. */
	bool is_left;
	dw_usec seen; /* when the peer wrote its numbers; 0: it has not */
	const char *text;
	size_t size;
};

static bool read_member(const struct reply *reply, size_t at, struct told_member *ret)
{
	const struct reply *items = &reply->items[at];
	const struct reply *text = &items[ITEM_TEXT];
	const char *blank = memchr(text->bytes, ' ', text->size);

	*ret = (struct told_member){
	    .listed = {.name = items[ITEM_NAME].bytes, .until = reply_number(&items[ITEM_UNTIL])},
	    .text = ""};
	if (!member_read(items[ITEM_RECORD].bytes, &ret->listed.row, &ret->listed.holder))
		return false;
	ret->is_left = member_is_dead(&ret->listed) ||
		       ret->listed.until <= reply_number(&reply->items[ITEM_NOW]);
	if (!blank)
		return true;
	ret->seen = strtoll(text->bytes, NULL, 10);
	ret->text = blank + 1;
	ret->size = text->size - (size_t)(blank + 1 - text->bytes);
	return true;
}

static void note_owner(struct peers_status *status, const struct told_member *member)
{
	const dw_member_row *row = &member->listed.row;
	dw_usec seen = usec_max(member->seen, row->since);

	(void)snprintf(status->owner, sizeof status->owner, "%.*s",
		       (int)strcspn(member->listed.holder, "|"),
		       member->listed.holder); /* a long name is cut */
	status->since = usec_min(status->since, row->since);
	status->seen = usec_min(status->seen, seen);
}

bool numbers_read(const struct reply *reply, struct peers_status *ret_status)
{
	struct peers_status *status = ret_status;
	struct told_member member;

	*status = (struct peers_status){.since = DW_NEVER, .seen = DW_NEVER};
	if (reply->count <= ITEM_LEFT)
		return false;
	reports_add_left(&status->sum, reply->items[ITEM_LEFT].bytes);
	for (size_t i = ITEMS_FROM; i + ITEMS <= reply->count; i += ITEMS) {
		if (!read_member(reply, i, &member))
			continue;
		if (member.is_left) {
			reports_add_left(&status->sum, member.text);
			continue;
		}
		reports_add(&status->sum, member.text, member.listed.row.shards);
		if (member_count(&member.listed.row) > 0)
			note_owner(status, &member);
	}
	if (status->sum.owners > 1)
		(void)snprintf(status->owner, sizeof status->owner, "%u peers", status->sum.owners);
	return status->sum.owners > 0;
}

static bool has_owner(const struct reply *reply)
{
	struct told_member member;

	for (size_t i = ITEMS_FROM; i + ITEMS <= reply->count; i += ITEMS)
		if (read_member(reply, i, &member) && !member.is_left &&
		    member_count(&member.listed.row) > 0)
			return true;
	return false;
}

bool numbers_add_topics(const struct alloc *alloc, dw_op *op, dw_row ***tail,
			const struct reply *reply, bool *ret_any)
{
	const struct reply *left = &reply->items[ITEM_LEFT];
	struct told_member member;
	bool done;

	*ret_any = has_owner(reply);
	if (!*ret_any)
		return true;
	done = counts_add_rows(alloc, op, tail, left->bytes, left->size);
	for (size_t i = ITEMS_FROM; done && i + ITEMS <= reply->count; i += ITEMS)
		if (read_member(reply, i, &member))
			done = counts_add_rows(alloc, op, tail, member.text, member.size);
	return done;
}

/* ---- The list ------------------------------------------------------------------------------ */

static bool add_member(struct redis_store *store, dw_op *op, dw_row ***tail,
		       const struct told_member *member)
{
	const struct listed_member *listed = &member->listed;
	char who[sizeof store->names.holder];
	dw_member_row body = listed->row;

	(void)snprintf(who, sizeof who, "%.*s", (int)strcspn(listed->holder, "|"),
		       listed->holder); /* a long name is cut */
	body.until = listed->until;
	body.is_self = member_is_self(&store->names, listed);
	body.is_dead = member->is_left;
	body.share = (unsigned)reports_number(member->text, "share");
	body.busy = (unsigned)reports_number(member->text, "busy_shards");
	reports_words(member->text, "busy_topics", body.runs, sizeof body.runs);
	body.unhandled = (uint64_t)reports_number(member->text, "lacks");
	reports_words(member->text, "lacks_topics", body.lacks, sizeof body.lacks);
	return op_add_row(&store->alloc, op, tail, row_new(&store->alloc, who, &body, sizeof body));
}

static void members_told(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	dw_op *op = request->context;
	enum failure failure = call_failed(store, request, reply);
	dw_row **tail = &op->rows;
	struct told_member member;
	bool done = true;

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN) {
		op_queue_push(&store->later.ops, op);
		return;
	}
	for (size_t i = ITEMS_FROM; failure == FAILURE_NONE && i + ITEMS <= reply->count;
	     i += ITEMS)
		if (done && read_member(reply, i, &member))
			done = add_member(store, op, &tail, &member);
	answer(store, op, failure != FAILURE_NONE ? DW_ESTORE : done ? DW_OK : DW_ENOMEM);
}

static void members_untold(struct redis_store *store, struct redis_request *request)
{
	op_queue_push(&store->later.ops, request->context);
	request_free(&store->alloc, request);
}

/* numbers_ask_members does not put the operation into the request's queue, because the reply has
 * items for each member. */
void numbers_ask_members(struct redis_store *store, dw_op *op)
{
	int status;

	numbers_ask(store, NUMBERS_REPORT);
	status = request_post(store, NULL, members_told, members_untold, op);
	if (status != DW_OK)
		answer(store, op, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
}
