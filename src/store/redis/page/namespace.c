/* Operations that ask every shard: status, report, purge, and the drop of all dead letters. A
 * struct gather adds up the shards' answers. The last of them answers the operation. */
#include "store/redis/page/namespace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"
#include "store/redis/owner/member_numbers.h"
#include "store/redis/queue/queue_call.h"
#include "store/status.h"
#include "timer/transition.h"

struct gather {
	dw_op *op;
	unsigned left;
	int status; /* the first failure of a shard */
	bool begun; /* a shard has done its part, or may have done it */
	bool again; /* a read failed for a reason that may pass, so all is asked again */
	dw_store_status sum;
	bool is_shared; /* peers have the shards */
	dw_usec blind;  /* 0; or now, if no peer is asked: an owner lives while its lease lasts */
	char owner[256], standby[256];
	char *report;
};

static void gather_end(struct redis_store *store, struct gather *gather)
{
	dw_op *op = gather->op;

	if (--gather->left > 0)
		return;
	if (op->kind == DW_OP_STATUS && gather->status == DW_OK && !gather->again) {
		gather->sum.owner = gather->owner;
		gather->sum.owner_report = gather->report;
		gather->sum.standby = gather->standby;
		op->store_status = status_new(&store->alloc, &gather->sum);
		gather->status = op->store_status ? DW_OK : DW_ENOMEM;
	}
	/* Any failure but DW_ENEWER would tell the caller that nothing was done. */
	if (gather->status != DW_OK && gather->status != DW_ENEWER && gather->begun)
		gather->status = DW_EUNKNOWN;
	alloc_free(&store->alloc, gather->report);
	later_end_barrier(&store->later, op);
	if (gather->again)
		op_queue_push(&store->later.ops, op);
	else
		answer(store, op, gather->status);
	alloc_free(&store->alloc, gather);
}

static void fail(struct gather *gather, int status)
{
	gather->begun = gather->begun || status == DW_EUNKNOWN;
	if (gather->status == DW_OK)
		gather->status = status;
}

