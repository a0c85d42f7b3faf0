/* Reads the inbox, which lists what clients wrote, without removing anything. It reads only when
 * the inbox may have entries: a client published this on the wake channel, or a renewal counted
 * them. */
#include "store/redis/owner/inbox.h"

#include <string.h>

#include "store/redis/core.h"

#define UNREAD_FOR DW_MINUTES(1) /* after this time a row that could not be read is tried again */

void inbox_expect_all(struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		shard_expect_news(&store->sets, &store->shards[i]);
}

static void clear_reading(struct redis_inbox *inbox)
{
	inbox->rows = (struct rows){0};
	inbox->failed = false;
}

static bool inbox_row_is_older(const dw_row *a, const dw_row *b)
{
	return a->head.generation < b->head.generation;
}

/* is_wanted returns true if the row comes after the cursor of the INBOX operation. op is NULL if
 * the operation was given up. */
static bool is_wanted(const dw_op *op, const dw_row *row)
{
	return !op || !op->after.started || row->head.generation > op->after.generation;
}

/* finish answers the INBOX operation when all shards that were asked have replied and there is
 * something to report. */
static void finish(struct redis_store *store)
{
	dw_op *op = store->inbox.op;

	if (store->inbox.left > 0)
		return;
	if (!op ||
	    (store->inbox.rows.count == 0 && !store->inbox.failed && !store->inbox.is_whole)) {
		rows_free(&store->alloc, store->inbox.rows.first);
		clear_reading(&store->inbox);
		return;
	}
	store->inbox.op = NULL;
	place_of(op)->floor = (uint64_t)store->inbox.since;
	op->rows = rows_sort(store->inbox.rows.first, inbox_row_is_older);
	op->row_count = store->inbox.rows.count;
	if (store->inbox.is_whole && !store->inbox.failed) {
		op->flags |= DW_OP_AGAIN;
		store->inbox.rereads = false;
	}
	answer(store, op, op->row_count == 0 && store->inbox.failed ? DW_ENOMEM : DW_OK);
	clear_reading(&store->inbox);
}

/* row_of makes the row of an inbox entry: the timer as it is stored now, or a row that says that
 * the timer is gone. */
static dw_row *row_of(struct alloc *alloc, const struct reply *id, const struct reply *score,
		      const struct reply *value)
{
	int64_t generation = reply_number(score);
	dw_row *row;

	if (value->kind == REPLY_BULK)
		return value_row(alloc, id->bytes, id->size, value->bytes, value->size);
	row = row_new(alloc, id->bytes, NULL, 0);
	if (row) {
		row->gone = 1;
		row->head.generation = (uint64_t)(generation < 0 ? -generation : generation);
	}
	return row;
}

static void add_rows(struct redis_store *store, struct shard *shard, const struct reply *reply,
		     size_t limit)
{
	for (size_t i = 1; i + 2 < reply->count; i += 3) {
		const struct reply *items = reply->items + i;
		int64_t version = reply_number(&items[1]);
		dw_row *row = row_of(&store->alloc, &items[0], &items[1], &items[2]);

		version = version < 0 ? -version : version;
		if ((uint64_t)version > shard->inbox.seen)
			shard->inbox.seen = (uint64_t)version;
		if (!row) {
			store->inbox.failed = true;
			shard_expect_news(&store->sets, shard);
			return;
		}
		if (misplaced_is(store, shard, row->id))
			misplaced_news(store, shard, row, reply_number(&items[1]));
		else if (row->gone)
			tombstone_add(store, shard, row->id, row->head.generation, false);
		if (is_wanted(store->inbox.op, row) && !(row->gone && row->status != DW_OK))
			rows_push(&store->inbox.rows, row);
		else
			rows_free(&store->alloc, row);
	}
	if (reply->count > 3 * limit) { /* the inbox may have more */
		shard_expect_news(&store->sets, shard);
		store->inbox.is_whole = false;
	}
}

