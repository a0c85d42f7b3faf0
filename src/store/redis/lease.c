/* Ownership: a lease on every shard, taken at once, renewed together, lost as a whole. */
#include "store/redis/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/identity.h"
#include "timer/record.h"

/* ---- Time ---------------------------------------------------------------------------------- */

/* lease_learn_time: as if the answer had come at once, so that we are never ahead of the server's
 * clock: a version that is could be given a second time when the server has lost the first one. */
void lease_learn_time(struct redis_store *store, int64_t server_time)
{
	store->server_time = server_time;
	store->server_at = store->now;
}

/* lease_floor: the server gives generations by its own clock; what we ask for here makes them
 * follow the order of the calls over all shards. Every shard rounds up to its own remainder, so
 * that they are steps of as many as there are shards. */
uint64_t lease_floor(struct redis_store *store)
{
	dw_usec now = usec_add(store->server_time, usec_sub(store->now, store->server_at));
	uint64_t next = store->floor + store->shard_count;

	store->floor = now > 0 && (uint64_t)now > next ? (uint64_t)now : next;
	return store->floor;
}

/* lease_taken: counted from the sending, and with a margin for clocks of different speed. */
void lease_taken(struct redis_store *store, struct shard *shard, dw_usec sent)
{
	dw_usec margin = usec_add(store->lease / 1000, DW_MILLISECONDS(50));

	shard->lease_until = usec_add(sent, usec_sub(store->lease, margin));
}

dw_usec lease_until(const struct redis_store *store)
{
	dw_usec until = DW_NEVER;

	if (store->role != DW_OWNER)
		return INT64_MIN;
	for (unsigned i = 0; i < store->shard_count; i++)
		until = usec_min(until, store->shards[i].lease_until);
	return until;
}

/* ---- Taking -------------------------------------------------------------------------------- */

static void take_shard(struct redis_store *, struct shard *, const char *replace);

/* set_owner: every shard is ours. No command of the client that we were is under way: they were
 * sent before, and answered before. */
static void set_owner(struct redis_store *store)
{
	store->role = DW_OWNER;
	store->owned = true;
	store->renew_at = usec_add(store->now, store->lease * 3 / 10);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		greeted(store, shard, 0);
	}
}

static void release_lost(struct redis_store *store, struct request *request)
{
	request_free(store, request);
}

static void released(struct redis_store *store, struct request *request, const struct reply *reply)
{
	(void)call_failed(store, request, reply);
	request_free(store, request);
}

/* release gives a lease back; should that fail, it ends by itself. */
static void release(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	if (shard->fence == 0)
		return;
	request = request_new(store, shard, released, release_lost);
	if (request) {
		call_begin_rare(store, "release", shard);
		command_text(&store->words, shard->token);
		if (shard->newer)
			command_unsigned(&store->words, shard->newer);
		else
			command_text(&store->words, "");
		if (request_send(store, request) != DW_OK)
			request_free(store, request);
	}
	shard->fence = 0;
	shard->newer = 0;
}

static void taking_ended(struct redis_store *store)
{
	struct taking *taking = &store->taking;
	dw_op *op = taking->op;

	taking->active = false;
	taking->op = NULL;
	if (taking->status == DW_OK) {
		set_owner(store);
		answer_known(store); /* done as a client, and so answered to one */
	} else {
		for (unsigned i = 0; i < store->shard_count; i++)
			release(store, &store->shards[i]);
	}
	if (op)
		answer(store, op, taking->status);
}

static void refuse(struct redis_store *store, int status, const char *words)
{
	if (store->taking.status != DW_OK)
		return;
	store->taking.status = status;
	(void)snprintf(store->taking.words, DW_MESSAGE_SIZE, "%s", words); /* cut if long */
}

/* note_passing: of the failure that is about to be noted, if it is the first. */
static void note_passing(struct redis_store *store, bool passes)
{
	if (store->taking.status == DW_OK)
		store->taking.passes = passes;
}

bool lease_is_dead(const struct reply *held)
{
	const char *bar = strchr(held->items[3].bytes, '|');

	return bar && identity_is_dead(bar + 1);
}