static void part_lost(struct redis_store *store, struct redis_request *request)
{
	struct gather *gather = request->context;

	if (gather->op->kind == DW_OP_STATUS && !request_node(store, request)->connection)
		gather->again = true;
	else
		fail(gather, request->number ? DW_EUNKNOWN : DW_ESTORE);
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

/* ---- Status -------------------------------------------------------------------------------- */

/* The items of a reply of status.lua. */
enum {
	PENDING,
	CLAIMED,
	DEAD,
	INBOX,
	NEXT,
	LEASE,
	HOLDER = LEASE + 2,
	SINCE,
	SEEN,
	REPORT,
	STANDBY = REPORT + 2
};

/* take_holder writes the name of a process that has the first shard, or waits for it. Returns false
 * if there is no such process, or it is dead. */
static bool take_holder(const struct reply *item, char *ret_line, size_t size)
{
	if (item->kind != REPLY_BULK || !token_has_holder(item))
		return false;
	(void)snprintf(ret_line, size, "%.*s", (int)strcspn(item->bytes, "|"), item->bytes);
	return true;
}

static bool keep_report(struct alloc *alloc, struct gather *gather, const char *text, size_t size)
{
	alloc_free(alloc, gather->report);
	gather->report = alloc_new(alloc, size + 1);
	if (gather->report)
		memcpy(gather->report, text, size);
	return gather->report != NULL;
}

/* take_owner reads the owner of a shard. There are several owners only for a moment, or if the list
 * of peers is away. An owner that has died on this machine is not shown, even if its lease still
 * lasts. Peers write their numbers elsewhere. */
static bool take_owner(struct alloc *alloc, struct gather *gather, const struct reply *items)
{
	const struct reply *report = &items[REPORT];
	bool is_told = report->kind == REPLY_BULK;
	dw_usec seen = usec_max(reply_number(&items[SEEN]), reply_number(&items[SINCE]));
	char holder[sizeof gather->owner];

	if (!gather->standby[0])
		(void)take_holder(&items[STANDBY], gather->standby, sizeof gather->standby);
	if (gather->is_shared || items[LEASE].kind != REPLY_BULK ||
	    !take_holder(&items[HOLDER], holder, sizeof holder))
		return true;
	if (gather->owner[0] && strcmp(gather->owner, holder) != 0) {
		(void)snprintf(gather->owner, sizeof gather->owner, "several processes");
		return keep_report(alloc, gather, "", 0);
	}
	if (gather->report && (!is_told || seen <= gather->sum.owner_seen))
		return true;
	memcpy(gather->owner, holder, sizeof holder);
	gather->sum.owner_since = reply_number(&items[SINCE]);
	gather->sum.owner_seen = is_told ? seen : usec_max(seen, gather->blind);
	return !is_told || keep_report(alloc, gather, report->bytes, report->size);
}

static bool take_status(struct alloc *alloc, struct redis_request *request,
			const struct reply *reply)
{
	struct gather *gather = request->context;
	dw_store_status *sum = &gather->sum;
	const struct reply *items = reply->items;

	if (reply->kind == REPLY_ERROR)
		return false;
	sum->pending += (uint64_t)reply_number(&items[PENDING]);
	sum->claimed += (uint64_t)reply_number(&items[CLAIMED]);
	sum->dead += (uint64_t)reply_number(&items[DEAD]);
	sum->inbox += (uint64_t)reply_number(&items[INBOX]);
	if (items[NEXT].kind == REPLY_BULK)
		sum->next_due = usec_min(sum->next_due, strtoll(items[NEXT].bytes, NULL, 10));
	return take_owner(alloc, gather, items);
}

/* asks_again returns true if a status that a shard has refused is asked once more. By then it is
 * known whether the shard is cut off. */
static bool asks_again(const struct shard *shard, dw_op *op)
{
	if (!(shard->marks & SHARD_REFUSES) || place_of(op)->is_refused)
		return false;
	place_of(op)->is_refused = true;
	return true;
}

static void status_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	struct gather *gather = request->context;

	if (reply->kind == REPLY_ERROR && (call_failed(store, request, reply) == FAILURE_AGAIN ||
					   asks_again(request->shard, gather->op)))
		gather->again = true;
	else if (!take_status(&store->alloc, request, reply))
		fail(gather, DW_ESTORE);
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

/* take_peers shows the peers together as the owner, if they have shards. */
static bool take_peers(struct redis_store *store, struct gather *gather, const struct reply *reply)
{
	struct peers_status peers;
	char text[REPORTS_SIZE];

	gather->is_shared = numbers_read(reply, &peers);
	if (!gather->is_shared)
		return true;
	memcpy(gather->owner, peers.owner, sizeof gather->owner);
	gather->sum.owner_since = peers.since;
	gather->sum.owner_seen = peers.seen;
	reports_write(&peers.sum, store->shard_count, text);
	return keep_report(&store->alloc, gather, text, strlen(text));
}

static void peers_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct gather *gather = request->context;
	enum failure failure = call_failed(store, request, reply);

	if (failure == FAILURE_AGAIN)
		gather->again = true;
	else if (failure == FAILURE_NONE && !take_peers(store, gather, reply))
		fail(gather, DW_ENOMEM);
	/* Otherwise the first shard is refused: only the leases show who has the others. */
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

/* ask_peers asks for the reports of the peers before the shards are asked. */
static void ask_peers(struct redis_store *store, struct gather *gather)
{
	bool asks = gather->op->kind == DW_OP_STATUS && numbers_are_needed(store);

	gather->blind = asks ? 0 : store->env.now(store->env.now_user);
	if (!asks)
		return;
	numbers_ask(store, NUMBERS_REPORT);
	gather->left++;
	if (request_post(store, NULL, peers_answered, part_lost, gather) != DW_OK) {
		gather->left--;
		fail(gather, DW_ESTORE);
	}
}

/* ---- What changes every shard -------------------------------------------------------------- */

/* part_refused is called when the shard has refused its part, because it was emptied or set back,
 * or another process has it. The handshake finds out which. Only if another process has the shard,
 * the ownership is lost. */
static int part_refused(struct redis_store *store, const struct redis_request *request,
			enum failure failure)
{
	struct shard *shard = request->shard;

	if (!request->as_owner)
		return DW_ESTORE;
	if (!shard_is_ours(shard)) /* a peer continues without this shard */
		return shard_is_shared(store) ? DW_EUNKNOWN : DW_EFENCED;
	if (failure == FAILURE_LOST)
		restore_begin(store, shard);
	else if (shard->channel.handshake == HANDSHAKE_DONE)
		handshake_begin(store, shard);
	return DW_EUNKNOWN; /* other shards may have done their part */
}

static void queues_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	struct gather *gather = request->context;

	if (call_failed(store, request, reply) != FAILURE_NONE)
		fail(gather, DW_EUNKNOWN);
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

static void queues_lost(struct redis_store *store, struct redis_request *request)
{
	struct gather *gather = request->context;

	fail(gather, DW_EUNKNOWN);
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

/* is_queue_of returns true if the topic's queue is in this shard. Every shard has the settings of
 * all topics, and another program may have written any name. */
static bool is_queue_of(struct redis_store *store, const struct shard *shard,
			const struct reply *topic)
{
	return topic->size <= DW_TOPIC_MAX && shard_of(store, topic->bytes) == shard;
}

/* purge_queues deletes the messages of those topics in the reply whose queues are in this shard. */
static void purge_queues(struct redis_store *store, struct gather *gather, struct shard *shard,
			 const struct reply *reply)
{
	for (size_t i = 2; i < reply->count;) {
		const char *topics[QUEUE_TOPICS_MAX] = {NULL};
		size_t count = 0;

		for (; i < reply->count && count < QUEUE_TOPICS_MAX; i++)
			if (is_queue_of(store, shard, &reply->items[i]))
				topics[count++] = reply->items[i].bytes;
		if (count == 0)
			return;
		queue_call_begin_topics(store, SCRIPT_QUEUE_PURGE, shard, topics, count);
		command_text(&store->draft.words, shard->lease.token);
		gather->left++;
		if (request_post(store, shard, queues_answered, queues_lost, gather) != DW_OK) {
			gather->left--; /* the part of the calling function remains */
			fail(gather, DW_EUNKNOWN);
		}
	}
}

/* leaves_out returns true if the operation continues without this shard, which has not done its
 * part. A REPORT only deletes old ends there, and the next one will do so. */
static bool leaves_out(const dw_op *op, const struct shard *shard, enum failure failure)
{
	return op->kind == DW_OP_REPORT &&
	       (failure == FAILURE_AGAIN || shard->marks & SHARD_REFUSES);
}

static void part_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	struct gather *gather = request->context;
	enum failure failure = call_failed(store, request, reply);
	bool done = failure == FAILURE_NONE;

	call_number_done(request, done);
	gather->begun = gather->begun || done;
	if (done && gather->op->kind == DW_OP_REPORT && reply->count > 2)
		request->shard->dead_count = (uint64_t)reply_number(&reply->items[2]);
	if (done && reply->count > 1 && reply_is(&reply->items[1], "NEWER"))
		fail(gather, DW_ENEWER);
	else if (done && reply->count > 1)
		gather->op->count += (uint64_t)reply_number(&reply->items[1]);
	if (done && gather->op->kind == DW_OP_PURGE)
		purge_queues(store, gather, request->shard, reply);
	if (failure == FAILURE_FENCED || failure == FAILURE_LOST)
		fail(gather, part_refused(store, request, failure));
	else if (!done && !leaves_out(gather->op, request->shard, failure))
		fail(gather, failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE);
	request_free(&store->alloc, request);
	gather_end(store, gather);
}

static void gather_begin(struct redis_store *, dw_op *);

/* report_answered is called after a report. Every shard then drops its old dead letters. */
static void report_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	dw_op *op = op_queue_pop(&request->ops);
	enum failure failure = call_failed(store, request, reply);
	bool is_of_shard = reply->kind == REPLY_ERROR && call_is_of_shard(reply);

	call_number_done(request, failure == FAILURE_NONE);
	request_free(&store->alloc, request);
	if (failure == FAILURE_NONE)
		gather_begin(store, op);
	else if (failure == FAILURE_AGAIN)
		op_queue_push(&store->later.ops, op);
	else /* if only this shard is refused, the next report goes to another one */
		answer(store, op, is_of_shard ? DW_OK : DW_ESTORE);
}

