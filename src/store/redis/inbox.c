/* The inbox: what clients have written, read without removing it, when there is something to read:
 * a client's script has said so on the wake channel, or a renewal has counted it. */
#include "store/redis/inside.h"

#include <string.h>

void news_all(struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		store->shards[i].news = true;
}

static void clear_reading(struct redis_store *store)
{
	store->reading.rows = (struct rows){0};
	store->reading.failed = false;
}

static bool is_older(const dw_row *a, const dw_row *b)
{
	return a->head.generation < b->head.generation;
}

/* is_wanted: op is NULL when nobody asks any more. */
static bool is_wanted(const dw_op *op, const dw_row *row)
{
	return !op || !op->after.started || row->head.generation > op->after.generation;
}

/* finish answers the INBOX when every shard that was asked has answered, and one had something. */
static void finish(struct redis_store *store)
{
	dw_op *op = store->parked;

	if (store->reading.left > 0)
		return;
	if (!op || (store->reading.rows.count == 0 && !store->reading.failed)) {
		rows_free(&store->alloc, store->reading.rows.first);
		clear_reading(store);
		return;
	}
	store->parked = NULL;
	op->store_floor = (uint64_t)store->reading.since;
	op->rows = rows_sort(store->reading.rows.first, is_older);
	op->row_count = store->reading.rows.count;
	answer_behind(store, op, op->row_count == 0 ? DW_ENOMEM : DW_OK);
	clear_reading(store);
}

/* row_of: the timer as it is now, or that there is none any more. */
static dw_row *row_of(struct redis_store *store, const struct reply *id, const struct reply *score,
		      const struct reply *value)
{
	int64_t generation = reply_number(score);
	dw_row *row;

	if (value->kind == REPLY_BULK)
		return value_row(&store->alloc, id->bytes, id->size, value->bytes, value->size);
	row = row_new(&store->alloc, id->bytes, NULL, 0);
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
		dw_row *row = row_of(store, &items[0], &items[1], &items[2]);

		version = version < 0 ? -version : version;
		if ((uint64_t)version > shard->seen)
			shard->seen = (uint64_t)version;
		if (!row) {
			store->reading.failed = true;
			shard->news = true;
			return;
		}
		if (stray_is(store, shard, row->id))
			stray_news(store, shard, row, reply_number(&items[1]));
		else if (row->gone)
			loss_bury(store, shard, row->id, row->head.generation, false);
		if (is_wanted(store->parked, row) && !(row->gone && row->status != DW_OK))
			rows_push(&store->reading.rows, row);
		else
			rows_free(&store->alloc, row);
	}
	if (reply->count > 3 * limit)
		shard->news = true; /* there may be more */
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	store->reading.left--;
	shard->reading_news = false;
	if (failure == FAILURE_NONE)
		add_rows(store, shard, reply, (size_t)(uintptr_t)request->context);
	else
		shard->news = true;
	if (failure == FAILURE_FENCED && store->role == DW_OWNER &&
	    shard->greeting == GREETING_DONE)
		greet(store, shard);
	else if (failure != FAILURE_NONE && shard->pause_until <= store->now)
		shard->pause_until = usec_add(store->now, DW_MILLISECONDS(2));
	request_free(store, request);
	finish(store);
}

static void lost(struct redis_store *store, struct request *request)
{
	store->reading.left--;
	request->shard->reading_news = false;
	request->shard->news = true;
	request_free(store, request);
	finish(store);
}

static void read_shard(struct redis_store *store, struct shard *shard)
{
	struct request *request = request_new(store, shard, came, lost);

	if (!request)
		return;
	request->context = (void *)(uintptr_t)store->parked->limit;
	call_begin(store, "inbox", shard);
	call_guard(store, shard, 0);
	command_number(&store->words, (int64_t)store->parked->limit);
	if (request_send(store, request) != DW_OK) {
		request_free(store, request);
		return;
	}
	shard->news = false;
	shard->reading_news = true;
	store->reading.left++;
}

void news_work(struct redis_store *store)
{
	if (!store->parked || store->role != DW_OWNER || !store->connection ||
	    store->reading.left > 0)
		return;
	clear_reading(store);
	store->reading.since = store->now;
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->news && !shard->reading_news && shard->greeting == GREETING_DONE &&
		    store->now >= shard->pause_until)
			read_shard(store, shard);
	}
}

void news_end(struct redis_store *store, int status)
{
	dw_op *op = store->parked;

	store->parked = NULL;
	if (op)
		answer(store, op, status);
}
