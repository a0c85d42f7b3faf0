/* Makes and frees the shards, and moves all operations if the namespace has another number of
 * shards than this store thought. */
#include "store/redis/heal/reshard.h"

#include "store/redis/core.h"
#include "store/redis/store.h"

int redis_shards(struct redis_store *store, unsigned count)
{
	struct shard *shards = alloc_new(&store->alloc, count * sizeof *shards);

	if (!shards)
		return DW_ENOMEM;
	store->shards = shards;
	store->layout.is_fixed = true;
	for (; store->shard_count < count; store->shard_count++) {
		struct shard *shard = &shards[store->shard_count];

		shard->number = store->shard_count;
		shard->node = store->nodes.place[store->shard_count]
				  ? store->nodes.place[store->shard_count]
				  : &store->node;
		shard->channel.next = 1;
		/* Means that the owner has read everything up to change number 0, when there were
		 * no settings. */
		shard->topic_changes = 1;
		if (shard_make_keys(store, shard) != DW_OK)
			return DW_ENOMEM;
	}
	return DW_OK;
}

static void free_shard(struct alloc *alloc, struct shard *shard)
{
	while (shard->in_doubt.puts) {
		struct put_in_doubt *put = shard->in_doubt.puts;

		shard->in_doubt.puts = put->next;
		alloc_free(alloc, put);
	}
	tombstone_free_all(alloc, shard);
	alloc_free(alloc, shard->keys.name[0]);
}

void shards_free(struct alloc *alloc, struct shard *shards, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free_shard(alloc, &shards[i]);
	alloc_free(alloc, shards);
}

/* ---- Another number -------------------------------------------------------------------------- */

static void move_ops(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue))) {
		struct shard *shard = shard_of(store, op->id);

		op_queue_push(&shard->queues.waiting, op);
		shard_queued(&store->sets, shard);
	}
}

static void move_rebuild(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue))) {
		struct shard *shard = shard_of(store, op->id);

		op_queue_push(&shard->queues.rebuild, op);
		shard_queued(&store->sets, shard);
	}
}

static void move_puts(struct redis_store *store, struct shard *old)
{
	answer_never_known(old->in_doubt.puts);
	while (old->in_doubt.puts) {
		struct put_in_doubt *put = old->in_doubt.puts;
		struct shard *shard = shard_of(store, put->id);

		old->in_doubt.puts = put->next;
		put->next = shard->in_doubt.puts;
		shard->in_doubt.puts = put;
		shard->in_doubt.count++;
	}
}

/* move_all moves the operations that wait for an old shard to the new shards. Nobody knows whether
 * commands without a reply were applied, so their operations are answered DW_EUNKNOWN. Rebuild
 * writes are moved in any case, because they may be sent twice. */
static void move_all(struct redis_store *store, struct shard *shard)
{
	struct redis_request *request;

	while ((request = request_pop(&shard->in_doubt.requests))) {
		if (request->ops.first && request->ops.first->kind == DW_OP_REPUSH)
			move_rebuild(store, &request->ops);
		answer_doubtful(store, &request->ops);
		request_free(&store->alloc, request);
	}
	move_rebuild(store, &shard->queues.rebuild);
	move_ops(store, &shard->queues.retry);
	move_ops(store, &shard->queues.waiting);
	move_puts(store, shard);
	confirm_end(store, shard);
	tombstone_move(store, shard);
}

void reshard(struct redis_store *store)
{
	struct shard *old = store->shards;
	unsigned old_count = store->shard_count;
	unsigned found = store->layout.found;
	bool was_cut_off;

	if (!old || !found || found == old_count || store->ownership.role == DW_OWNER ||
	    store->stopped)
		return;
	suspect_release(store, true);
	was_cut_off = store->sets.cut_off_count > 0;
	store->sets = (struct shard_sets){0};
	if (was_cut_off)
		shard_add(&store->sets.untold,
			  /* With news of any shard the engine asks how many shards are cut off. */
			  0);
	store->shard_count = 0;
	/* Without memory the client asks for the number again. */
	if (redis_shards(store, found) != DW_OK) {
		if (store->shards != old)
			shards_free(&store->alloc, store->shards, store->shard_count);
		store->shards = old;
		store->shard_count = old_count;
		store->layout.is_fixed = false;
		return;
	}
	scan_end_all(store, DW_ESTORE);
	for (unsigned i = 0; i < old_count; i++)
		move_all(store, &old[i]);
	shards_free(&store->alloc, old, old_count);
	restore_reshard(store);
}