/* is_ours: a lease of an attempt that failed, and could not be given back, or was answered to a
 * connection that was lost. */
static bool is_ours(const struct redis_store *store, const struct reply *held)
{
	return strstr(held->items[1].bytes, store->nonce);
}

/* held: somebody has the lease. A process of this machine that is not there any more is replaced,
 * for others the lease must end. */
static void held(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	const char *holder = reply->items[3].bytes;
	const char *bar = strchr(holder, '|');
	char words[DW_MESSAGE_SIZE];

	if (lease_is_dead(reply) || is_ours(store, reply)) {
		take_shard(store, shard, reply->items[1].bytes);
		return;
	}
	(void)snprintf(words, sizeof words,
		       "the namespace %s is owned by %.*s; if that is dead, its lease ends in "
		       "%" PRId64 " ms",
		       store->name, (int)(bar ? bar - holder : (long)strlen(holder)), holder,
		       reply_number(&reply->items[2]));
	refuse(store, DW_EOWNED, words);
}

void lease_note_version(struct shard *shard, uint64_t version)
{
	if (shard->high < version && version <= VALUE_SCORE_MAX)
		shard->high = version;
}

void lease_note_row(struct shard *shard, const dw_row *row)
{
	if (row->status == DW_OK)
		lease_note_version(shard, row->head.generation);
}

bool lease_take_token(struct shard *shard, const struct reply *reply)
{
	if (reply->items[1].size >= TOKEN_SIZE || reply->items[2].size >= ERA_SIZE)
		return false;
	memcpy(shard->token, reply->items[1].bytes, reply->items[1].size + 1);
	memcpy(shard->era, reply->items[2].bytes, reply->items[2].size + 1);
	shard->fence = strtoull(shard->token, NULL, 10);
	shard->dead_count = (uint64_t)reply_number(&reply->items[6]);
	shard->news = true;
	shard->seen = 0;
	lease_note_version(shard, (uint64_t)reply_number(&reply->items[3]));
	return true;
}

/* next_shards: the first one is the arbiter: who has it takes the others. */
static void next_shards(struct redis_store *store, const struct shard *shard)
{
	if (shard->number != 0 || store->taking.status != DW_OK)
		return;
	for (unsigned i = 1; i < store->shard_count; i++)
		take_shard(store, &store->shards[i], "");
}

static void named(struct redis_store *store, struct request *request, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];

	types_name(store, request->shard, reply, words);
	store->taking.left--;
	refuse(store, DW_ESTORE, words);
	request_free(store, request);
	if (store->taking.left == 0)
		taking_ended(store);
}

static void taking_lost(struct redis_store *store, struct request *request)
{
	store->taking.left--;
	note_passing(store, true);
	refuse(store, DW_ESTORE, "the connection was lost");
	request_free(store, request);
	if (store->taking.left == 0)
		taking_ended(store);
}

/* name asks which key has another type than ours, so that the refusal says it. */
static bool name(struct redis_store *store, struct shard *shard)
{
	struct request *request = request_new(store, shard, named, taking_lost);

	if (!request)
		return false;
	if (types_ask(store, request) != DW_OK) {
		request_free(store, request);
		return false;
	}
	store->taking.left++;
	return true;
}

/* refuse_newer: the shard has, or had, a timer of a later version than this library knows. */
static void refuse_newer(struct redis_store *store, const struct shard *shard,
			 const struct reply *format)
{
	char words[DW_MESSAGE_SIZE];

	(void)snprintf(words, sizeof words,
		       "the namespace %s has timers of a newer durawheel, which this version "
		       "cannot deliver: run the newer one (shard %u: format %.20s, not %d)",
		       store->name, shard->number, format->bytes, RECORD_VERSION);
	refuse(store, DW_ENEWER, words);
}

static void refuse_number(struct redis_store *store, const struct shard *shard,
			  const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE] = "a reply that no script of ours gives";

	if (reply->count >= 2 && reply->items[1].kind == REPLY_BULK)
		layout_words(store, shard->number, &reply->items[1], words);
	refuse(store, DW_ESTORE, words);
	layout_doubt(store); /* a standby asks again, with the right one */
}

