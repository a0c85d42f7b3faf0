/* Acquires and rebuilds a shard that lost data. A shard was emptied if its incarnation is gone or
 * has changed. It was set back if its last applied command number is below one that it had
 * confirmed. While our own lease lasts, no other process can have started a timer of the shard. So
 * this store acquires the shard with a new token, deletes all timers with a tombstone again, and
 * lets the engine write the others. If another process has acquired the emptied shard first, this
 * store becomes a client, writes what it knows for that process, and then steps down. */
#include "store/redis/heal/restore.h"

#include <string.h>

#include "store/redis/core.h"
#include "store/redis/store.h"

#define TAKE_EVERY DW_SECONDS(1) /* how often it tries to acquire a shard that another has */

/* delete_again deletes the timers that have a tombstone, before the engine writes timers. A timer
 * that became a dead letter is not deleted, because its letter may be lost, too. */
static void delete_again(struct redis_store *store, struct shard *shard)
{
	for (const struct tombstone *tombstone = shard->tombstones.first; tombstone;
	     tombstone = tombstone->next) {
		dw_op *op;

		if (tombstone->generation == 0)
			continue;
		op = op_new(&store->alloc, DW_OP_REDELETE, tombstone->id, NULL, 0);
		if (!op)
			return;
		op->head.generation = tombstone->generation - tombstone->letter;
		answer_take(&store->completion, op);
		op_queue_push(&shard->queues.rebuild, op);
		shard_queued(&store->sets, shard);
	}
}

/* ---- Telling --------------------------------------------------------------------------------- */

/* note_acquired makes restore_tell tell the engine about this shard. During a handover the other
 * owner must get the settings of the topics before the first timer. */
static void note_acquired(struct redis_store *store, struct shard *shard)
{
	if (store->handover.is_on)
		copies_write(store, shard);
	shard->rebuild.state = REBUILD_ACQUIRED;
	shard_add(&store->sets.rebuilt, shard->number);
}

void restore_tell(struct redis_store *store)
{
	dw_op *op = store->handover.op;
	bool any = false;

	for (unsigned i = shard_next(&store->sets.rebuilt, 0); op && i < store->shard_count;
	     i = shard_next(&store->sets.rebuilt, i + 1)) {
		struct shard *shard = &store->shards[i];

		/* A reply that is under way may show an older state than the engine will write. */
		if (shard->rebuild.state == REBUILD_ACQUIRED && shard->channel.under_way == 0) {
			shard->rebuild.state = REBUILD_TOLD;
			any = true;
		}
		if (shard->rebuild.state != REBUILD_ACQUIRED)
			shard_remove(&store->sets.rebuilt, i);
	}
	if (!any)
		return;
	store->handover.op = NULL;
	answer(store, op, DW_OK);
}

void restore_write(struct redis_store *store, struct shard *shard)
{
	if (!shard_is_ours(shard) || shard->rebuild.state != REBUILD_NONE)
		return;
	note_acquired(store, shard);
	restore_tell(store);
}

/* reopen lets the waiting operations be sent, because the engine has written all that it knows of
 * the shard. If a client wrote to the emptied shard before this store acquired it, the inbox may no
 * longer list this change. Therefore the scripts read each timer first. */
static void reopen(struct shard *shard)
{
	shard->rebuild.state = REBUILD_NONE;
	batch_forget(&shard->queues.retry);
	batch_forget(&shard->queues.waiting);
}

void restore_park(struct redis_store *store, dw_op *op)
{
	if (store->handover.op) {
		answer(store, op, DW_EBUSY); /* there is only one LOSS at a time */
		return;
	}
	store->handover.op = op;
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].rebuild.state == REBUILD_TOLD)
			reopen(&store->shards[i]);
	restore_tell(store);
	if (store->handover.is_on && store->handover.op)
		restore_lose(store);
}

void restore_end(struct redis_store *store, int status)
{
	dw_op *op = store->handover.op;

	store->handover.op = NULL;
	if (op)
		answer(store, op, status);
}

void restore_lose(struct redis_store *store)
{
	if (store->ownership.role != DW_OWNER && !store->handover.is_on)
		return;
	store->handover.is_coming = false;
	answer_withheld(store);
	store->ownership.role = DW_CLIENT;
	store->ownership.doubted_at = 0;
	members_leave(store);
	suspect_release(store, true);
	for (unsigned i = 0; i < store->shard_count; i++) {
		lease_lose(store, &store->shards[i]);
		store->shards[i].lease.loss_untold = false; /* DW_EFENCED reports it */
		store->shards[i].rebuild = (struct rebuild){0};
	}
	copies_forget(store);
	inbox_end(store, DW_EFENCED);
	restore_end(store, DW_EFENCED);
}

