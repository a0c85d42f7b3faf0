/* The copies of the settings of topics. Every shard has the settings of all topics, each with a
 * version, and the newest version counts. So the settings survive if a shard is emptied or set
 * back. The owner keeps what it has read, as if its memory were one more shard. It writes the
 * newest settings into each shard that lacks some. A topic that was dropped is remembered, too,
 * with the version of the drop. */
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

/* A row has the settings of a topic in one shard. Its fields:
 *
 *	id          the topic
 *	body        the settings
 *	generation  their version; 0 if they are damaged
 *	gone        the topic was dropped
 *	number      the shard, or COPY_OF_OWNER
 *	token       the numbers of the topic's queue, or ""
 *	status      DW_ECORRUPT: the settings are damaged; DW_EINVAL: no topic has this name
 *	deleted     some shard lacks these settings
 *
 * A shard's topic_changes is the number of its last change that the owner has read, plus 1. 0: the
 * owner must read all settings of the shard. */
#define COPY_OF_OWNER UINT64_MAX

struct topic_copies {
	dw_row *known; /* the owner's copy: the newest settings of each topic, sorted by name */
};

/* What the shards have told in their replies. */
struct copies_told {
	struct rows rows;
	struct shard_set partial; /* shards that have told only what has changed */
	size_t count;             /* how many topics with settings a shard has, at most */
};

/* copies_ask makes the command that reads the settings of one topic, or of all if `topic` is "".
 * has_owner: the reply also has the numbers of the owner. copies_ask_changes makes the command that
 * reads the settings that have changed since the owner last read the shard. */
void copies_ask(struct redis_draft *, const struct shard *, const char *topic, bool has_owner);
void copies_ask_changes(struct redis_draft *, const struct shard *);

/* copies_read adds a row for two items of topic_list.lua. copies_read_changes takes the reply of
 * topic_changes.lua. copies_add_numbers adds a row like `copy`, with the numbers of the topic's
 * queue. All return false without memory. */
bool copies_read(struct alloc *, struct rows *, unsigned shard, const struct reply *items);
bool copies_read_changes(struct redis_store *, struct copies_told *, unsigned shard,
			 const struct reply *);
bool copies_add_numbers(struct alloc *, struct rows *, const dw_row *copy,
			const struct reply *numbers);

/* copies_answer adds the newest settings of each topic to op, at *tail, and frees the rows. An
 * owner also writes them into each shard that lacks them. If op asks for changes, copies_answer
 * adds only topics that a shard has told. Returns false without memory. */
bool copies_answer(struct redis_store *, struct copies_told *, dw_op *, dw_row ***tail);

/* copies_newest sorts the rows, which are all of this topic, and returns the newest settings among
 * these rows and those that the owner knows. NULL: there are none. */
const dw_row *copies_newest(const struct later *, struct rows *, const char *topic);

/* copies_learn is called when the owner has changed these settings. copies_write writes all
 * settings that are known into a shard, ahead of all commands that are sent later. copies_forget
 * forgets all settings. copies_read_all makes the owner read all settings again. */
void copies_learn(struct redis_store *, const char *topic, const struct reply *settings);
void copies_write(struct redis_store *, struct shard *);
void copies_forget(struct redis_store *);
void copies_read_all(struct redis_store *);

/* copies_begin_write begins a command that writes settings into a shard. The caller adds topic and
 * text for each topic. rare: the text of the script is sent. wakes: the command tells the owner,
 * because the owner is another process. */
void copies_begin_write(struct redis_draft *, const struct shard *, bool rare, bool wakes);

#endif