static void taken(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	store->taking.left--;
	if (failure == FAILURE_AGAIN && request->script && !reply_fails(reply, "BUSY")) {
		take_shard(store, shard, "");
	} else if (reply_fails(reply, "WRONGTYPE") && name(store, shard)) {
		/* Refused when the answer has come. */
	} else if (failure != FAILURE_NONE) {
		note_passing(store, reply_passes(reply));
		refuse(store, failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE,
		       reply->kind == REPLY_ERROR ? store->refusal : "the server refuses");
	} else if (reply_is(&reply->items[0], "OK") && lease_take_token(shard, reply)) {
		lease_learn_time(store, reply_number(&reply->items[4]));
		lease_taken(store, shard, request->sent);
		next_shards(store, shard);
	} else if (reply_is(&reply->items[0], "HELD")) {
		held(store, shard, reply);
	} else if (reply_is(&reply->items[0], "NEWER") && reply->count >= 2 &&
		   reply->items[1].kind == REPLY_BULK) {
		refuse_newer(store, shard, &reply->items[1]);
	} else {
		refuse_number(store, shard, reply);
	}
	request_free(store, request);
	if (store->taking.left == 0)
		taking_ended(store);
}

void lease_era(const struct redis_store *store, unsigned number, char *ret_era)
{
	(void)snprintf(ret_era, ERA_SIZE, "%s.%u", store->nonce, number); /* it fits */
}

/* floor_of: what the shard gives from now on is above all that it has given, even if the server has
 * lost that and its clock went back. */
static uint64_t floor_of(const struct redis_store *store, struct shard *shard)
{
	lease_note_version(shard, shard->fence);
	lease_note_version(shard, shard->seen);
	return shard->high > store->floor ? shard->high : store->floor;
}

void lease_words(struct redis_store *store, struct shard *shard, const char *replace)
{
	struct redis_command *words = &store->words;

	call_begin_rare(store, "acquire", shard);
	command_text(words, store->nonce);
	command_number(words, (int64_t)store->connections);
	command_number(words, store->lease / 1000);
	command_unsigned(words, floor_of(store, shard));
	command_text(words, store->holder);
	command_number(words, store->shard_count);
	/* A new era: the nonce, and how many it has made. */
	store->eras++;
	lease_era(store, store->eras, store->era);
	command_text(words, store->era);
	command_text(words, replace);
	command_text(words, shard->loss == LOSS_TAKING ? shard->era : "");
}

static void take_shard(struct redis_store *store, struct shard *shard, const char *replace)
{
	struct request *request = request_new(store, shard, taken, taking_lost);

	if (!request) {
		refuse(store, DW_ENOMEM, "no memory");
		return;
	}
	lease_words(store, shard, replace);
	if (request_send(store, request) != DW_OK) {
		request_free(store, request);
		note_passing(store, true);
		refuse(store, DW_ESTORE, "the connection was lost");
		return;
	}
	store->taking.left++;
}

void lease_take(struct redis_store *store, dw_op *op)
{
	struct taking *taking = &store->taking;

	if (op && (store->role == DW_OWNER || taking->active || !store->connection)) {
		answer(store, op,
		       store->role == DW_OWNER ? DW_OK
		       : taking->active        ? DW_EBUSY
					       : DW_ESTORE);
		return;
	}
	*taking = (struct taking){.active = true, .op = op};
	take_shard(store, &store->shards[0], "");
	if (taking->left == 0)
		taking_ended(store);
}

bool lease_went_back(const struct shard *shard, const struct reply *reply)
{
	return (uint64_t)reply_number(&reply->items[1]) < shard->acked ||
	       (uint64_t)reply_number(&reply->items[2]) < shard->seen;
}

/* ---- Keeping ------------------------------------------------------------------------------- */

