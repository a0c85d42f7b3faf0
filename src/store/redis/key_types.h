/* Keys of another type than ours. While a shard has one, it is cut off: what is asked of it fails
 * at once, and its timers wait. All other shards go on. */
#ifndef DW_STORE_REDIS_KEY_TYPES_H
#define DW_STORE_REDIS_KEY_TYPES_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/redis/pipeline.h"

#define KEY_TYPES_WORDS 80

/* MENDED: the types are right again, and the owner has not renewed its lease yet. */
enum types_state { TYPES_RIGHT, TYPES_WRONG, TYPES_MENDED };

/* A shard's. */
struct shard_types {
	enum types_state state;
	bool is_asked;
	char words[KEY_TYPES_WORDS]; /* while WRONG: what is wrong with the key */
	unsigned key;                /* which one */
	dw_usec look_at;             /* steady: while it is cut off, it is asked again then */
};

/* key_types_ask asks which types the shard's keys have, as request_post does. */
int key_types_ask(struct redis_store *, struct shard *, request_answered *, request_lost *);

/* key_types_differ: the key, of those that the reply tells, has another type than ours; and what is
 * wrong, in words; KEY_TYPES_WORDS bytes. */
bool key_types_differ(const struct reply *, unsigned key, char *ret_words);

/* key_types_learn takes the reply to key_types_ask. True: the shard is cut off now. */
bool key_types_learn(struct redis_store *, struct shard *, const struct reply *);

/* key_types_name: which key of a shard that is cut off is wrong; DW_MESSAGE_SIZE bytes. */
void key_types_name(const struct shard *, char *ret_words);

/* key_types_look asks for the types, because a command was refused. key_types_work asks the shards
 * that are cut off from time to time; key_types_due: when it does. */
void key_types_look(struct redis_store *, struct shard *);
void key_types_work(struct redis_store *);
dw_usec key_types_due(const struct redis_store *);

/* key_types_end: the shard is in use again. */
void key_types_end(struct redis_store *, struct shard *);

/* key_types_take: as dw_store_class.take_part. */
bool key_types_take(struct redis_store *, dw_part *ret_part);

#endif
