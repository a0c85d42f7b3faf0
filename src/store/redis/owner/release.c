/* Gives leases back. When the store stops, it gives all of them back, even if a connection was just
 * lost or is just coming up. Otherwise the next owner must wait until the leases end. */
#include "store/redis/owner/release.h"

#include "store/redis/core.h"

/* If a handshake is under way, it changes the lease's token, and the release is refused. The reply
 * to the handshake tells the new token, and the release is sent again. So a release is sent at most
 * this often. */
#define GIVINGS_MAX 3

static void release_lost(struct redis_store *store, struct redis_request *request)
{
	token_ask_lost(request->shard);
	request_free(&store->alloc, request);
}

static void release_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
}

static void write_release(struct redis_store *store, const struct shard *shard)
{
	call_begin_rare(&store->draft, SCRIPT_RELEASE, shard);
	command_text(&store->draft.words, shard->lease.token);
	if (shard->lease.newer)
		command_unsigned(&store->draft.words, shard->lease.newer);
	else
		command_text(&store->draft.words, "");
	command_text(&store->draft.words, "");
	command_text(&store->draft.words, "");
	command_text(&store->draft.words, "");
	command_text(&store->draft.words, store->names.free);
}

static void forget(struct shard *shard)
{
	shard->lease.fence = 0;
	shard->lease.until = shard->lease.away = shard->lease.asked.until = 0;
	shard->lease.newer = 0;
}

void release_lease(struct redis_store *store, struct shard *shard)
{
	if (shard->lease.fence == 0)
		return;
	write_release(store, shard);
	forget(shard);
	/* The server may still have the lease. If this store takes the shard again, it then
	 * recognizes the lease as its own. */
	if (request_post(store, shard, release_answered, release_lost, NULL) != DW_OK)
		token_ask_lost(shard);
}

/* ---- When the store stops -------------------------------------------------------------------- */

static void giving_lost(struct redis_store *store, struct redis_request *request)
{
	request->shard->lease.is_giving = false; /* release_all sends the release again */
	request_free(&store->alloc, request);
}

static void giving_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	struct shard_lease *lease = &request->shard->lease;
	bool is_given = call_failed(store, request, reply) == FAILURE_NONE &&
			reply_is(&reply->items[0], "OK") && reply_number(&reply->items[1]) == 1;

	lease->is_giving = false;
	if (is_given || ++lease->refused == GIVINGS_MAX)
		forget(request->shard);
	request_free(&store->alloc, request);
}

static void give(struct redis_store *store, struct shard *shard)
{
	write_release(store, shard);
	shard->lease.is_giving =
	    request_post(store, shard, giving_answered, giving_lost, NULL) == DW_OK;
}

bool release_all(struct redis_store *store)
{
	bool is_left = false;

	for (unsigned i = 0; store->ownership.role == DW_OWNER && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->lease.fence == 0)
			continue;
		if (shard->node->connection && !shard->lease.is_giving)
			give(store, shard);
		is_left |= shard->lease.is_giving ||
			   (!shard->node->connection && !token_is_over(store, shard));
	}
	return is_left;
}
