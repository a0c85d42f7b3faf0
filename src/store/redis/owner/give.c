/* Gives a shard away. The release carries the number of the shard's last command. So a server that
 * was emptied or set back does not release the shard, and this store writes the shard again. */
#include "store/redis/owner/give.h"

#include <string.h>

#include "store/redis/core.h"
#include "timer/transition.h"

/* is_busy returns true if a command of the shard is under way, an operation waits for it, or a part
 * of the store still has to act on it. */
static bool is_busy(const struct redis_store *store, const struct shard *shard)
{
	return shard->channel.handshake != HANDSHAKE_DONE || shard->channel.under_way > 0 ||
	       shard->channel.is_broken || shard->rebuild.state != REBUILD_NONE ||
	       shard_has_queue(shard) || shard->confirm.ops.first || shard->confirm.is_asked ||
	       shard->inbox.is_read || shard_is_cut_off(shard) || shard->cut.is_asked ||
	       shard->lease.loss_untold || shard->marks ||
	       shard_is_in(&store->sets.untold, shard->number) || store->later.barrier;
}

/* end answers the GIVE operation. */
static void end(struct redis_store *store, struct shard *shard, int status)
{
	dw_op *op = shard->give.op;

	shard->give = (struct give){0};
	shard_remove(&store->sets.given, shard->number);
	answer(store, op, status);
}

/* refuse_owners answers the waiting operations of the shard that only its owner may ask for. */
static void refuse_owners(struct redis_store *store, struct shard *shard)
{
	struct op_queue *waiting = &shard->queues.waiting;
	dw_op *op = op_queue_take(waiting);

	while (op) {
		dw_op *next = op->next;

		if (life_permits(op, DW_CLIENT) == DW_OK)
			op_queue_push(waiting, op);
		else
			answer(store, op, DW_EFENCED);
		op = next;
	}
}

/* given is called when the shard is not ours any more. Operations in its queues are sent as a
 * client sends them. Those that only an owner may ask for get DW_EFENCED. */
static void given(struct redis_store *store, struct shard *shard)
{
	token_forget(shard);
	shard->rebuild = (struct rebuild){0};
	channel_forget(&shard->channel);
	shard->channel.acked = 0;
	end(store, shard, DW_OK);
	refuse_owners(store, shard);
}

/* keep is called when the shard was not released. The engine may have given the shard up meanwhile,
 * together with another shard that was lost. So the engine is told that the shard is ours. */
static void keep(struct redis_store *store, struct shard *shard, int status)
{
	shard->lease.is_ours = true;
	shard->channel.handshake = HANDSHAKE_DONE;
	end(store, shard, status);
	shard_add(&store->sets.untold, shard->number);
	shard_mark(&store->sets, shard, SHARD_READY);
}

/* is_known returns true if this store is still the owner, and has the shard's fence: it has not
 * given up all shards meanwhile. */
static bool is_known(const struct redis_ownership *ownership, const struct shard *shard)
{
	return ownership->role == DW_OWNER && shard->lease.fence > 0;
}

static void give_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	struct shard *shard = request->shard;
	bool is_error = reply->kind == REPLY_ERROR;

	if (is_error)
		(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
	if (!shard->give.op)
		return;
	shard->give.is_asked = false;
	if (!is_known(&store->ownership, shard) ||
	    (!is_error &&
	     (reply_is(&reply->items[0], "OK") || token_is_succeeded(store, shard, reply)))) {
		given(store, shard);
	} else if (is_error) {
		keep(store, shard, DW_EBUSY); /* nothing was done */
	} else {
		keep(store, shard, DW_ESTORE);
		shard_mark(&store->sets, shard, SHARD_SUSPECT);
	}
}

static void give_lost(struct redis_store *store, struct redis_request *request)
{
	struct shard *shard = request->shard;
	bool is_unsent = request->is_unsent;

	request_free(&store->alloc, request);
	if (!shard->give.op)
		return;
	shard->give.is_asked = false;
	if (!is_unsent || !is_known(&store->ownership, shard))
		return; /* give_work asks again */
	keep(store, shard, DW_EBUSY);
	channel_forget(&shard->channel);
}