static void renewed(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	shard->renewing = false;
	if (store->role != DW_OWNER || !request->as_owner || failure == FAILURE_AGAIN ||
	    failure == FAILURE_FULL || failure == FAILURE_REFUSED) {
		/* Asked again with the next renewal, long before the lease is over. */
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		lease_learn_time(store, reply_number(&reply->items[3]));
		lease_note_version(shard, (uint64_t)reply_number(&reply->items[2]));
		lease_taken(store, shard, request->sent);
		shard->news = shard->news || reply_number(&reply->items[4]) > 0;
		shard->dead_count = (uint64_t)reply_number(&reply->items[5]);
		if (lease_went_back(shard, reply)) {
			loss_begin(store, shard);
		} else {
			mend_count(store, shard, reply_number(&reply->items[6]),
				   reply_number(&reply->items[7]));
			loss_is_sure(store, shard);
		}
	} else {
		loss_refused(store, shard, reply);
	}
	request_free(store, request);
}

static void renewal_lost(struct redis_store *store, struct request *request)
{
	request->shard->renewing = false;
	request_free(store, request);
}

void lease_renew(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	if (shard->renewing)
		return;
	request = request_new(store, shard, renewed, renewal_lost);
	if (!request)
		return;
	call_begin(store, "renew", shard);
	command_text(&store->words, shard->token);
	command_text(&store->words, shard->token);
	command_number(&store->words, store->lease / 1000);
	command_text(&store->words, shard->era);
	if (request_send(store, request) == DW_OK)
		shard->renewing = true;
	else
		request_free(store, request);
}

void lease_work(struct redis_store *store)
{
	if ((store->ousting || store->ousted) && store->now >= store->ousted_until)
		lease_lose(store);
	if (store->role != DW_OWNER || store->stopped || store->now < store->renew_at)
		return;
	store->renew_at = usec_add(store->now, store->lease * 3 / 10);
	for (unsigned i = 0; store->connection && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->greeting == GREETING_NONE)
			greet(store, shard);
		else if (shard->greeting == GREETING_DONE)
			lease_renew(store, shard);
	}
}

/* ---- Losing and giving back ---------------------------------------------------------------- */

void lease_refuse(struct redis_store *store, struct shard *shard, struct op_queue *queue)
{
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		if (op->kind == DW_OP_GET)
			op_queue_push(queue, op);
		else if (op->kind == DW_OP_REPUSH && store->ousted)
			op_queue_push(&shard->pushes, op);
		else
			answer(store, op, DW_EFENCED);
		op = next;
	}
}

void lease_refuse_all(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	while ((request = flow_limbo_pop(shard))) {
		if (request->ops.first && request->ops.first->kind == DW_OP_REPUSH)
			lease_refuse(store, shard, &request->ops);
		answer_doubtful(store, &request->ops);
		request_free(store, request);
	}
	for (struct doubt *doubt = shard->doubts; doubt; doubt = doubt->next)
		if (!doubt->resolved)
			doubt->resolved = doubt->applied = true; /* perhaps */
	lease_refuse(store, shard, &shard->pushes);
	lease_refuse(store, shard, &shard->redo);
	lease_refuse(store, shard, &shard->waiting);
}

void lease_lose(struct redis_store *store)
{
	if (store->role != DW_OWNER && !store->ousted)
		return;
	store->role = DW_CLIENT;
	store->ousting = false;
	answer_withheld(store);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		lease_refuse_all(store, shard);
		if (store->connection && shard->greeting == GREETING_DONE)
			release(store, shard);
		shard->fence = 0;
		shard->loss = LOSS_NONE;
		shard->in_doubt = false;
		shard->lease_until = 0;
		shard->greeting = GREETING_NONE;
		shard->acked = 0;
	}
	news_end(store, DW_EFENCED);
	loss_end(store, DW_EFENCED);
}

void lease_give_way(struct redis_store *store, dw_op *op)
{
	if (op->id && op->body)
		shard_of(store, op->id)->newer = record_version(op->body);
	lease_lose(store);
	answer(store, op, DW_OK);
}

void lease_give_back(struct redis_store *store)
{
	for (unsigned i = 0; store->connection && i < store->shard_count; i++)
		release(store, &store->shards[i]);
}
