/* Acquires, renews and gives back the leases. An owner has a lease on every shard that is not cut
 * off. It acquires all shards at once. A shard that it has lost, or could not get, it acquires
 * alone. */
#include "store/redis/owner/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"
#include "store/redis/owner/release.h"
#include "timer/record.h"

static void acquire_shard(struct redis_store *, struct shard *, const struct token_seen *);

static const struct token_seen nothing = {.token = ""};

/* set_owner makes this store the owner of all shards that are not cut off. It is called when no
 * command that this store sent as a client is under way. */
static void set_owner(struct redis_store *store)
{
	store->ownership.role = DW_OWNER;
	store->ownership.was_owner = true;
	store->ownership.renew_at = usec_add(store->now, store->ownership.lease * 3 / 10);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		shard->lease.is_ours = shard->lease.fence > 0;
		shard->lease.loss_untold = false;
		if (shard_is_ours(shard))
			handshake_done(store, shard, 0);
		else
			channel_forget(&shard->channel); /* the shard is cut off */
	}
}

static void acquisition_ended(struct redis_store *store)
{
	struct acquisition *acquisition = &store->ownership.acquisition;
	dw_op *op = acquisition->op;

	acquisition->active = false;
	acquisition->op = NULL;
	if (acquisition->status == DW_OK) {
		set_owner(store);
	} else {
		for (unsigned i = 0; i < store->shard_count; i++)
			release_lease(store, &store->shards[i]);
	}
	if (op)
		answer(store, op, acquisition->status);
}

static void refuse(struct redis_ownership *ownership, int status, const char *words)
{
	if (ownership->acquisition.status != DW_OK)
		return;
	ownership->acquisition.status = status;
	(void)snprintf(ownership->acquisition.words, DW_MESSAGE_SIZE, "%s",
		       words); /* long words are cut */
}

/* note_passing notes whether the failure that the caller is about to report will pass by itself.
 * Only the first failure counts. */
static void note_passing(struct redis_ownership *ownership, bool passes)
{
	if (ownership->acquisition.status == DW_OK)
		ownership->acquisition.passes = passes;
}

/* acquire_held is called when another process has the lease. If that process ran on this machine
 * and is dead, this store takes its place at once. Otherwise the lease must run out first. */
static void acquire_held(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	const char *holder = reply->items[3].bytes;
	const char *bar = strchr(holder, '|');
	char words[DW_MESSAGE_SIZE];
	struct token_seen seen = {.token = reply->items[1].bytes,
				  .is_ours = token_is_ours(store, shard, reply)};

	if (token_is_dead(reply) || seen.is_ours) {
		acquire_shard(store, shard, &seen);
		return;
	}
	shard->lease.asked.until = 0; /* no lost acquisition has the lease */
	(void)snprintf(words, sizeof words,
		       "the namespace %s is owned by %.*s; if that is dead, its lease ends in "
		       "%" PRId64 " ms",
		       store->names.name, (int)(bar ? bar - holder : (long)strlen(holder)), holder,
		       reply_number(&reply->items[2]));
	refuse(&store->ownership, DW_EOWNED, words);
}

/* acquire_arbiter acquires the first shard that is not cut off. That shard is the arbiter: its
 * owner may take the other shards. */
static void acquire_arbiter(struct redis_store *store)
{
	struct acquisition *acquisition = &store->ownership.acquisition;
	unsigned *arbiter = &acquisition->arbiter;

	while (*arbiter < store->shard_count && shard_is_cut_off(&store->shards[*arbiter]))
		++*arbiter;
	if (*arbiter < store->shard_count)
		acquire_shard(store, &store->shards[*arbiter], &nothing);
	else
		refuse(&store->ownership, DW_ESTORE, store->shards[0].cut.words);
}