static void report_lost(struct redis_store *store, struct redis_request *request)
{
	answer_all(store, &request->ops, DW_ESTORE);
	request_free(&store->alloc, request);
}

/* report_place returns the shard for the report: the first of our own shards that is not cut off.
 * NULL: there is none. */
static struct shard *report_place(const struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (shard_is_ours(&store->shards[i]) && !shard_is_cut_off(&store->shards[i]))
			return &store->shards[i];
	return NULL;
}

/* peer_told is called after a peer has written its report. If the report has failed, the next one
 * has the numbers anyway. */
static void peer_told(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	dw_op *op = request->context;

	(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
	gather_begin(store, op);
}

static void peer_untold(struct redis_store *store, struct redis_request *request)
{
	answer(store, request->context, DW_ESTORE);
	request_free(&store->alloc, request);
}

static void begin_report(struct redis_store *store, dw_op *op)
{
	struct shard *shard = report_place(store);
	struct redis_request *request;

	if (shard_is_shared(store)) {
		numbers_tell(store, NUMBERS_REPORT, op);
		if (request_post(store, NULL, peer_told, peer_untold, op) != DW_OK)
			answer(store, op, DW_ESTORE);
		return;
	}
	if (!shard || shard->channel.handshake != HANDSHAKE_DONE || shard->channel.is_broken ||
	    !(request = request_new(&store->alloc, shard, report_answered, report_lost))) {
		answer(store, op, store->ownership.role == DW_OWNER ? DW_ESTORE : DW_EFENCED);
		return;
	}
	request->number = shard->channel.next;
	call_begin_rare(&store->draft, SCRIPT_REPORT, shard);
	call_guard(store, shard, request->number);
	command_bytes(&store->draft.words, op->body, op->body_size);
	command_number(&store->draft.words, store->env.now(store->env.now_user));
	if (request_send(store, request) != DW_OK) {
		request_free(&store->alloc, request);
		answer(store, op, DW_ESTORE);
		return;
	}
	op_queue_push(&request->ops, op);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void words_of(struct redis_store *store, const dw_op *op, struct shard *shard,
		     uint64_t number)
{
	switch (op->kind) {
	case DW_OP_REPORT:
		call_begin_rare(&store->draft, SCRIPT_FORGET, shard);
		call_guard(store, shard, number);
		batch_add_forget(store, shard);
		return;
	case DW_OP_PURGE:
		call_begin_rare(&store->draft, SCRIPT_PURGE, shard);
		call_guard(store, shard, number);
		return;
	case DW_OP_DROP:
		call_begin_rare(&store->draft, SCRIPT_DROP, shard);
		call_guard(store, shard, number);
		command_text(&store->draft.words, "");
		command_number(&store->draft.words, 0);
		return;
	default:
		call_begin_rare(&store->draft, SCRIPT_STATUS, shard);
	}
}

static void ask_shard(struct redis_store *store, struct gather *gather, struct shard *shard)
{
	bool changes = gather->op->kind != DW_OP_STATUS;
	struct redis_request *request =
	    request_new(&store->alloc, shard, changes ? part_answered : status_answered, part_lost);

	gather->left++;
	if (request) {
		request->context = gather;
		request->number = changes ? shard->channel.next : 0;
		words_of(store, gather->op, shard, request->number);
		if (request_send(store, request) == DW_OK)
			return;
		request->number = 0;
		part_lost(store, request);
		return;
	}
	fail(gather, DW_ENOMEM);
	gather_end(store, gather);
}

void namespace_begin(struct redis_store *store, dw_op *op)
{
	if (op->kind == DW_OP_REPORT || op->kind == DW_OP_CHECK) {
		(op->kind == DW_OP_REPORT ? begin_report : check_begin)(store, op);
		return;
	}
	gather_begin(store, op);
}

static bool may_forget(const struct shard *shard)
{
	return shard_is_ours(shard) && shard->dead_count > 0 && !shard_is_cut_off(shard) &&
	       shard->channel.handshake == HANDSHAKE_DONE && !shard->channel.is_broken;
}

/* may_ask returns true if the shard has a part in the operation. A status leaves out shards that
 * are cut off. All other operations but a report do not begin while a shard is cut off. */
static bool may_ask(const dw_op *op, const struct shard *shard)
{
	if (op->kind == DW_OP_STATUS)
		return !shard_is_cut_off(shard);
	return op->kind != DW_OP_REPORT || may_forget(shard);
}

static void gather_begin(struct redis_store *store, dw_op *op)
{
	struct gather *gather = alloc_new(&store->alloc, sizeof *gather);

	if (!gather) {
		later_end_barrier(&store->later, op);
		answer(store, op, DW_ENOMEM);
		return;
	}
	gather->op = op;
	gather->left = 1; /* this function counts as a shard until every shard is asked */
	gather->sum.next_due = DW_NEVER;
	ask_peers(store, gather);
	for (unsigned i = 0; i < store->shard_count; i++)
		if (may_ask(op, &store->shards[i]))
			ask_shard(store, gather, &store->shards[i]);
	gather_end(store, gather);
}
