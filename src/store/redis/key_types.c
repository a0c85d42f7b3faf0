/* Keys of another type than ours, which somebody else has written. Redis says of a command only
 * that some key has the wrong type; so the server is asked which one, to name it. */
#include "store/redis/key_types.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

static const char *const types[KEY_COUNT] = {
    [KEY_LEASE] = "string", [KEY_META] = "hash",  [KEY_Z] = "zset",
    [KEY_H] = "hash",       [KEY_INBOX] = "zset", [KEY_DEAD] = "zset",
    [KEY_LETTERS] = "hash", [KEY_NAMES] = "zset", [KEY_SESSION] = "hash"};

bool key_types_differ(const struct reply *reply, unsigned key, char *ret_words)
{
	const char *type = reply->items[key].bytes;

	if (strcmp(type, types[key]) == 0 || strcmp(type, "none") == 0)
		return false;
	(void)snprintf(ret_words, KEY_TYPES_WORDS,
		       "is of the type %.20s instead of %s: rename or delete it", type, types[key]);
	return true;
}

void key_types_name(const struct redis_store *store, const struct shard *shard,
		    const struct reply *reply, char *ret_words)
{
	char words[KEY_TYPES_WORDS];

	for (unsigned i = 0; reply->kind != REPLY_ERROR && i < KEY_COUNT; i++) {
		if (!key_types_differ(reply, i, words))
			continue;
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the key %s %s", shard->keys.name[i],
			       words);
		return;
	}
	(void)snprintf(ret_words, DW_MESSAGE_SIZE,
		       "a key of shard %u of the namespace %s is of another type than ours",
		       shard->number, store->names.name);
}

int key_types_ask(struct redis_store *store, struct shard *shard, request_answered *answered,
		  request_lost *lost)
{
	call_begin_rare(store, SCRIPT_TYPES, shard);
	return request_post(store, shard, answered, lost, NULL);
}

/* ---- Telling ------------------------------------------------------------------------------- */

static void key_types_answered(struct redis_store *store, struct redis_request *request,
			       const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];

	request->shard->asks_types = false;
	key_types_name(store, request->shard, reply, words);
	complain(store, "%s", words);
	request_free(store, request);
}

static void key_types_lost(struct redis_store *store, struct redis_request *request)
{
	request->shard->asks_types = false;
	request_free(store, request);
}

void key_types_tell(struct redis_store *store, struct shard *shard)
{
	if (!shard->asks_types && may_complain(store))
		shard->asks_types =
		    key_types_ask(store, shard, key_types_answered, key_types_lost) == DW_OK;
}
