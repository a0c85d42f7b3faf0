/* Finds keys of a wrong type, which another program has made. Redis only says that some key of a
 * command has the wrong type, so types.lua is asked which key it is. */
#include "store/redis/heal/key_types.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define LOOK_EVERY DW_SECONDS(1)

static const char *const types[KEY_COUNT] = {
    [KEY_LEASE] = "string", [KEY_META] = "hash", [KEY_Z] = "zset",       [KEY_H] = "hash",
    [KEY_INBOX] = "zset",   [KEY_DEAD] = "zset", [KEY_LETTERS] = "hash", [KEY_NAMES] = "zset",
    [KEY_SESSION] = "hash", [KEY_ENDS] = "hash", [KEY_UNTILS] = "zset"};

bool key_types_differ(const struct reply *reply, unsigned key, char *ret_words)
{
	const char *type = reply->items[key].bytes;

	if (strcmp(type, types[key]) == 0 || strcmp(type, "none") == 0)
		return false;
	(void)snprintf(ret_words, KEY_TYPES_WORDS,
		       "is of the type %.20s instead of %s: rename or delete it", type, types[key]);
	return true;
}

void key_types_name(const struct shard *shard, char *ret_words)
{
	(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the key %s %s",
		       shard->keys.name[shard->types.key], shard->types.words);
}

int key_types_ask(struct redis_store *store, struct shard *shard, request_answered *answered,
		  request_lost *lost)
{
	call_begin_rare(&store->pipeline, SCRIPT_TYPES, shard);
	return request_post(store, shard, answered, lost, NULL);
}

/* ---- Cut off ------------------------------------------------------------------------------- */

/* cut_off answers the operations that wait for the shard, so that they hold nothing up. */
static void cut_off(struct redis_store *store, struct shard *shard)
{
	char words[DW_MESSAGE_SIZE];

	if (shard->types.state == TYPES_RIGHT) {
		key_types_name(shard, words);
		complain(store, "%s", words);
		store->sets.cut_off_count++;
		shard->types.look_at = usec_add(store->now, LOOK_EVERY);
		shard_add(&store->sets.cut_off, shard->number);
		shard_add(&store->sets.untold, shard->number);
	}
	shard->types.state = TYPES_WRONG;
	answer_cut_off(store, shard);
}

bool key_types_learn(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	if (reply->kind == REPLY_ERROR)
		return shard->types.state == TYPES_WRONG;
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		if (!key_types_differ(reply, i, shard->types.words))
			continue;
		shard->types.key = i;
		cut_off(store, shard);
		return true;
	}
	if (shard_is_cut_off(shard)) {
		shard->types.state = TYPES_MENDED;
		shard_mark(store, shard, SHARD_MENDED);
	}
	return false;
}

void key_types_end(struct redis_store *store, struct shard *shard)
{
	if (shard->types.state != TYPES_MENDED)
		return;
	shard->types.state = TYPES_RIGHT;
	store->sets.cut_off_count--;
	shard_remove(&store->sets.cut_off, shard->number);
	shard_add(&store->sets.untold, shard->number);
	shard_expect_news(&store->sets, shard);
	shard_mark(store, shard, SHARD_READY);
}

bool key_types_take(struct redis_store *store, dw_shard_news *ret_news)
{
	unsigned number = shard_next(&store->sets.untold, 0);

	if (number >= store->shard_count)
		return false;
	shard_remove(&store->sets.untold, number);
	*ret_news = (dw_shard_news){.number = number,
				    .state = store->ownership.role == DW_OWNER ? DW_SHARD_OWNED
									       : DW_SHARD_FOREIGN,
				    .refused = store->sets.cut_off_count};
	if (shard_is_cut_off(&store->shards[number])) {
		ret_news->state = DW_SHARD_REFUSED;
		ret_news->status = DW_ESTORE;
		key_types_name(&store->shards[number], ret_news->words);
	}
	return true;
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void key_types_answered(struct redis_store *store, struct redis_request *request,
			       const struct reply *reply)
{
	request->shard->types.is_asked = false;
	(void)key_types_learn(store, request->shard, reply);
	request_free(&store->alloc, request);
}

static void key_types_lost(struct redis_store *store, struct redis_request *request)
{
	request->shard->types.is_asked = false;
	request_free(&store->alloc, request);
}

void key_types_look(struct redis_store *store, struct shard *shard)
{
	if (!shard->types.is_asked)
		shard->types.is_asked =
		    key_types_ask(store, shard, key_types_answered, key_types_lost) == DW_OK;
}

static bool can_look(const struct redis_store *store)
{
	return store->pipeline.connection && !store->stopped;
}

dw_usec key_types_due(const struct redis_store *store)
{
	const struct shard_set *set = &store->sets.cut_off;
	dw_usec at = DW_NEVER;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		at = usec_min(at, store->shards[i].types.look_at);
	return can_look(store) ? at : DW_NEVER;
}

void key_types_work(struct redis_store *store)
{
	const struct shard_set *set = &store->sets.cut_off;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (!can_look(store) || store->now < shard->types.look_at)
			continue;
		shard->types.look_at = usec_add(store->now, LOOK_EVERY);
		key_types_look(store, shard);
	}
}