/* next_shards acquires the other shards after the arbiter was acquired. */
static void next_shards(struct redis_store *store, const struct shard *shard)
{
	const struct acquisition *acquisition = &store->ownership.acquisition;

	if (shard->number != acquisition->arbiter || acquisition->status != DW_OK)
		return;
	for (unsigned i = acquisition->arbiter + 1; i < store->shard_count; i++)
		if (!shard_is_cut_off(&store->shards[i]))
			acquire_shard(store, &store->shards[i], &nothing);
}

/* acquire_looked takes the reply of types.lua, which was called because a shard could not be
 * acquired. */
static void acquire_looked(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct shard *shard = request->shard;
	bool was_wrong_type = request->context != NULL;

	store->ownership.acquisition.left--;
	if (cut_off_learn(store, shard, reply)) {
		if (shard->number == store->ownership.acquisition.arbiter)
			acquire_arbiter(store);
	} else if (was_wrong_type) {
		acquire_shard(store, shard, &nothing);
	} else {
		note_passing(&store->ownership, call_passes(&store->nodes, reply));
		refuse(&store->ownership, DW_ESTORE, shard->node->scripts.refusal);
	}
	request_free(&store->alloc, request);
	if (store->ownership.acquisition.left == 0)
		acquisition_ended(store);
}

static void acquire_look_lost(struct redis_store *store, struct redis_request *request)
{
	store->ownership.acquisition.left--;
	note_passing(&store->ownership, true);
	refuse(&store->ownership, DW_ESTORE, "the connection was lost");
	request_free(&store->alloc, request);
	if (store->ownership.acquisition.left == 0)
		acquisition_ended(store);
}

static void acquire_lost(struct redis_store *store, struct redis_request *request)
{
	token_ask_lost(request->shard);
	acquire_look_lost(store, request);
}

/* look asks, by types.lua, why a shard cannot be acquired. If the shard is cut off, the acquisition
 * leaves it out. */
static bool look(struct redis_store *store, struct shard *shard, bool is_wrong_type)
{
	if (cut_off_ask(store, shard, acquire_looked, acquire_look_lost,
			is_wrong_type ? store : NULL) != DW_OK)
		return false;
	store->ownership.acquisition.left++;
	return true;
}

/* refuse_newer gives the acquisition up, because the shard has, or had, a timer in a format that
 * this library does not know. */
static void refuse_newer(struct redis_store *store, const struct shard *shard,
			 const struct reply *format)
{
	char words[DW_MESSAGE_SIZE];
	bool is_number = strspn(format->bytes, "0123456789") == format->size;

	(void)snprintf(words, sizeof words,
		       "the namespace %s %s of a newer durawheel, %s: run the newer one (shard "
		       "%u: format %.20s, not %d)",
		       store->names.name, is_number ? "has timers" : "is shared by processes",
		       is_number ? "which this version cannot deliver"
				 : "beside which this version cannot own it",
		       shard->number, format->bytes, RECORD_VERSION);
	refuse(&store->ownership, DW_ENEWER, words);
}

/* refuse_young is called when the server has just started. It may have forgotten the lease of an
 * owner, which ends within `left` ms. */
static void refuse_young(struct redis_store *store, int64_t left)
{
	char words[DW_MESSAGE_SIZE];

	(void)snprintf(words, sizeof words,
		       "the server has just started, and may have forgotten an owner of the "
		       "namespace %s: its lease ends in %" PRId64 " ms at the latest",
		       store->names.name, left);
	store->ownership.acquisition.free_at = usec_add(store->now, left * 1000);
	refuse(&store->ownership, DW_EOWNED, words);
}

/* refuse_new is called when the server was named a moment ago, so that only its last owner may use
 * it yet. */
static void refuse_new(struct redis_store *store, const struct node *node)
{
	char words[DW_MESSAGE_SIZE];

	(void)snprintf(
	    words, sizeof words,
	    "%.60s was named a moment ago: the last owner of the namespace %s comes first",
	    node->name ? node->name : store->url.server,
	    store->names.name); /* long words are cut */
	store->ownership.acquisition.free_at =
	    usec_add(node->named.since, NAMED_FOR + NAMED_OTHERS);
	refuse(&store->ownership, DW_EOWNED, words);
}