static void inbox_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	store->inbox.left--;
	shard->inbox.is_read = false;
	if (failure == FAILURE_NONE) {
		shard->inbox.suspect.closings = 0;
		add_rows(store, shard, reply, (size_t)(uintptr_t)request->context);
	} else {
		shard_expect_news(&store->sets, shard);
		store->inbox.is_whole = false;
	}
	if (failure == FAILURE_FENCED && shard_is_ours(shard) &&
	    shard->channel.handshake == HANDSHAKE_DONE)
		handshake_begin(store, shard);
	else if (failure != FAILURE_NONE && shard->channel.pause_until <= store->now)
		shard_pause(&store->sets, shard, usec_add(store->now, DW_MILLISECONDS(2)));
	request_free(&store->alloc, request);
	finish(store);
}

static void inbox_lost(struct redis_store *store, struct redis_request *request)
{
	struct shard_inbox *inbox = &request->shard->inbox;

	suspect_page_lost(store, &inbox->suspect, request, (size_t)(uintptr_t)request->context);
	store->inbox.left--;
	inbox->is_read = false;
	store->inbox.is_whole = false;
	shard_expect_news(&store->sets, request->shard);
	request_free(&store->alloc, request);
	finish(store);
}

/* pass_by skips one more row if the next row cannot be read. That row stays in the inbox, but no
 * longer holds up the rows behind it. */
static void pass_by(struct redis_store *store, struct shard_inbox *inbox)
{
	if (store->now >= inbox->unread_until)
		inbox->unread = 0;
	if (!suspect_page_fails(store, &inbox->suspect))
		return;
	suspect_tell_row(store, "");
	inbox->unread++;
	inbox->unread_until = usec_add(store->now, UNREAD_FOR);
}

static void read_shard(struct redis_store *store, struct shard *shard)
{
	size_t limit = suspect_rows(store, store->inbox.op->limit);

	pass_by(store, &shard->inbox);
	if (shard->inbox.unread > 0)
		store->inbox.is_whole = false;
	call_begin(&store->draft, SCRIPT_INBOX, shard);
	call_guard(store, shard, 0);
	command_number(&store->draft.words, (int64_t)limit);
	command_number(&store->draft.words, shard->inbox.unread);
	if (request_post(store, shard, inbox_answered, inbox_lost, (void *)(uintptr_t)limit) !=
	    DW_OK)
		return;
	shard->inbox.has_news = false;
	shard->inbox.is_read = true;
	store->inbox.left++;
}

static bool may_read(const struct redis_store *store, const struct shard *shard)
{
	return shard_is_ours(shard) && !shard->inbox.is_read && shard->node->connection &&
	       shard->channel.handshake == HANDSHAKE_DONE &&
	       store->now >= shard->channel.pause_until && !shard_is_cut_off(shard);
}

/* tell_topics answers the INBOX operation with a row that means that settings of topics have
 * changed. */
static void tell_topics(struct redis_store *store)
{
	dw_op *op = store->inbox.op;
	dw_row *row = row_new(&store->alloc, "", NULL, 0);

	if (!row)
		return; /* a later turn reports the change */
	row->gone = 1;
	store->later.topics.has_changed = false;
	store->wake.has_topics = false;
	store->inbox.op = NULL;
	op->rows = row;
	op->row_count = 1;
	answer(store, op, DW_OK);
}

void inbox_work(struct redis_store *store)
{
	if (!store->inbox.op || store->ownership.role != DW_OWNER || !nodes_are_up(&store->nodes) ||
	    store->inbox.left > 0)
		return;
	if (store->later.topics.has_changed || store->wake.has_topics) {
		tell_topics(store);
		return;
	}
	clear_reading(&store->inbox);
	store->inbox.since = store->now;
	if (store->inbox.rereads)
		inbox_expect_all(store);
	store->inbox.is_whole = store->inbox.rereads;
	for (unsigned i = shard_next(&store->sets.news, 0); i < store->shard_count;
	     i = shard_next(&store->sets.news, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (!shard->inbox.has_news)
			shard_remove(&store->sets.news, i);
		else if (may_read(store, shard))
			read_shard(store, shard);
		if (shard_is_ours(shard) && !shard->inbox.is_read && !shard_is_cut_off(shard))
			store->inbox.is_whole = false;
	}
}

void inbox_reread(struct redis_inbox *inbox)
{
	inbox->rereads = true;
}

void inbox_end(struct redis_store *store, int status)
{
	dw_op *op = store->inbox.op;

	store->inbox.op = NULL;
	if (op)
		answer(store, op, status);
}
