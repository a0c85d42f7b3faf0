/* A shard that was emptied (another era, or none), or set back (its mark is below what it has
 * confirmed). While our own lease still holds, nobody else may have started anything: the shard is
 * taken again, what we know to be dead is deleted, and the engine pushes the rest. If another
 * process was faster, it gets what we know, as from a client; then we have lost. */
#include "store/redis/inside.h"
#include "store/redis/store.h"

#include <string.h>

#include "base/hash.h"

#define GRAVE_AGE DW_SECONDS(60)
#define GRAVES_MAX 131072u /* of all shards */

/* ---- The dead ------------------------------------------------------------------------------ */

static size_t bucket_of(const char *id)
{
	return hash_bytes(0, id, strlen(id)) % GRAVE_BUCKETS;
}

static void drop_grave(struct redis_store *store, struct shard *shard)
{
	struct grave *grave = shard->grave_first;
	struct grave **at = &shard->graves[bucket_of(grave->id)];

	while (*at != grave)
		at = &(*at)->same;
	*at = grave->same;
	shard->grave_first = grave->next;
	if (!shard->grave_first)
		shard->grave_last = NULL;
	shard->grave_count--;
	alloc_free(&store->alloc, grave);
}

static void add_grave(struct shard *shard, struct grave *grave)
{
	struct grave **bucket = &shard->graves[bucket_of(grave->id)];

	grave->next = NULL;
	grave->same = *bucket;
	*bucket = grave;
	*(shard->grave_last ? &shard->grave_last->next : &shard->grave_first) = grave;
	shard->grave_last = grave;
	shard->grave_count++;
}

void loss_bury(struct redis_store *store, struct shard *shard, const char *id, uint64_t generation,
	       bool letter)
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
	grave->letter = letter;
	add_grave(shard, grave);
	if (shard->grave_high < generation)
		shard->grave_high = generation;
}

/* grave_of: of that generation, or of a later one; NULL: none. */
static struct grave *grave_of(const struct shard *shard, const char *id, uint64_t generation)
{
	struct grave *grave = NULL;

	if (generation <= shard->grave_high)
		grave = shard->graves[bucket_of(id)];
	while (grave && (grave->generation < generation || strcmp(grave->id, id) != 0))
		grave = grave->same;
	return grave;
}

bool loss_is_buried(const struct shard *shard, const char *id, uint64_t generation)
{
	return grave_of(shard, id, generation) != NULL;
}

void loss_note_ended(struct redis_store *store, const dw_op *op)
{
	for (dw_row *row = op->rows; row; row = row->next) {
		const struct shard *shard = shard_of(store, row->id);
		const struct grave *grave = grave_of(shard, row->id, row->head.generation);

		if (row->status == DW_OK && grave && grave->at >= (dw_usec)op->store_floor)
			row->gone = 1;
	}
}

void loss_unbury(struct shard *shard, const char *id, uint64_t generation)
{
	struct grave *grave;

	if (generation == 0)
		return;
	while ((grave = grave_of(shard, id, generation)))
		grave->generation = 0;
}

void loss_free(struct redis_store *store, struct shard *shard)
{
	while (shard->grave_first)
		drop_grave(store, shard);
}

void loss_rebury(struct redis_store *store, struct shard *old)
{
	struct grave *grave = old->grave_first;

	old->grave_first = old->grave_last = NULL;
	while (grave) {
		struct grave *next = grave->next;
		struct shard *shard = shard_of(store, grave->id);

		add_grave(shard, grave);
		if (shard->grave_high < grave->generation)
			shard->grave_high = grave->generation;
		grave = next;
	}
}

/* delete_again: the first of what is pushed. A letter may be lost with the rest, so a timer that
 * became one stays if it is there again. */
