/* Keys of a wrong type. While a shard has one, the shard is cut off: operations on it fail at once,
 * and its timers wait. All other shards work on. */
#ifndef DW_STORE_REDIS_KEY_TYPES_H
#define DW_STORE_REDIS_KEY_TYPES_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/redis/wire/pipeline.h"

#define KEY_TYPES_WORDS 80

/* With TYPES_MENDED, the types are right again, but the owner has not renewed its lease yet. */
enum types_state { TYPES_RIGHT, TYPES_WRONG, TYPES_MENDED };

/* The types of one shard's keys. */
struct shard_types {
	enum types_state state;
	bool is_asked;
	/* While the state is TYPES_WRONG: what is wrong with the key. */
	char words[KEY_TYPES_WORDS];
	unsigned key; /* the key of the wrong type */
	/* When a shard that is cut off is asked for its types again (steady clock). */
	dw_usec look_at;
};

/* key_types_ask asks for the types of the shard's keys. Its parameters and result are those of
 * request_post. */
int key_types_ask(struct redis_store *, struct shard *, request_answered *, request_lost *);

/* key_types_differ returns true if the reply of types.lua says that this key has a wrong type. Then
 * ret_words (KEY_TYPES_WORDS bytes) says what is wrong. */
bool key_types_differ(const struct reply *, unsigned key, char *ret_words);

/* key_types_learn takes the reply to key_types_ask. Returns true if the shard is cut off. */
bool key_types_learn(struct redis_store *, struct shard *, const struct reply *);

/* key_types_name writes which key cuts the shard off, and why, in at most DW_MESSAGE_SIZE bytes. */
void key_types_name(const struct shard *, char *ret_words);

/* key_types_look asks for the types of a shard's keys, because a command was refused.
 * key_types_work asks every second for the types of shards that are cut off; key_types_due says
 * when it asks next. */
void key_types_look(struct redis_store *, struct shard *);
void key_types_work(struct redis_store *);
dw_usec key_types_due(const struct redis_store *);

/* key_types_end puts a shard back into use when its keys have the right types again. */
void key_types_end(struct redis_store *, struct shard *);

/* key_types_take implements dw_store_class.take_shard. */
bool key_types_take(struct redis_store *, dw_shard_news *ret_news);

#endif
