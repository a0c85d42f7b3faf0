/* Finds and repairs entries without a value, and values without an entry. An entry is a member of a
 * shard's sorted set; its value is in the hash. Only another program that changes our keys can
 * separate them. The owner compares the ids of both, shard after shard and a page at a time, so
 * that it has seen the whole namespace within PASS. Counting is not enough, because three entries
 * and three other values may be missing. But if both counts are equal and each entry has a value,
 * then each value has an entry. So normally only entries are read.
 *
 * A shard that is known to be inconsistent is next, without pauses. It is inconsistent if two
 * renewals in a row found more entries than values, or fewer, or if an entry without a value was
 * read. The engine may know the timer of such an entry. So the engine first writes all that it
 * knows of the shard, and then the shard is compared once more. An entry that still has no value is
 * deleted. A value without an entry gets one. */
#include "store/redis/heal/repair.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define PASS DW_SECONDS(40)
/* With more than 4 million timers, a pass takes longer than PASS. */
#define PACE_MIN DW_MILLISECONDS(5)
#define PAGE 500u /* ids in one page of orphans.lua */

static bool is_due(const struct shard *shard)
{
	return shard->repair.is_due && !shard_is_cut_off(shard);
}

/* pace returns the pause between two pages. */
static dw_usec pace(const struct redis_store *store)
{
	uint64_t pages = store->shard_count;

	for (unsigned i = 0; i < store->shard_count; i++) {
		if (is_due(&store->shards[i]))
			return 0;
		pages += store->shards[i].counts.entries / PAGE;
	}
	return usec_max(PASS / (dw_usec)pages, PACE_MIN);
}

/* next_of returns the number of the shard that is compared after this shard. */
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
	shard->counts.differs = 0;
	shard->repair.is_due = shard->repair.is_second = repair->needs_engine;
	if (repair->needs_engine)
		shard_mark(&store->sets, shard, SHARD_INCOMPLETE);
	*repair = (struct repair){.number = next_of(store, shard->number)};
}

/* repair_id passes the id to mend.lua, which looks at the id again, because it may have changed
 * meanwhile. The first time through a shard, an entry without a value is not passed: first the
 * engine rewrites the shard. */
static void repair_id(struct redis_store *store, struct shard *shard, const struct reply *id)
{
	struct repair *repair = &store->repair;
	char name[DW_ID_MAX + 1];
	dw_op *op;

	if (id->size > DW_ID_MAX || memchr(id->bytes, 0, id->size))
		return; /* the id cannot be one of ours */
	shard->repair.is_due = true;
	if (repair->stage == REPAIR_ENTRIES && !shard->repair.is_second) {
		repair->needs_engine = true;
		return;
	}
	memcpy(name, id->bytes, id->size + 1);
	op = op_new(&store->alloc, DW_OP_MEND, name, NULL, 0);
	if (!op)
		return;
	answer_take(&store->completion, op);
	op_queue_push(&shard->queues.waiting, op);
	shard_queued(&store->sets, shard);
	repair->found++;
}

static void take_page(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	struct repair *repair = &store->repair;

	for (size_t i = 1; i < reply->count; i++)
		repair_id(store, shard, &reply->items[i]);
	(void)snprintf(repair->cursor, sizeof repair->cursor, "%s", reply->items[0].bytes);
	if (strcmp(repair->cursor, "0") != 0)
		return;
	if (repair->stage == REPAIR_VALUES || !shard->repair.is_due)
		end_shard(store, shard);
	else
		repair->stage = REPAIR_VALUES;
}

/* add_page writes the command for the next page of the stage. */
static void add_page(struct redis_store *store, const struct shard *shard)
{
	const struct repair *repair = &store->repair;

	call_begin(&store->draft, SCRIPT_ORPHANS, shard);
	command_text(&store->draft.words, repair->stage == REPAIR_ENTRIES ? "z" : "h");
	command_text(&store->draft.words, repair->cursor[0] ? repair->cursor : "0");
}

static void repair_page_answered(struct redis_store *store, struct redis_request *request,
				 const struct reply *reply)
{
	struct repair *repair = &store->repair;
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	repair->under_way = false;
	if (shard_is_ours(shard) && failure == FAILURE_NONE)
		take_page(store, shard, reply);
	else if (shard_is_ours(shard) && failure != FAILURE_AGAIN)
		end_shard(store, shard); /* the next pass tries again */
	repair->at = usec_add(store->now, failure == FAILURE_NONE ? pace(store) : PAUSE);
}

static void repair_page_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
	store->repair.under_way = false;
	store->repair.at = usec_add(store->now, PAUSE);
}

static bool can_work(const struct redis_store *store)
{
	return store->ownership.role == DW_OWNER && nodes_are_up(&store->nodes) &&
	       !store->stopped && !store->repair.under_way;
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
	if (shard_is_cut_off(shard) || !shard_is_ours(shard)) {
		*repair =
		    (struct repair){.at = repair->at, .number = next_of(store, shard->number)};
		return;
	}
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