static void refuse_number(struct redis_store *store, const struct shard *shard,
			  const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE] = "the server's reply is not one of durawheel's scripts";

	if (reply->count >= 2 && reply->items[1].kind == REPLY_BULK)
		layout_words(store, shard->number, &reply->items[1], words);
	refuse(&store->ownership, DW_ESTORE, words);
	layout_suspect(store); /* a standby then tries again with the right number */
}

static void acquire_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	store->ownership.acquisition.left--;
	if (reply->kind == REPLY_ERROR && call_is_of_shard(reply) &&
	    look(store, shard, reply_fails(reply, "WRONGTYPE"))) {
		/* acquire_looked decides what to do. */
	} else if (failure == FAILURE_AGAIN && request->script && !reply_fails(reply, "BUSY")) {
		acquire_shard(store, shard, &nothing);
	} else if (failure != FAILURE_NONE) {
		note_passing(&store->ownership, call_passes(&store->nodes, reply));
		refuse(&store->ownership, failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE,
		       reply->kind == REPLY_ERROR ? shard->node->scripts.refusal
						  : "the server refuses");
	} else if (reply_is(&reply->items[0], "OK") && token_take(store, shard, reply)) {
		clock_learn(store, shard->node, reply_number(&reply->items[4]));
		token_extend(store, shard, request->sent);
		next_shards(store, shard);
	} else if (reply_is(&reply->items[0], "HELD")) {
		acquire_held(store, shard, reply);
	} else if (reply_is(&reply->items[0], "YOUNG")) {
		refuse_young(store, reply_number(&reply->items[1]));
	} else if (reply_is(&reply->items[0], "NEWER") && reply->count >= 2 &&
		   reply->items[1].kind == REPLY_BULK) {
		refuse_newer(store, shard, &reply->items[1]);
	} else {
		refuse_number(store, shard, reply);
	}
	request_free(&store->alloc, request);
	if (store->ownership.acquisition.left == 0)
		acquisition_ended(store);
}

static void acquire_shard(struct redis_store *store, struct shard *shard,
			  const struct token_seen *seen)
{
	int status;

	token_add_acquire(store, shard, seen);
	status = request_post(store, shard, acquire_answered, acquire_lost, NULL);
	if (status == DW_OK) {
		store->ownership.acquisition.left++;
	} else if (status == DW_ENOMEM) {
		refuse(&store->ownership, DW_ENOMEM, "no memory");
	} else {
		note_passing(&store->ownership, true);
		refuse(&store->ownership, DW_ESTORE, "the connection was lost");
	}
}

void lease_acquire(struct redis_store *store, dw_op *op)
{
	struct acquisition *acquisition = &store->ownership.acquisition;

	if (op && (store->ownership.role == DW_OWNER || acquisition->active ||
		   !nodes_are_up(&store->nodes))) {
		answer(store, op,
		       store->ownership.role == DW_OWNER ? DW_OK
		       : acquisition->active             ? DW_EBUSY
							 : DW_ESTORE);
		return;
	}
	*acquisition = (struct acquisition){.active = true, .op = op};
	if (nodes_new(store))
		refuse_new(store, nodes_new(store));
	else
		acquire_arbiter(store);
	if (acquisition->left == 0)
		acquisition_ended(store);
}

/* ---- Keeping --------------------------------------------------------------------------------- */

/* note_counts counts how many renewals in a row found different numbers of entries and values.
 * After two, another program must have deleted some entries or values. */
static void note_counts(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	struct entry_counts *counts = &shard->counts;
	int64_t entries = reply_number(&reply->items[6]);

	counts->entries = (uint64_t)entries;
	counts->differs = entries == reply_number(&reply->items[7]) ? 0 : counts->differs + 1;
	if (counts->differs >= 2)
		shard_mark(&store->sets, shard, SHARD_UNEVEN);
}

