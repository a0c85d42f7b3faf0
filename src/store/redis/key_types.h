/* Keys of another type than ours. */
#ifndef DW_STORE_REDIS_KEY_TYPES_H
#define DW_STORE_REDIS_KEY_TYPES_H

#include <stdbool.h>

#include "store/redis/pipeline.h"

#define KEY_TYPES_WORDS 80

/* key_types_ask asks which types the shard's keys have, as request_post does. */
int key_types_ask(struct redis_store *, struct shard *, request_answered *, request_lost *);

/* key_types_differ: the key, of those that the reply tells, has another type than ours; and what is
 * wrong, in words; KEY_TYPES_WORDS bytes. key_types_name: which key it is, in words, as far as the
 * reply says it; DW_MESSAGE_SIZE bytes. */
bool key_types_differ(const struct reply *, unsigned key, char *ret_words);
void key_types_name(const struct redis_store *, const struct shard *, const struct reply *,
		    char *ret_words);

/* key_types_tell complains of the key that has another type, as soon as the server has said
 * which. */
void key_types_tell(struct redis_store *, struct shard *);

#endif