static bool has_others(const struct redis_store *store, const struct shard *lost)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (i != lost->number && shard_is_ours(&store->shards[i]))
			return true;
	return false;
}

/* lose gives one shard up, and tries to acquire it again a second later. If this store has no other
 * shard, the ownership of the namespace is lost. But a peer may be an owner without shards. */
static void lose(struct redis_store *store, struct shard *shard)
{
	if (!shard_is_shared(store) && !has_others(store, shard)) {
		restore_lose(store);
		return;
	}
	complain(store, "shard %u is lost: another process has it, or had it", shard->number);
	stray_leave(store, shard);
	lease_lose(store, shard);
	shard->rebuild = (struct rebuild){0};
	shard->lease.again_at = usec_add(store->now, TAKE_EVERY);
	shard->lease.loss_untold = true;
	shard_add(&store->sets.untold, shard->number);
}

void restore_work(struct redis_store *store)
{
	if ((store->handover.is_coming || store->handover.is_on) &&
	    store->now >= store->handover.until)
		restore_lose(store);
}

int restore_is_lost(const dw_store *base, const char *id)
{
	const struct redis_store *store = (const struct redis_store *)base;

	return store->shards[crc16_of(id) % store->shard_count].rebuild.state == REBUILD_TOLD;
}

/* is_as_left returns true if a renewal sent after `since` has found the shard unchanged, or if the
 * shard is not ours. A cut-off shard is waited for while its lease lasts: nobody else has it. */
static bool is_as_left(const struct redis_store *store, const struct shard *shard, dw_usec since)
{
	if (shard->give.op)
		return false;
	if (!shard_is_ours(shard) || (shard_is_cut_off(shard) && token_is_over(store, shard)))
		return true;
	return shard->rebuild.state == REBUILD_NONE && shard->lease.asked_at > since;
}

int restore_is_whole(dw_store *base)
{
	struct redis_store *store = (struct redis_store *)base;
	struct redis_ownership *ownership = &store->ownership;
	bool is_whole = !store->handover.is_on;

	if (ownership->doubted_at == 0) {
		ownership->doubted_at = store->now;
		ownership->renew_at = store->now;
		return false;
	}
	for (unsigned i = 0; is_whole && i < store->shard_count; i++)
		is_whole = is_as_left(store, &store->shards[i], ownership->doubted_at);
	if (is_whole)
		ownership->doubted_at = 0;
	else /* some were away, or the question was already on its way */
		ownership->renew_at = usec_min(ownership->renew_at, usec_add(store->now, PAUSE));
	return is_whole;
}

void restore_reshard(struct redis_store *store)
{
	if (!store->handover.is_on)
		return;
	for (unsigned i = 0; i < store->shard_count; i++)
		note_acquired(store, &store->shards[i]);
	restore_tell(store);
}

/* ---- Taking it again ------------------------------------------------------------------------- */

static void reacquire(struct redis_store *, struct shard *, const struct token_seen *);

/* hand_over makes this store a client, which writes what it knows for the other process. Only
 * afterwards does the engine learn that the ownership is lost. */
static void hand_over(struct redis_store *store)
{
	complain(store,
		 "the namespace was emptied and another process owns it now: handing over all "
		 "timers in memory, then standing by");
	store->handover.is_coming = false;
	store->handover.is_on = true;
	store->handover.until = usec_add(store->now, PATIENCE);
	store->ownership.role = DW_CLIENT;
	members_leave(store);
	suspect_release(store, true);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		shard->lease.is_ours = false;
		channel_forget(&shard->channel);
		shard->channel.acked = 0;
		refuse_fenced_all(store, shard);
		if (shard->rebuild.state == REBUILD_HELD)
			note_acquired(store, shard);
		/* The engine will write these timers again. If they were written twice, the new
		 * owner could start a timer twice. */
		if (shard->rebuild.state == REBUILD_ACQUIRED)
			answer_all(store, &shard->queues.rebuild, DW_ENOENT);
	}
	layout_suspect(store); /* the other owner may have chosen another number of shards */
	restore_tell(store);
}

static void hand_over_if_sure(struct redis_store *store)
{
	if (!store->handover.is_coming)
		return;
	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];

		if (shard->rebuild.is_unsure || shard->rebuild.state == REBUILD_ACQUIRING ||
		    shard->rebuild.state == REBUILD_FOUND)
			return;
	}
	hand_over(store);
}

void restore_is_sure(struct redis_store *store, struct shard *shard)
{
	shard->rebuild.is_unsure = false;
	hand_over_if_sure(store);
}

/* is_held_by_another is called when another process has acquired the emptied shard. From now on no
 * timer of the shard starts. Renewals ask whether others are lost, too; then it hands over. */
