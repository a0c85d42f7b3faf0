/* The copies of the settings of topics. Every shard has those of all topics, each with a version,
 * and the newest version counts. So the settings outlive a shard that is emptied or set back. The
 * owner keeps what it has read, as if its memory was one more shard, and writes the newest settings
 * into each shard that lacks some. A topic that was dropped is remembered with its version, too. */
#ifndef DW_STORE_REDIS_TOPIC_COPIES_H
#define DW_STORE_REDIS_TOPIC_COPIES_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"
#include "store/redis/rows.h"

struct redis_store;
struct shard;

/* A row is the settings of a topic in one shard. id: the topic; body: the settings; generation:
 * their version, 0 if they are damaged; gone: the topic was dropped; number: of the shard, or
 * COPY_OF_OWNER; token: the numbers of its queue, or "". status: DW_ECORRUPT: the settings are
 * damaged; DW_EINVAL: no topic has this name. */
#define COPY_OF_OWNER UINT64_MAX

struct topic_copies {
	dw_row *known; /* of the owner: the newest settings of each topic, by name */
};

#define COPIES_KEY_SIZE 96

/* copies_add_key adds the name of the key of a shard's settings. key: room for it, until the
 * command is sent; so also below. copies_ask makes the command that reads the settings. */
void copies_add_key(struct redis_store *, const struct shard *, char key[COPIES_KEY_SIZE]);
void copies_ask(struct redis_store *, const struct shard *, char key[COPIES_KEY_SIZE]);

/* copies_read adds a row for the three items of topic_list.lua. False: no memory. */
bool copies_read(struct redis_store *, struct rows *, unsigned shard, const struct reply *items);

/* copies_answer adds the newest settings of each topic to op, at *tail, and frees the rows. An
 * owner writes them into each shard that differs. False: no memory. */
bool copies_answer(struct redis_store *, struct rows *, dw_op *, dw_row ***tail);

/* copies_newest sorts the rows, and returns the newest settings of the topic that are in them, or
 * that the owner knows; NULL: there are none. ret_count: topics that have settings in the rows. */
const dw_row *copies_newest(const struct redis_store *, struct rows *, const char *topic,
			    size_t *ret_count);

/* copies_learn: the owner has changed these settings. copies_write writes all that is known into a
 * shard, before anything that is sent later. copies_forget forgets it all. */
void copies_learn(struct redis_store *, const char *topic, const struct reply *settings);
void copies_write(struct redis_store *, const struct shard *);
void copies_forget(struct redis_store *);

/* copies_begin begins a command that writes settings into a shard: topic and text follow, as often
 * as needed. wakes: it tells the owner, which is another process. */
void copies_begin(struct redis_store *, const struct shard *, bool wakes,
		  char key[COPIES_KEY_SIZE]);

#endif
