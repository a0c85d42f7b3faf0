/* A shard that was emptied (another era, or none), or set back (its mark is below what it has
 * confirmed). While our own lease still holds, nobody else may have started anything: the shard is
 * taken again, what we know to be dead is deleted, and the engine pushes the rest. If another
 * process was faster, it gets what we know, as from a client; then we have lost. */
#include "store/redis/inside.h"
#include "store/redis/store.h"

#include <string.h>

#define GRAVE_AGE DW_SECONDS(60)
#define GRAVES_MAX 131072u /* of all shards */

/* ---- The dead ------------------------------------------------------------------------------ */

static void drop_grave(struct redis_store *store, struct shard *shard)
{
	struct grave *grave = shard->grave_first;

	shard->grave_first = grave->next;
	if (!shard->grave_first)
		shard->grave_last = NULL;
	shard->grave_count--;
	alloc_free(&store->alloc, grave);
}

void loss_bury(struct redis_store *store, struct shard *shard, const char *id, uint64_t generation)
{
	size_t id_size = strlen(id) + 1;
	struct grave *grave;

	while (shard->grave_first && (shard->grave_first->at + GRAVE_AGE < store->now ||
				      shard->grave_count >= GRAVES_MAX / store->shard_count))
		drop_grave(store, shard);
	if (store->role != DW_OWNER || generation == 0)
		return;
	grave = alloc_new(&store->alloc, sizeof *grave + id_size);
	if (!grave)
		return; /* it would be delivered once more */
	memcpy(grave->id, id, id_size);
	grave->generation = generation;
	grave->at = store->now;
	*(shard->grave_last ? &shard->grave_last->next : &shard->grave_first) = grave;
	shard->grave_last = grave;
	shard->grave_count++;
}

void loss_free(struct redis_store *store, struct shard *shard)
{
	while (shard->grave_first)
		drop_grave(store, shard);
}

/* delete_again: the first of what is pushed. */
static void delete_again(struct redis_store *store, struct shard *shard)
{
	for (const struct grave *grave = shard->grave_first; grave; grave = grave->next) {
		dw_op *op = op_new(&store->alloc, DW_OP_REDELETE, grave->id, NULL, 0);

		if (!op)
			return;
		op->head.generation = grave->generation;
		answer_take(store, op);
		op_queue_push(&shard->pushes, op);
	}
}

/* ---- Telling ------------------------------------------------------------------------------- */

static void tell(struct redis_store *store)
{
	dw_op *op = store->told;
	bool any = false;

	for (unsigned i = 0; op && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->loss == LOSS_TAKEN) {
			shard->loss = LOSS_TOLD;
			any = true;
		}
	}
	if (!any)
		return;
	store->told = NULL;
	answer(store, op, DW_OK);
}

void loss_push(struct redis_store *store, struct shard *shard)
{
	if (store->role != DW_OWNER || shard->loss != LOSS_NONE)
		return;
	shard->pushed_at = store->now;
	shard->loss = LOSS_TAKEN;
	tell(store);
}

void loss_park(struct redis_store *store, dw_op *op)
{
	if (store->told) {
		answer(store, op, DW_EBUSY); /* one at a time */
		return;
	}
	store->told = op;
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].loss == LOSS_TOLD)
			store->shards[i].loss = LOSS_NONE;
	tell(store);
	if (store->ousted && store->told)
		lease_lose(store);
}

void loss_end(struct redis_store *store, int status)
{
	dw_op *op = store->told;

	store->told = NULL;
	if (op)
		answer(store, op, status);
}

bool loss_is_told(const struct redis_store *store, const char *id)
{
	return store->shards[crc16_of(id) % store->shard_count].loss == LOSS_TOLD;
}

/* ---- Taking it again ----------------------------------------------------------------------- */

static void retake(struct redis_store *, struct shard *, const char *replace);

static void retaken(struct redis_store *store, struct shard *shard, dw_usec sent)
{
	lease_taken(store, shard, sent);
	shard->loss = LOSS_TAKEN;
	delete_again(store, shard);
	greeted(store, shard, 0);
	tell(store);
}

/* oust: the emptied shard is another's. As a client we tell it what we know. */
static void oust(struct redis_store *store, struct shard *shard)
{
	complain(store, "the namespace was emptied, and another process owns it now");
	store->ousted = true;
	store->role = DW_CLIENT;
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *each = &store->shards[i];

		each->greeting = GREETING_NONE;
		each->acked = 0;
		if (each->loss == LOSS_TAKING)
			each->loss = LOSS_TAKEN;
	}
	shard->loss = LOSS_TAKEN;
	tell(store);
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);
	dw_usec sent = request->sent;

	request_free(store, request);
	if (store->role != DW_OWNER || shard->loss != LOSS_TAKING)
		return;
	if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK") &&
	    lease_take_token(shard, reply)) {
		lease_learn_time(store, sent, reply_number(&reply->items[4]));
		retaken(store, shard, sent);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "HELD") &&
		   reply->count >= 4) {
		if (lease_is_dead(reply))
			retake(store, shard, reply->items[1].bytes);
		else
			oust(store, shard);
	} else if (failure == FAILURE_AGAIN || failure == FAILURE_FULL) {
		shard->loss = LOSS_NONE; /* the greeting will notice it once more */
		shard->greeting = GREETING_NONE;
	} else {
		lease_lose(store);
	}
}

static void lost(struct redis_store *store, struct request *request)
{
	if (request->shard->loss == LOSS_TAKING)
		request->shard->loss = LOSS_NONE; /* noticed once more */
	request_free(store, request);
}

static void retake(struct redis_store *store, struct shard *shard, const char *replace)
{
	struct request *request = request_new(store, shard, came, lost);

	if (request) {
		lease_words(store, shard, replace);
		if (request_send(store, request) == DW_OK)
			return;
		request_free(store, request);
	}
	shard->loss = LOSS_NONE;
	shard->greeting = GREETING_NONE;
}

void loss_begin(struct redis_store *store, struct shard *shard)
{
	if (store->role != DW_OWNER || shard->loss == LOSS_TAKING)
		return;
	if (store->now >= shard->lease_until) {
		lease_lose(store);
		return;
	}
	complain(store, "shard %u was emptied or set back: it is written again", shard->number);
	shard->loss = LOSS_TAKING;
	shard->greeting = GREETING_ASKED;
	shard->acked = 0;
	store->renew_at = store->now; /* the others have hardly fared better */
	retake(store, shard, "");
}