static void renewal_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	shard->lease.is_renewing = false;
	if (!shard_is_ours(shard) || !request->as_owner || failure == FAILURE_AGAIN ||
	    failure == FAILURE_FULL || failure == FAILURE_REFUSED) {
		/* The end of the lease does not change. The next renewal comes long before that
		 * end. */
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		clock_learn(store, shard->node, reply_number(&reply->items[3]));
		token_note_version(shard, (uint64_t)reply_number(&reply->items[2]));
		token_extend(store, shard, request->sent);
		if (reply_number(&reply->items[4]) > 0)
			shard_expect_news(&store->sets, shard);
		shard->dead_count = (uint64_t)reply_number(&reply->items[5]);
		topics_note_changes(&store->later, shard, (uint64_t)reply_number(&reply->items[8]));
		if (token_went_back(shard, reply)) {
			shard_mark(&store->sets, shard, SHARD_SUSPECT);
		} else {
			note_counts(store, shard, reply);
			shard_mark(&store->sets, shard, SHARD_SURE);
		}
	} else {
		shard_mark(&store->sets, shard,
			   token_is_succeeded(store, shard, reply) ? SHARD_FENCED : SHARD_SUSPECT);
	}
	request_free(&store->alloc, request);
}

static void renewal_lost(struct redis_store *store, struct redis_request *request)
{
	request->shard->lease.is_renewing = false;
	request_free(&store->alloc, request);
}

void lease_renew(struct redis_store *store, struct shard *shard)
{
	if (shard->lease.is_renewing)
		return;
	call_begin(&store->draft, SCRIPT_RENEW, shard);
	command_text(&store->draft.words, shard->lease.token);
	command_text(&store->draft.words, shard->lease.token);
	command_number(&store->draft.words, store->ownership.lease / 1000);
	command_text(&store->draft.words, shard->lease.incarnation);
	shard->lease.is_renewing =
	    request_post(store, shard, renewal_answered, renewal_lost, NULL) == DW_OK;
}

static void renew_shard(struct redis_store *store, struct shard *shard)
{
	if (shard->cut.state == CUT_OFF)
		return;
	if (!shard_is_ours(shard))
		shard_take(store, shard);
	if (!shard_is_ours(shard) && shard_is_shared(store))
		return; /* a peer begins the handshake of such a shard when it needs it */
	if (shard->channel.handshake == HANDSHAKE_NONE && store->now < shard->channel.pause_until)
		/* The handshake begins when the pause ends, not only with the next renewal. */
		store->ownership.renew_at =
		    usec_min(store->ownership.renew_at, shard->channel.pause_until);
	else if (shard->channel.handshake == HANDSHAKE_NONE)
		handshake_begin(store, shard);
	else if (shard_is_ours(shard) && shard->channel.handshake == HANDSHAKE_DONE)
		lease_renew(store, shard);
}

void lease_work(struct redis_store *store)
{
	if (store->ownership.role != DW_OWNER || store->stopped ||
	    store->now < store->ownership.renew_at)
		return;
	store->ownership.renew_at = usec_add(store->now, store->ownership.lease * 3 / 10);
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].node->connection)
			renew_shard(store, &store->shards[i]);
}

void lease_mended(struct redis_store *store, struct shard *shard)
{
	if (store->ownership.role == DW_OWNER && (shard_is_ours(shard) || !shard_is_shared(store)))
		renew_shard(store, shard);
	else
		cut_off_end(store, shard);
}

/* ---- Losing ---------------------------------------------------------------------------------- */

void lease_lose(struct redis_store *store, struct shard *shard)
{
	shard->lease.is_ours = false;
	refuse_fenced_all(store, shard);
	if (shard->node->connection && shard->channel.handshake == HANDSHAKE_DONE)
		release_lease(store, shard);
	token_forget(shard);
	channel_forget(&shard->channel);
	shard->channel.acked = 0;
	cut_off_end(store, shard);
}
