/* Reads overdue timers, no matter which process wrote them. Each call reads the next page of every
 * shard. The pages are neither merged nor sorted, because the owner knows almost all of these
 * timers. A scan in order would have to read all timers of equal deadlines before it could return
 * the first one. */
#include "store/redis/heal/audit.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define PAGE_MIN 4u
#define REST DW_MINUTES(1)

static size_t page_of(const struct redis_store *store)
{
	size_t page = store->audit.op->limit / store->shard_count;

	return page > PAGE_MIN ? page : PAGE_MIN;
}

/* finish answers the audit when the last shard's page has arrived. */
static void finish(struct redis_store *store)
{
	dw_op *op = store->audit.op;

	if (--store->audit.left > 0)
		return;
	store->audit.op = NULL;
	op->count = store->audit.more;
	answer(store, op, store->audit.status);
}

static void from_the_start(struct shard *shard)
{
	shard->audited.score[0] = shard->audited.id[0] = '\0';
}

/* keep_place notes where the next page of this shard begins. An id that another program wrote may
 * be too long to be kept. Then the next page skips all entries with the score of that id; the next
 * pass through the shard reads them again. */
static void keep_place(struct shard *shard, const struct reply *score, const struct reply *id)
{
	bool fits = id->size <= DW_ID_MAX && !memchr(id->bytes, 0, id->size);

	(void)snprintf(shard->audited.score, sizeof shard->audited.score, "%s", score->bytes);
	(void)snprintf(shard->audited.id, sizeof shard->audited.id, "%s",
		       fits ? id->bytes : "\xff");
}

/* take_rows adds the overdue rows of a page to the answer. It sets *ret_passed if it finds a row
 * that is not overdue, because then no later row is overdue. Returns false without memory. */
static bool take_rows(struct redis_store *store, struct shard *shard, const struct reply *reply,
		      bool *ret_passed)
{
	const struct reply *ids = &reply->items[0];
	const struct reply *values = &reply->items[1];
	dw_op *op = store->audit.op;

	for (size_t i = 0; i < ids->count; i++) {
		dw_row *row = value_row(&store->alloc, ids->items[i].bytes, ids->items[i].size,
					values->items[i].bytes, values->items[i].size);

		if (!row)
			return false;
		if (row->status != DW_ECORRUPT && row->head.due >= op->head.due) {
			rows_free(&store->alloc, row);
			*ret_passed = true;
			return true;
		}
		token_note_row(shard, row);
		misplaced_row(store, shard, row);
		if (row->deleted)
			repair_soon(store, shard);
		row->next = op->rows;
		op->rows = row;
		op->row_count++;
	}
	return true;
}

static void take_page(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	bool passed = page_is_last(reply);

	if (shard->audited.blind && !passed)
		suspect_tell_row(store, reply->items[PAGE_MEMBER].bytes);
	if (!take_rows(store, shard, reply, &passed)) {
		store->audit.status = DW_ENOMEM;
	} else if (passed) {
		from_the_start(shard);
	} else {
		keep_place(shard, &reply->items[PAGE_SCORE], &reply->items[PAGE_MEMBER]);
		store->audit.more = true;
	}
}

static void audit_page_answered(struct redis_store *store, struct redis_request *request,
				const struct reply *reply)
{
	struct shard *shard = request->shard;

	if (reply->kind != REPLY_ERROR) {
		take_page(store, shard, reply);
		shard->audited.blind = false;
		shard->audited.suspect.closings = 0;
	} else {
		(void)call_failed(store, request, reply);
		from_the_start(shard);
	}
	request_free(&store->alloc, request);
	finish(store);
}

static void audit_page_lost(struct redis_store *store, struct redis_request *request)
{
	suspect_page_lost(store, &request->shard->audited.suspect, request,
			  (size_t)(uintptr_t)request->context);
	request_free(&store->alloc, request);
	finish(store);
}

static void ask(struct redis_store *store, struct shard *shard)
{
	struct audit_place *place = &shard->audited;
	size_t page = suspect_rows(store, page_of(store));

	if (suspect_page_fails(store, &place->suspect)) {
		place->blind = true;
		place->rests_until = usec_add(store->now, REST);
	}
	call_begin(&store->draft, SCRIPT_PAGE, shard);
	command_text(&store->draft.words, "+");
	command_number(&store->draft.words, (int64_t)page);
	command_text(&store->draft.words, place->score);
	command_text(&store->draft.words, place->id);
	if (place->blind)
		walk_add_blind(&store->draft.words);
	if (request_post(store, shard, audit_page_answered, audit_page_lost,
			 (void *)(uintptr_t)page) == DW_OK)
		store->audit.left++;
}

static bool may_ask(const struct redis_store *store, const struct shard *shard)
{
	return shard_is_ours(shard) && !shard_is_cut_off(shard) &&
	       store->now >= shard->audited.rests_until;
}

void audit_begin(struct redis_store *store, dw_op *op)
{
	if (store->audit.op) {
		answer(store, op, DW_EBUSY); /* there is only one audit at a time */
		return;
	}
	store->audit.op = op;
	place_of(op)->floor = (uint64_t)store->now;
	store->audit.status = DW_OK;
	store->audit.more = false;
	store->audit.left =
	    /* This function counts as one shard, so that finish() cannot answer too early. */
	    1;
	for (unsigned i = 0; i < store->shard_count; i++)
		if (op_covers_shard(op, i) && may_ask(store, &store->shards[i]))
			ask(store, &store->shards[i]);
	finish(store);
}