static int send_release(struct redis_store *store, struct shard *shard)
{
	struct redis_command *words = &store->draft.words;

	call_begin_rare(&store->draft, SCRIPT_RELEASE, shard);
	command_text(words, shard->lease.token);
	command_text(words, "");
	command_text(words, shard->lease.incarnation);
	command_unsigned(words, shard->channel.acked);
	if (shard->inbox.seen > 0)
		command_unsigned(words, shard->inbox.seen);
	else
		command_text(words, "");
	command_text(words, store->names.free);
	return request_post(store, shard, give_answered, give_lost, NULL);
}

void give_begin(struct redis_store *store, dw_op *op)
{
	struct shard *shard = op->limit < store->shard_count ? &store->shards[op->limit] : NULL;

	if (!shard || !shard_is_shared(store)) {
		answer(store, op, DW_EINVAL);
		return;
	}
	if (shard->give.op || is_busy(store, shard)) {
		answer(store, op, shard_is_ours(shard) || shard->give.op ? DW_EBUSY : DW_OK);
		return;
	}
	/* The list must say that the shard is free before any peer hears of it. */
	shard->lease.is_ours = false;
	shard->channel.handshake = HANDSHAKE_ASKED;
	shard->give = (struct give){.op = op, .is_asked = true};
	shard_add(&store->sets.given, shard->number);
	members_enter(store);
	if (send_release(store, shard) != DW_OK)
		keep(store, shard, DW_EBUSY);
}

/* ---- A lost answer ------------------------------------------------------------------------- */

/* fate_answered takes the reply to a handshake. If the server renews the lease, it has not released
 * the shard. If the lease is gone, the shard counts as given. */
static void fate_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	struct shard *shard = request->shard;
	bool is_error = reply->kind == REPLY_ERROR;
	dw_usec sent = request->sent;

	if (is_error)
		(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
	if (!shard->give.op)
		return;
	shard->give.is_asked = false;
	if (!is_known(&store->ownership, shard)) {
		given(store, shard);
	} else if (is_error) {
		shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
	} else if (handshake_is_ours(&store->names, shard, reply)) {
		memcpy(shard->lease.token, reply->items[1].bytes, reply->items[1].size + 1);
	} else if (reply_is(&reply->items[0], "OK")) {
		token_note_version(shard, (uint64_t)reply_number(&reply->items[2]));
		token_extend(store, shard, sent);
		token_of(&store->names, shard, shard->lease.token);
		keep(store, shard, DW_EBUSY);
		if (token_went_back(shard, reply))
			shard_mark(&store->sets, shard, SHARD_SUSPECT);
		else
			handshake_done(store, shard, (uint64_t)reply_number(&reply->items[1]));
	} else {
		given(store, shard);
	}
}

static void fate_lost(struct redis_store *store, struct redis_request *request)
{
	request->shard->give.is_asked = false;
	request_free(&store->alloc, request);
}

/* ask_fate asks the server whether a release was applied. It does not ask if the lease is over, or
 * if the server's process is younger than the lease: with old data the server may have the lease
 * from before the release. Then the shard counts as given. */
static void ask_fate(struct redis_store *store, struct shard *shard)
{
	if (!is_known(&store->ownership, shard) || token_is_over(store, shard) ||
	    token_is_of_before(shard))
		given(store, shard);
	else
		shard->give.is_asked =
		    handshake_ask(store, shard, fate_answered, fate_lost) == DW_OK;
}

void give_work(struct redis_store *store)
{
	const struct shard_set *set = &store->sets.given;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (shard->node->connection && !shard->give.is_asked &&
		    store->now >= shard->channel.pause_until)
			ask_fate(store, shard);
	}
}

void give_end(struct redis_store *store, int status)
{
	const struct shard_set *set = &store->sets.given;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		end(store, &store->shards[i], status);
}
