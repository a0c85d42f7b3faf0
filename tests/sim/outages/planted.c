#include "sim/outages/planted.h"

#include "sim/outages/outages.h"
#include "store/fallback/core.h"

static struct planted *planted_of(dw_store *store)
{
	return (struct planted *)store;
}

static dw_store *front_of(const struct planted *planted)
{
	return ((struct fallback *)planted->real)->front;
}

/* overtakes: the operation does not wait for the rows. With claims alone the bug is seen once in
 * thousands of seeds, because an owner that has read nothing old has nothing old to claim. */
static bool overtakes(enum bug bug, const dw_op *op)
{
	return bug == BUG_CLAIM_FIRST && (op->kind == DW_OP_CLAIM || op->kind == DW_OP_AUDIT ||
					  (op->kind == DW_OP_SCAN && !op->asked));
}

static void planted_submit(dw_store *store, dw_op *batch)
{
	struct planted *planted = planted_of(store);
	const struct fallback *fallback = (struct fallback *)planted->real;

	while (batch) {
		dw_op *next = batch->next;
		bool early = overtakes(planted->member->outages->sim->bug, batch) &&
			     fallback->state == DW_JOURNAL_REPLAYS;

		batch->next = NULL;
		batch->level = DW_STORED;
		if (early)
			front_of(planted)->type->submit(front_of(planted), batch);
		else
			planted->real->type->submit(planted->real, batch);
		batch = next;
	}
}

static dw_op *planted_collect(dw_store *store)
{
	return planted_of(store)->real->type->collect(planted_of(store)->real);
}

static int planted_stop(dw_store *store, dw_usec patience)
{
	return planted_of(store)->real->type->stop(planted_of(store)->real, patience);
}

static void planted_free(dw_store *store)
{
	planted_of(store)->real->type->free(planted_of(store)->real);
}

static void planted_turn(dw_store *store, dw_usec steady)
{
	planted_of(store)->real->type->turn(planted_of(store)->real, steady);
}

static const struct planted *const_planted_of(const dw_store *store)
{
	return (const struct planted *)store;
}

static dw_usec planted_due(const dw_store *store)
{
	return const_planted_of(store)->real->type->due(const_planted_of(store)->real);
}

static dw_usec planted_lease(const dw_store *store, unsigned shard)
{
	const struct planted *planted = const_planted_of(store);
	dw_usec lease = planted->real->type->lease(planted->real, shard);

	return lease != INT64_MIN && planted->member->outages->sim->bug == BUG_FIRE_LATE ? DW_NEVER
											 : lease;
}

static int planted_is_lost(const dw_store *store, const char *id)
{
	return const_planted_of(store)->real->type->is_lost(const_planted_of(store)->real, id);
}

static int planted_is_whole(dw_store *store)
{
	return planted_of(store)->real->type->is_whole(planted_of(store)->real);
}

static int planted_trouble(const dw_store *store, char *ret_words, size_t size)
{
	return const_planted_of(store)->real->type->trouble(const_planted_of(store)->real,
							    ret_words, size);
}

static unsigned planted_shards(const dw_store *store)
{
	return const_planted_of(store)->real->type->shards(const_planted_of(store)->real);
}

static unsigned planted_shard_of(const dw_store *store, const char *id)
{
	return const_planted_of(store)->real->type->shard_of(const_planted_of(store)->real, id);
}

static int planted_take_shard(dw_store *store, dw_shard_news *ret_news)
{
	return planted_of(store)->real->type->take_shard(planted_of(store)->real, ret_news);
}

static void planted_began(dw_store *store, const char *id)
{
	planted_of(store)->real->type->began(planted_of(store)->real, id);
}

static int planted_take_event(dw_store *store, dw_store_event *ret_event)
{
	return planted_of(store)->real->type->take_event(planted_of(store)->real, ret_event);
}

static void planted_journal(const dw_store *store, dw_journal_stats *ret_stats)
{
	const_planted_of(store)->real->type->journal(const_planted_of(store)->real, ret_stats);
}

static void planted_replicas(const dw_store *store, dw_replica_stats *ret_stats)
{
	const_planted_of(store)->real->type->replicas(const_planted_of(store)->real, ret_stats);
}

static int planted_node(const dw_store *store, size_t number, dw_node *ret_node)
{
	const dw_store *real = const_planted_of(store)->real;

	return real->type->node ? real->type->node(real, number, ret_node) : 0;
}

static unsigned planted_surplus(const dw_store *store)
{
	return const_planted_of(store)->real->type->surplus(const_planted_of(store)->real);
}

static void planted_sharing(const dw_store *store, dw_sharing *ret_sharing)
{
	const_planted_of(store)->real->type->sharing(const_planted_of(store)->real, ret_sharing);
}

void planted_init(struct planted *planted, struct member *member, dw_store *real)
{
	*planted = (struct planted){.real = real, .member = member};
	planted->type = *real->type;
	planted->type.name = "planted";
	planted->type.submit = planted_submit;
	planted->type.collect = planted_collect;
	planted->type.stop = planted_stop;
	planted->type.free = planted_free;
	planted->type.turn = planted_turn;
	planted->type.due = planted_due;
	planted->type.lease = planted_lease;
	planted->type.is_lost = planted_is_lost;
	planted->type.is_whole = real->type->is_whole ? planted_is_whole : NULL;
	planted->type.trouble = planted_trouble;
	planted->type.shards = planted_shards;
	planted->type.shard_of = planted_shard_of;
	planted->type.take_shard = planted_take_shard;
	planted->type.surplus = real->type->surplus ? planted_surplus : NULL;
	planted->type.sharing = real->type->sharing ? planted_sharing : NULL;
	planted->type.began = real->type->began ? planted_began : NULL;
	planted->type.take_event = real->type->take_event ? planted_take_event : NULL;
	planted->type.journal = real->type->journal ? planted_journal : NULL;
	planted->type.replicas = real->type->replicas ? planted_replicas : NULL;
	planted->type.node = real->type->node ? planted_node : NULL;
	planted->type.descriptor = NULL;
	planted->type.recall = NULL;
	planted->type.stamp = NULL;
	planted->store.type = &planted->type;
}
