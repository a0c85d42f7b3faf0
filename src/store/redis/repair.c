/* Each entry of the order has a value, and each value an entry, unless another program has written,
 * or deleted, below our keys. The owner compares their ids: shard after shard, a page at a time, so
 * that all of the namespace is looked through within PASS. Equal numbers of both say nothing: three
 * entries and three other values may be missing. But where they are equal, and each entry has a
 * value, each value has an entry; so mostly the entries alone are read.
 *
 * A shard that is known to be torn comes next, and at full speed: its renewals have counted
 * different numbers twice, or somebody has read an entry without a value. The engine may know the
 * timer of such an entry: it pushes all it has of the shard, and the shard is looked through again.
 * An entry that has no value then is deleted. A value without an entry gets one. */
#include "store/redis/inside.h"

#include <stdio.h>
#include <string.h>

#define PASS DW_SECONDS(40)
#define PACE_MIN DW_MILLISECONDS(5) /* a namespace of more than 4 million timers takes longer */
#define PAGE 500u                   /* as orphans.lua has it */

/* pace: how long after a page the next one is asked for. */
static dw_usec pace(const struct redis_store *store)
{
	uint64_t pages = store->shard_count;

	for (unsigned i = 0; i < store->shard_count; i++) {
		if (store->shards[i].torn)
			return 0;
		pages += store->shards[i].entries / PAGE;
	}
	return usec_max(PASS / (dw_usec)pages, PACE_MIN);
}

/* next_of: the shard that is looked through after that one. */
static unsigned next_of(const struct redis_store *store, unsigned number)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].torn)
			return i;
	return (number + 1) % store->shard_count;
}

static void end_shard(struct redis_store *store, struct shard *shard)
{
	struct mending *mending = &store->mending;

	if (mending->found > 0 || mending->pushes)
		complain(store,
			 "shard %u: another program has deleted entries or values of timers: they "
			 "are restored as far as they are known",
			 shard->number);
	shard->uneven = 0;
	shard->torn = shard->pushed = mending->pushes;
	if (mending->pushes)
		loss_push(store, shard);
	*mending = (struct mending){.number = next_of(store, shard->number)};
}

/* mend leaves the id to a script of its own, which looks again: much may have happened. */
static void mend(struct redis_store *store, struct shard *shard, const struct reply *id)
{
	struct mending *mending = &store->mending;
	char name[DW_ID_MAX + 1];
	dw_op *op;

	if (id->size > DW_ID_MAX || memchr(id->bytes, 0, id->size))
		return; /* no id of ours */
	shard->torn = true;
	if (!mending->in_values && !shard->pushed) {
		mending->pushes = true;
		return;
	}
	memcpy(name, id->bytes, id->size + 1);
	op = op_new(&store->alloc, DW_OP_MEND, name, NULL, 0);
	if (!op)
		return;
	answer_take(store, op);
	op_queue_push(&shard->waiting, op);
	mending->found++;
}

static void take_page(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	struct mending *mending = &store->mending;

	for (size_t i = 1; i < reply->count; i++)
		mend(store, shard, &reply->items[i]);
	(void)snprintf(mending->cursor, sizeof mending->cursor, "%s", reply->items[0].bytes);
	if (strcmp(mending->cursor, "0") != 0)
		return;
	if (mending->in_values || !shard->torn)
		end_shard(store, shard);
	else
		mending->in_values = true;
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct mending *mending = &store->mending;
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	request_free(store, request);
	mending->under_way = false;
	if (store->role == DW_OWNER && failure == FAILURE_NONE)
		take_page(store, shard, reply);
	else if (store->role == DW_OWNER && failure != FAILURE_AGAIN)
		end_shard(store, shard); /* another time */
	mending->at = usec_add(store->now, failure == FAILURE_NONE ? pace(store) : PAUSE);
}

static void lost(struct redis_store *store, struct request *request)
{
	request_free(store, request);
	store->mending.under_way = false;
	store->mending.at = usec_add(store->now, PAUSE);
}

static bool can_work(const struct redis_store *store)
{
	return store->role == DW_OWNER && store->connection && !store->stopped &&
	       !store->mending.under_way;
}

dw_usec mend_due(const struct redis_store *store)
{
	return can_work(store) ? store->mending.at : DW_NEVER;
}

void mend_work(struct redis_store *store)
{
	struct mending *mending = &store->mending;
	struct request *request = NULL;
	struct shard *shard;

	if (!can_work(store) || store->now < mending->at)
		return;
	mending->at = usec_add(store->now, PAUSE);
	if (mending->number >= store->shard_count) /* there were more */
		*mending = (struct mending){.at = mending->at};
	shard = &store->shards[mending->number];
	if (shard->greeting == GREETING_DONE && shard->loss == LOSS_NONE)
		request = request_new(store, shard, came, lost);
	if (!request)
		return;
	call_begin(store, "orphans", shard);
	command_text(&store->words, mending->in_values ? "h" : "z");
	command_text(&store->words, mending->cursor[0] ? mending->cursor : "0");
	mending->under_way = request_send(store, request) == DW_OK;
	if (!mending->under_way)
		request_free(store, request);
}

void mend_soon(struct redis_store *store, struct shard *shard)
{
	shard->torn = true;
	store->mending.at = store->now;
}

void mend_count(struct redis_store *store, struct shard *shard, int64_t entries, int64_t values)
{
	shard->entries = (uint64_t)entries;
	shard->uneven = entries == values ? 0 : shard->uneven + 1;
	if (shard->uneven >= 2)
		mend_soon(store, shard);
}
