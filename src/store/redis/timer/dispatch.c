/* Decides which shard sends next, and how much of its queue makes a command. */
#include "store/redis/timer/dispatch.h"

#include "store/redis/core.h"

/* The most commands under way for one shard whose queue has several kinds of operations. */
#define COMMANDS_MAX 32u

/* is_worth_it returns true if the queue can be sent now. This is so if no command of the shard is
 * under way. Otherwise the operations gather until they fill a command, because in a batch of 64
 * each timer costs the server half. If the queue has operations of several kinds, it is sent at
 * once, because one kind must not wait for another to fill a command. */
static bool is_worth_it(const struct shard *shard, const struct op_queue *queue)
{
	return shard->channel.under_way == 0 || batch_is_good(queue) ||
	       (queue->last->kind != queue->first->kind && shard->channel.under_way < COMMANDS_MAX);
}

/* is_open returns true if commands that change something may be sent to the shard. Otherwise it
 * begins what is missing: the acquisition or the handshake. */
static bool is_open(struct redis_store *store, struct shard *shard)
{
	if (shard_take(store, shard))
		return false;
	if (shard->channel.handshake == HANDSHAKE_NONE)
		handshake_begin(store, shard);
	return shard->channel.handshake == HANDSHAKE_DONE && !shard->channel.is_broken;
}

/* next_queue returns the queue from which operations are sent now, or NULL. Rebuild writes that
 * failed are sent first, even after the rebuild. */
static struct op_queue *next_queue(struct shard *shard)
{
	if (shard->queues.rebuild.first && shard->rebuild.state != REBUILD_ACQUIRING)
		return &shard->queues.rebuild;
	if (shard->rebuild.state != REBUILD_NONE)
		return NULL;
	return shard->queues.retry.first ? &shard->queues.retry : &shard->queues.waiting;
}

void dispatch_shard(struct redis_store *store, struct shard *shard)
{
	if (shard_is_cut_off(shard)) {
		/* Until it is sure which shards are refused, the operations wait, so that the
		 * engine hears of the cut-off first. */
		if (cut_off_is_sure(store)) {
			shard->cut.is_answered = !cut_off_all(store);
			stray_leave(store, shard);
			answer_cut_off(store, shard);
		}
		return;
	}
	while (shard->node->connection && !shard->channel.is_moving && !store->stopped &&
	       !store->ownership.acquisition.active && store->now >= shard->channel.pause_until) {
		struct op_queue *queue = next_queue(shard);

		if (!layout_is_known(store))
			return;
		if (shard->in_doubt.requests.first && !is_open(store, shard))
			return;
		if (!queue || !queue->first)
			return;
		if (queue->first->kind != DW_OP_GET && !is_open(store, shard))
			return;
		if (shard->cut.is_asked && place_of(queue->first)->is_refused)
			return;
		if (suspect_judge(store, shard, queue))
			continue;
		if (queue->first->kind != DW_OP_GET && !is_worth_it(shard, queue))
			return;
		batch_gather(queue);
		if (write_send(store, shard, queue) != DW_OK) {
			shard_pause(&store->sets, shard, usec_add(store->now, DW_MILLISECONDS(1)));
			return;
		}
	}
}

void dispatch_end_pauses(struct redis_store *store)
{
	struct shard_set *paused = &store->sets.paused;

	for (unsigned i = shard_next(paused, 0); i < store->shard_count;
	     i = shard_next(paused, i + 1))
		if (store->now >= store->shards[i].channel.pause_until)
			shard_remove(paused, i);
}

void dispatch_all(struct redis_store *store)
{
	struct shard_set *queued = &store->sets.queued;

	for (unsigned i = shard_next(queued, 0); i < store->shard_count;
	     i = shard_next(queued, i + 1)) {
		dispatch_shard(store, &store->shards[i]);
		if (!shard_has_queue(&store->shards[i]))
			shard_remove(queued, i);
	}
}