static void is_held_by_another(struct redis_store *store, struct shard *shard)
{
	shard->rebuild.state = REBUILD_HELD;
	shard->lease.until = shard->lease.away = 0;
	for (unsigned i = 0; !store->handover.is_coming && i < store->shard_count; i++) {
		struct shard *other = &store->shards[i];

		if (other->rebuild.state != REBUILD_NONE)
			continue;
		other->rebuild.is_unsure = true;
		if (other->channel.handshake == HANDSHAKE_DONE)
			lease_renew(store, other);
	}
	if (!store->handover.is_coming)
		store->handover.until = usec_add(store->now, PATIENCE);
	store->handover.is_coming = true;
	store->ownership.renew_at =
	    usec_min(store->ownership.renew_at, usec_add(store->now, PAUSE));
	hand_over_if_sure(store);
}

/* gained is called when the owner has acquired a shard that it did not have. Memory has no timers
 * of it. So nothing is written, and the engine reads the shard. */
static void gained(struct redis_store *store, struct shard *shard)
{
	shard->rebuild = (struct rebuild){0};
	shard_add(&store->sets.untold, shard->number);
	members_accepted(&store->ownership.members);
	handshake_done(store, shard, 0);
	cut_off_end(store, shard);
}

/* reacquired is called when this store has acquired the shard. If the shard was emptied, all its
 * timers are newer than every tombstone, so nothing is deleted again. */
static void reacquired(struct redis_store *store, struct shard *shard, dw_usec sent, bool emptied)
{
	bool is_gained = !shard_is_ours(shard);

	shard->lease.is_ours = true;
	token_extend(store, shard, sent);
	if (is_gained) {
		gained(store, shard);
		return;
	}
	note_acquired(store, shard);
	handshake_forget_looks(shard);
	if (!emptied)
		delete_again(store, shard);
	handshake_done(store, shard, 0);
	restore_tell(store);
	hand_over_if_sure(store);
}

/* reacquire_later acquires the shard with its next handshake, which REBUILD_FOUND stands for. The
 * handshake cannot notice the set-back itself, because the last command number has grown again. */
static void reacquire_later(struct redis_store *store, struct shard *shard)
{
	shard->rebuild.state = REBUILD_FOUND;
	channel_forget(&shard->channel);
	store->ownership.renew_at =
	    usec_min(store->ownership.renew_at, usec_add(store->now, PAUSE));
}

/* stay_client is called when another process has a shard that is not ours. This store then is a
 * client there. */
static void stay_client(struct redis_store *store, struct shard *shard)
{
	shard->rebuild.state = REBUILD_NONE;
	channel_forget(&shard->channel);
	/* The shard may have been released after the server had refused us. */
	if (!shard->share.is_announced)
		shard->lease.again_at = usec_add(store->now, TAKE_EVERY);
	if (!shard_is_shared(store))
		shard_mark(&store->sets, shard, SHARD_HANDSHAKE);
	cut_off_end(store, shard);
}

/* stay_foreign is called when a peer could not acquire a shard. The peer tries again if it still
 * wants the shard. */
static void stay_foreign(struct redis_store *store, struct shard *shard, enum failure failure,
			 const struct reply *reply)
{
	bool is_young = failure == FAILURE_NONE && reply_is(&reply->items[0], "YOUNG");

	if (failure == FAILURE_NONE && reply_is(&reply->items[0], "NEWER"))
		complain(store,
			 "shard %u is of a newer durawheel, which has to own it: run the newer one "
			 "(format %.20s)",
			 shard->number, reply->items[1].bytes);
	else if (failure == FAILURE_NONE && !is_young)
		complain(store, "shard %u cannot be acquired: %s %.40s", shard->number,
			 reply->items[0].bytes, reply->items[1].bytes);
	if (failure == FAILURE_REFUSED || (failure == FAILURE_NONE && !is_young))
		members_refused(store);
	stay_client(store, shard);
}

/* is_held is called when the shard has another token, or another last fence. If that fence is lower
 * than ours, the server was set back to before our acquisition. This store then replaces that lease
 * only while its own lease lasts, because until then nobody else can start a timer. */
static void is_held(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	struct token_seen seen = {.token = reply->items[1].bytes,
				  .fence = (uint64_t)reply_number(&reply->items[5]),
				  .is_ours = token_is_ours(store, shard, reply)};
	bool proves_nothing = token_is_dead(reply) || seen.is_ours;

	members_held(store, shard);
	if (!proves_nothing)
		shard->lease.asked.until = 0; /* no lost acquisition has the lease */
	if (!shard_is_ours(shard) && !proves_nothing)
		stay_client(store, shard);
	else if (shard_is_ours(shard) &&
		 (token_is_succeeded(store, shard, reply) || token_is_over(store, shard) ||
		  (token_goes_on(shard, reply) && !proves_nothing)))
		lose(store, shard); /* that owner has all the data */
	else if (proves_nothing || reply_is(&reply->items[4], shard->lease.incarnation))
		reacquire(store, shard, &seen);
	else
		is_held_by_another(store, shard);
}