static void delete_again(struct redis_store *store, struct shard *shard)
{
	for (const struct grave *grave = shard->grave_first; grave; grave = grave->next) {
		dw_op *op;

		if (grave->generation == 0)
			continue;
		op = op_new(&store->alloc, DW_OP_REDELETE, grave->id, NULL, 0);
		if (!op)
			return;
		op->head.generation = grave->generation - grave->letter;
		answer_take(store, op);
		op_queue_push(&shard->pushes, op);
	}
}

/* ---- Telling ------------------------------------------------------------------------------- */

void loss_tell(struct redis_store *store)
{
	dw_op *op = store->told;
	bool any = false;

	for (unsigned i = 0; op && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		/* What is under way would be older than what is pushed after it. */
		if (shard->loss == LOSS_TAKEN && shard->under_way == 0) {
			shard->loss = LOSS_TOLD;
			any = true;
		}
	}
	if (!any)
		return;
	store->told = NULL;
	answer_known(store); /* so that what is pushed is not older */
	answer(store, op, DW_OK);
}

void loss_push(struct redis_store *store, struct shard *shard)
{
	if (store->role != DW_OWNER || shard->loss != LOSS_NONE)
		return;
	shard->loss = LOSS_TAKEN;
	loss_tell(store);
}

/* reopen: all is pushed, and what was asked meanwhile is sent. A client may have been in the empty
 * shard before us, and the inbox that told of it was emptied. */
static void reopen(struct shard *shard)
{
	shard->loss = LOSS_NONE;
	operands_forget(&shard->redo);
	operands_forget(&shard->waiting);
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
			reopen(&store->shards[i]);
	loss_tell(store);
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

void loss_rehome(struct redis_store *store)
{
	if (!store->ousted)
		return;
	for (unsigned i = 0; i < store->shard_count; i++)
		store->shards[i].loss = LOSS_TAKEN;
	loss_tell(store);
}

/* ---- Taking it again ----------------------------------------------------------------------- */

static void retake(struct redis_store *, struct shard *, const char *replace);

/* is_ours: a shard that was set back has our lease, too: perhaps with an earlier token. */
static bool is_ours(const struct redis_store *store, const struct reply *token)
{
	const char *nonce = strchr(token->bytes, ':');
	size_t size = strlen(store->nonce);

	return nonce && strncmp(nonce + 1, store->nonce, size) == 0 && nonce[1 + size] == ':';
}

/* oust: as a client we tell the other process what we know; until then the engine does not hear
 * that it is no owner any more. */
static void oust(struct redis_store *store)
{
	complain(store, "the namespace was emptied, and another process owns it since");
	store->ousting = false;
	store->ousted = true;
	store->ousted_until = usec_add(store->now, PATIENCE);
	store->role = DW_CLIENT;
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		shard->greeting = GREETING_NONE;
		shard->acked = 0;
		lease_refuse_all(store, shard);
		if (shard->loss == LOSS_HELD)
			shard->loss = LOSS_TAKEN;
		/* All of it is pushed anew: twice, it would be started again by the other one. */
		if (shard->loss == LOSS_TAKEN)
			answer_all(store, &shard->pushes, DW_ENOENT);
	}
	layout_doubt(store); /* the other one may have another number of shards */
	loss_tell(store);
}

static void oust_if_sure(struct redis_store *store)
{
	if (!store->ousting)
		return;
	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];

		if (shard->in_doubt || shard->loss == LOSS_TAKING || shard->loss == LOSS_FOUND)
			return;
	}
	oust(store);
}

void loss_is_sure(struct redis_store *store, struct shard *shard)
{
	shard->in_doubt = false;
	oust_if_sure(store);
}

/* held: the emptied shard is another's. Nothing is started any more. */
static void held(struct redis_store *store, struct shard *shard)
{
	shard->loss = LOSS_HELD;
	shard->lease_until = 0;
	for (unsigned i = 0; !store->ousting && i < store->shard_count; i++) {
		struct shard *other = &store->shards[i];

		if (other->loss != LOSS_NONE)
			continue;
		other->in_doubt = true;
		if (other->greeting == GREETING_DONE)
			lease_renew(store, other);
	}
	if (!store->ousting)
		store->ousted_until = usec_add(store->now, PATIENCE);
	store->ousting = true;
	store->renew_at = usec_min(store->renew_at, usec_add(store->now, PAUSE));
	oust_if_sure(store);
}

