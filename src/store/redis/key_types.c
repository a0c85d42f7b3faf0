/* Keys of another type than ours, which somebody else has written. Redis says of a command only
 * that some key has the wrong type; so the server is asked which one, to name it. */
#include "store/redis/inside.h"

#include <stdio.h>
#include <string.h>

static const char *const types[KEY_COUNT] = {
    [KEY_LEASE] = "string", [KEY_META] = "hash",  [KEY_Z] = "zset",
    [KEY_H] = "hash",       [KEY_INBOX] = "zset", [KEY_DEAD] = "zset",
    [KEY_LETTERS] = "hash", [KEY_NAMES] = "zset", [KEY_SESSION] = "hash"};

bool types_differ(const struct reply *reply, unsigned key, char *ret_words)
{
	const char *type = reply->items[key].bytes;

	if (strcmp(type, types[key]) == 0 || strcmp(type, "none") == 0)
		return false;
	(void)snprintf(ret_words, TYPES_WORDS,
		       "is of the type %.20s instead of %s: rename or delete it", type, types[key]);
	return true;
}

void types_name(const struct redis_store *store, const struct shard *shard,
		const struct reply *reply, char *ret_words)
{
	char words[TYPES_WORDS];

	for (unsigned i = 0; reply->kind != REPLY_ERROR && i < KEY_COUNT; i++) {
		if (!types_differ(reply, i, words))
			continue;
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the key %s %s", shard->keys[i], words);
		return;
	}
	(void)snprintf(ret_words, DW_MESSAGE_SIZE,
		       "a key of shard %u of the namespace %s is of another type than ours",
		       shard->number, store->name);
}

int types_ask(struct redis_store *store, struct request *request)
{
	call_begin_rare(store, "types", request->shard);
	return request_send(store, request);
}

/* ---- Telling ------------------------------------------------------------------------------- */

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];

	request->shard->naming = false;
	types_name(store, request->shard, reply, words);
	complain(store, "%s", words);
	request_free(store, request);
}

static void lost(struct redis_store *store, struct request *request)
{
	request->shard->naming = false;
	request_free(store, request);
}

void types_tell(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	if (shard->naming || !may_complain(store))
		return;
	request = request_new(store, shard, came, lost);
	if (!request)
		return;
	shard->naming = true;
	if (types_ask(store, request) != DW_OK)
		lost(store, request);
}