static void reacquire_answered(struct redis_store *store, struct redis_request *request,
			       const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);
	dw_usec sent = request->sent;
	char incarnation[INCARNATION_SIZE];

	token_incarnation(&store->names, (unsigned)(uintptr_t)request->context, incarnation);
	request_free(&store->alloc, request);
	if (store->ownership.role != DW_OWNER || shard->rebuild.state != REBUILD_ACQUIRING)
		return;
	if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK") &&
	    token_take(store, shard, reply)) {
		clock_learn(store, shard->node, reply_number(&reply->items[4]));
		if (shard->number == 0)
			layout_stands(store, &reply->items[7]);
		reacquired(store, shard, sent, strcmp(incarnation, shard->lease.incarnation) == 0);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "HELD")) {
		is_held(store, shard, reply);
	} else if (!shard_is_ours(shard) && shard_is_shared(store)) {
		stay_foreign(store, shard, failure, reply);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "SHARDS")) {
		is_held_by_another(store, shard); /* the other owner has another number of shards */
	} else if (failure != FAILURE_NONE) {
		reacquire_later(store, shard);
	} else if (shard_is_ours(shard)) {
		lose(store, shard);
	} else {
		stay_client(store, shard);
	}
}

static void reacquire_lost(struct redis_store *store, struct redis_request *request)
{
	struct shard *shard = request->shard;

	token_ask_lost(shard);
	if (shard->rebuild.state == REBUILD_ACQUIRING) {
		if (!shard_is_ours(shard) && shard_is_shared(store))
			stay_client(store, shard);
		else
			reacquire_later(store, shard);
	}
	request_free(&store->alloc, request);
}

/* reacquire acquires the shard. It sends the settings of the topics first, because clients may
 * write to the shard as soon as it is acquired. If another owner has the shard, newer settings
 * there are not replaced. A peer that takes a new shard need not send them: if the shard lacks
 * some, the next reading shows this. */
static void reacquire(struct redis_store *store, struct shard *shard, const struct token_seen *seen)
{
	void *incarnation;

	shard->share.is_announced = false;
	if (shard_is_ours(shard) || !shard_is_shared(store))
		copies_write(store, shard);
	token_add_acquire(store, shard, seen);
	incarnation = (void *)(uintptr_t)store->names.incarnations;
	if (request_post(store, shard, reacquire_answered, reacquire_lost, incarnation) != DW_OK)
		reacquire_later(store, shard);
}

void restore_fenced(struct redis_store *store, struct shard *shard)
{
	held_doubt(store, shard);
	if (shard->rebuild.state != REBUILD_ACQUIRING && shard->rebuild.state != REBUILD_HELD &&
	    shard_is_ours(shard))
		lose(store, shard);
}

void restore_begin(struct redis_store *store, struct shard *shard)
{
	held_doubt(store, shard);
	restore_take(store, shard);
}

void restore_take(struct redis_store *store, struct shard *shard)
{
	struct token_seen seen = {.token = shard_is_ours(shard) ? shard->lease.token : "",
				  .fence = shard->lease.fence};

	if (store->stopped) {
		token_forget(shard); /* no lease has to be given back */
		return;
	}
	if (store->ownership.role != DW_OWNER || shard->rebuild.state == REBUILD_ACQUIRING ||
	    shard->rebuild.state == REBUILD_HELD || shard->give.op)
		return;
	if (shard_is_shared(store) && !shard_is_ours(shard) &&
	    !shard_is_in(&store->sets.wanted, shard->number))
		return;
	shard->rebuild.is_unsure = false;
	if (shard_is_ours(shard) && token_is_over(store, shard)) {
		lose(store, shard);
		return;
	}
	if (shard_is_ours(shard))
		complain(store,
			 "shard %u lost data (emptied or set back): rewriting it from memory",
			 shard->number);
	shard->rebuild.state = REBUILD_ACQUIRING;
	shard->channel.handshake = HANDSHAKE_ASKED;
	shard->channel.acked = 0;
	if (store->ownership.doubted_at != 0)
		store->ownership.doubted_at = store->now; /* whole shards may be lost now */
	store->ownership.renew_at = store->now;           /* shows which other shards lost data */
	reacquire(store, shard, &seen);
}