/* retaken: what is in a shard that is made anew is newer than all that we know to be dead. */
static void retaken(struct redis_store *store, struct shard *shard, dw_usec sent, bool emptied)
{
	lease_taken(store, shard, sent);
	shard->loss = LOSS_TAKEN;
	if (!emptied)
		delete_again(store, shard);
	greeted(store, shard, 0);
	loss_tell(store);
	oust_if_sure(store);
}

/* take_later: a mark that was set back is no sign any more, so it has to be kept in mind. */
static void take_later(struct redis_store *store, struct shard *shard)
{
	shard->loss = LOSS_FOUND;
	shard->greeting = GREETING_NONE;
	store->renew_at = usec_min(store->renew_at, usec_add(store->now, PAUSE));
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);
	dw_usec sent = request->sent;
	char era[ERA_SIZE];

	lease_era(store, (unsigned)(uintptr_t)request->context, era);
	request_free(store, request);
	if (store->role != DW_OWNER || shard->loss != LOSS_TAKING)
		return;
	if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK") &&
	    lease_take_token(shard, reply)) {
		lease_learn_time(store, reply_number(&reply->items[4]));
		if (shard->number == 0)
			layout_stands(store, &reply->items[7]);
		retaken(store, shard, sent, strcmp(era, shard->era) == 0);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "HELD")) {
		if (is_ours(store, &reply->items[1]) || lease_is_dead(reply))
			retake(store, shard, reply->items[1].bytes);
		else if (reply_is(&reply->items[4], shard->era))
			lease_lose(store); /* set back, and taken over: it has all that there is */
		else
			held(store, shard);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "SHARDS")) {
		held(store, shard); /* it was, by an owner of another number */
	} else if (failure == FAILURE_AGAIN || failure == FAILURE_FULL) {
		take_later(store, shard);
	} else {
		lease_lose(store);
	}
}

static void lost(struct redis_store *store, struct request *request)
{
	if (request->shard->loss == LOSS_TAKING)
		take_later(store, request->shard);
	request_free(store, request);
}

static void retake(struct redis_store *store, struct shard *shard, const char *replace)
{
	struct request *request = request_new(store, shard, came, lost);

	if (request) {
		lease_words(store, shard, replace);
		request->context = (void *)(uintptr_t)store->eras;
		if (request_send(store, request) == DW_OK)
			return;
		request_free(store, request);
	}
	take_later(store, shard);
}

void loss_refused(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	bool is_held = reply_is(&reply->items[0], "HELD");
	const struct reply *era = is_held ? &reply->items[4] : &reply->items[1];
	bool same = reply_is(era, shard->era);
	bool theirs = is_held ? !is_ours(store, &reply->items[1])
			      : (uint64_t)reply_number(&reply->items[2]) > shard->fence;

	if (shard->loss == LOSS_TAKING || shard->loss == LOSS_HELD)
		return;
	if (same && theirs)
		lease_lose(store);
	else
		loss_begin(store, shard);
}

void loss_begin(struct redis_store *store, struct shard *shard)
{
	if (store->role != DW_OWNER || shard->loss == LOSS_TAKING || shard->loss == LOSS_HELD)
		return;
	shard->in_doubt = false;
	if (store->now >= shard->lease_until) {
		lease_lose(store);
		return;
	}
	complain(store, "shard %u was emptied or set back: it is written again", shard->number);
	shard->loss = LOSS_TAKING;
	shard->greeting = GREETING_ASKED;
	shard->acked = 0;
	store->renew_at = store->now; /* the others have hardly fared better */
	retake(store, shard, shard->token);
}
