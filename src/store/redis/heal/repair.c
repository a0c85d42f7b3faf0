/* Finds and repairs entries without a value, values without an entry, and differences between the
 * values and the index by topic. An entry is a member of a shard's sorted set; its value is in the
 * hash. Only another program that writes or deletes below our keys can separate them. The owner
 * compares the ids of both, and each member of the index with the value of its id, shard after
 * shard and a page at a time, so that it has seen the whole namespace within PASS. Counting is not
 * enough: three entries and three other values may be missing. But if the counts are equal and
 * each entry has a value, each value has an entry; and if each member is that of a value, each
 * value has its member. So normally only entries and members are read.
 *
 * A shard that is known to be inconsistent is next, without pauses: two renewals in a row counted
 * different numbers, or an entry without a value was read. The engine may know the timer of such
 * an entry. So it first writes all that it knows of the shard, and then the shard is compared once
 * more. An entry that still has no value is deleted. A value without an entry gets one. The index
 * needs no engine, because the values say what it must be: index.lua deletes and adds members. So
 * it also builds the index of a shard that has none. */
#include "store/redis/heal/repair.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define PASS DW_SECONDS(40)
#define PACE_MIN DW_MILLISECONDS(5) /* more than 2 million timers take longer than PASS */
#define PAGE 500u                   /* ids in a page of orphans.lua, or of index.lua */

static bool is_due(const struct shard *shard)
{
	return shard->repair.is_due && !shard_is_cut_off(shard);
}

/* pace: the pause between two pages. */
static dw_usec pace(const struct redis_store *store)
{
	uint64_t pages = store->shard_count;

	for (unsigned i = 0; i < store->shard_count; i++) {
		if (is_due(&store->shards[i]))
			return 0;
		pages += 2 * store->shards[i].counts.entries / PAGE;
	}
	return usec_max(PASS / (dw_usec)pages, PACE_MIN);
}

/* next_of returns the number of the shard that comes after that one. */
static unsigned next_of(const struct redis_store *store, unsigned number)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (is_due(&store->shards[i]))
			return i;
	return (number + 1) % store->shard_count;
}

static void end_shard(struct redis_store *store, struct shard *shard)
{
	struct repair *repair = &store->repair;

	if (repair->found > 0 || repair->needs_engine)
		complain(store,
			 "shard %u: another program has deleted entries or values of timers: "
			 "restoring those that are known",
			 shard->number);
	if (repair->indexed > 0)
		complain(store,
			 "shard %u: the index by topic did not match the timers: %u members "
			 "corrected",
			 shard->number, repair->indexed);
	shard->counts.differs = 0;
	shard->repair.is_due = shard->repair.is_second = repair->needs_engine;
	if (repair->needs_engine)
		shard_mark(store, shard, SHARD_INCOMPLETE);
	*repair = (struct repair){.number = next_of(store, shard->number)};
}

/* repair_id gives the id to mend.lua, which looks at it again because it may have changed
 * meanwhile. The first time through a shard, an entry without a value is left to the engine. */
static void repair_id(struct redis_store *store, struct shard *shard, const struct reply *id)
{
	struct repair *repair = &store->repair;
	char name[DW_ID_MAX + 1];
	dw_op *op;

	if (id->size > DW_ID_MAX || memchr(id->bytes, 0, id->size))
		return; /* not an id of ours */
	shard->repair.is_due = true;
	if (repair->stage == REPAIR_ENTRIES && !shard->repair.is_second) {
		repair->needs_engine = true;
		return;
	}
	memcpy(name, id->bytes, id->size + 1);
	op = op_new(&store->alloc, DW_OP_MEND, name, NULL, 0);
	if (!op)
		return;
	answer_take(store, op);
	op_queue_push(&shard->queues.waiting, op);
	shard_queued(store, shard);
	repair->found++;
}

static bool is_of_index(const struct repair *repair)
{
	return repair->stage == REPAIR_INDEX || repair->stage == REPAIR_UNINDEXED;
}

/* note_corrected: so many members were deleted or added. If some were deleted, others may be
 * missing. */
static void note_corrected(struct repair *repair, struct shard *shard, size_t count)
{
	repair->indexed += (unsigned)count;
	if (count > 0)
		shard->repair.is_due = true;
}

static void take_page(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	struct repair *repair = &store->repair;

	if (is_of_index(repair))
		note_corrected(repair, shard, reply->count - 1);
	else
		for (size_t i = 1; i < reply->count; i++)
			repair_id(store, shard, &reply->items[i]);
	(void)snprintf(repair->cursor, sizeof repair->cursor, "%s", reply->items[0].bytes);
	if (strcmp(repair->cursor, "0") != 0)
		return;
	if (repair->stage == REPAIR_UNINDEXED ||
	    (repair->stage == REPAIR_INDEX && !shard->repair.is_due))
		end_shard(store, shard);
	else
		repair->stage++;
}

/* add_page asks for the next page of the stage. */
static void add_page(struct redis_store *store, const struct shard *shard)
{
	const struct repair *repair = &store->repair;
	bool members = repair->stage == REPAIR_INDEX;

	call_begin(store, is_of_index(repair) ? SCRIPT_INDEX : SCRIPT_ORPHANS, shard);
	command_text(&store->pipeline.words, members                           ? "k"
					     : repair->stage == REPAIR_ENTRIES ? "z"
									       : "h");
	command_text(&store->pipeline.words, repair->cursor[0] ? repair->cursor : "0");
	if (is_of_index(repair))
		command_text(&store->pipeline.words, shard->lease.token);
}

static void repair_page_answered(struct redis_store *store, struct redis_request *request,
				 const struct reply *reply)
{
	struct repair *repair = &store->repair;
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	request_free(store, request);
	repair->under_way = false;
	if (store->ownership.role == DW_OWNER && failure == FAILURE_NONE)
		take_page(store, shard, reply);
	else if (store->ownership.role == DW_OWNER && failure != FAILURE_AGAIN)
		end_shard(store, shard); /* the next pass tries again */
	repair->at = usec_add(store->now, failure == FAILURE_NONE ? pace(store) : PAUSE);
}

static void repair_page_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(store, request);
	store->repair.under_way = false;
	store->repair.at = usec_add(store->now, PAUSE);
}

static bool can_work(const struct redis_store *store)
{
	return store->ownership.role == DW_OWNER && store->pipeline.connection && !store->stopped &&
	       !store->repair.under_way;
}

dw_usec repair_due(const struct redis_store *store)
{
	return can_work(store) ? store->repair.at : DW_NEVER;
}

void repair_work(struct redis_store *store)
{
	struct repair *repair = &store->repair;
	struct shard *shard;

	if (!can_work(store) || store->now < repair->at)
		return;
	repair->at = usec_add(store->now, PAUSE);
	if (repair->number >= store->shard_count) /* the namespace has fewer shards now */
		*repair = (struct repair){.at = repair->at};
	shard = &store->shards[repair->number];
	if (shard_is_cut_off(shard))
		*repair =
		    (struct repair){.at = repair->at, .number = next_of(store, shard->number)};
	if (shard->channel.handshake != HANDSHAKE_DONE || shard->rebuild.state != REBUILD_NONE)
		return;
	add_page(store, shard);
	repair->under_way =
	    request_post(store, shard, repair_page_answered, repair_page_lost, NULL) == DW_OK;
}

void repair_soon(struct redis_store *store, struct shard *shard)
{
	shard->repair.is_due = true;
	store->repair.at = store->now;
}
