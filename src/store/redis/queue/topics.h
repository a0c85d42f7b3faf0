/* Topics: their settings, and the operations on their queues. Settings are changed in the shard of
 * the topic's name, and are then copied into every shard. These commands have no numbers, so a
 * command that was lost is not sent again. */
#ifndef DW_STORE_REDIS_TOPICS_H
#define DW_STORE_REDIS_TOPICS_H

#include "port/op.h"
#include "store/redis/queue/topic_copies.h"

struct later;
struct redis_store;
struct shard;

struct topic_ops {
	struct op_queue waiting; /* not sent yet, in the order of submission */
	unsigned changing;       /* how many changes are not yet in all shards */
	/* The number of topics is known, and far enough below DW_TOPICS_MAX for several changes at
	 * one time. */
	bool has_room;
	/* Somebody has changed settings. The answer to the next INBOX reports this. */
	bool has_changed;
	struct topic_copies copies; /* topic_copies.h */
};

/* topics_submit takes over an operation on topics. topics_send sends all operations that can be
 * sent now; all go out together, so that pushes of one topic become one command. topics_work reads
 * the calls of consumers, and then does the same as topics_send. topics_overdue gives up operations
 * that have waited for too long. */
void topics_submit(struct later *, dw_op *);
void topics_send(struct redis_store *);
void topics_work(struct redis_store *);
void topics_overdue(struct redis_store *);

/* topics_end answers all operations that were not sent. */
void topics_end(struct redis_store *, int status);
void redis_topics_free(struct redis_store *);

/* topics_note_changes is called when a renewal has returned the shard's number of changes. This
 * number grows with each change of the settings in the shard. */
void topics_note_changes(struct later *, const struct shard *, uint64_t changes);

#endif
