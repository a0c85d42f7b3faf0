/* The copies of the settings of topics. Every shard has those of all topics, each with a version,
 * and the newest version counts. So the settings outlive a shard that is emptied or set back. The
 * owner keeps what it has read, as if its memory was one more shard, and writes the newest settings
 * into each shard that lacks some. A topic that was dropped is remembered with its version, too. */
#ifndef DW_STORE_REDIS_TOPIC_COPIES_H
#define DW_STORE_REDIS_TOPIC_COPIES_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"
#include "store/redis/page/rows.h"
#include "store/redis/wire/script.h"
#include "store/redis/owner/shard.h"

struct later;
struct redis_store;

/* A row is the settings of a topic in one shard. id: the topic; body: the settings; generation:
 * their version, 0 if they are damaged; gone: the topic was dropped; number: of the shard, or
 * COPY_OF_OWNER; token: the numbers of its queue, or "". status: DW_ECORRUPT: the settings are
 * damaged; DW_EINVAL: no topic has this name. deleted: some shard lacks these settings.
 *
 * A shard's topic_changes is one more than its change number when the owner has last read it; 0:
 * the owner must read all of its settings. */
#define COPY_OF_OWNER UINT64_MAX

struct topic_copies {
	dw_row *known; /* the owner's: the newest settings of each topic, by name */
};

/* What the shards have told. */
struct copies_told {
	struct rows rows;
	struct shard_set partial; /* these have told only what has changed */
	size_t count;             /* the most topics with settings that a shard has */
};

/* copies_ask makes the command that reads the settings of a topic, or "": of all. has_owner: with
 * the numbers of the owner. copies_ask_changes: those that have changed since the owner has read
 * the shard. */
void copies_ask(struct redis_store *, const struct shard *, const char *topic, bool has_owner);
void copies_ask_changes(struct redis_store *, const struct shard *);

/* copies_read adds a row for two items of topic_list.lua. copies_read_changes takes the reply of
 * topic_changes.lua. copies_add_numbers adds a row like `copy`, with the numbers of its queue.
 * False: no memory. */
bool copies_read(struct alloc *, struct rows *, unsigned shard, const struct reply *items);
bool copies_read_changes(struct redis_store *, struct copies_told *, unsigned shard,
			 const struct reply *);
bool copies_add_numbers(struct alloc *, struct rows *, const dw_row *copy,
			const struct reply *numbers);

/* copies_answer adds the newest settings of each topic to op, at *tail, and frees the rows. An
 * owner writes them into each shard that differs. Of changes only those of topics that a shard has
 * told. False: no memory. */
bool copies_answer(struct redis_store *, struct copies_told *, dw_op *, dw_row ***tail);

/* copies_newest sorts the rows of this topic, and returns the newest settings that are in them, or
 * that the owner knows; NULL: there are none. */
const dw_row *copies_newest(const struct later *, struct rows *, const char *topic);

/* copies_learn is called when the owner has changed these settings. copies_write writes all that is
 * known into a shard, before anything that is sent later. copies_forget forgets it all.
 * copies_read_all: the owner must read all settings again. */
void copies_learn(struct redis_store *, const char *topic, const struct reply *settings);
void copies_write(struct redis_store *, struct shard *);
void copies_forget(struct redis_store *);
void copies_read_all(struct redis_store *);

/* copies_begin_write begins a command that writes settings into a shard: topic and text follow, as
 * often as needed. rare: its text is sent. wakes: it tells the owner, which is another process. */
void copies_begin_write(struct redis_store *, const struct shard *, bool rare, bool wakes);

#endif
