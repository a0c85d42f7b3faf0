/* Topics: their settings, and the operations on their queues. Settings change in the shard of the
 * topic's name, and are copied into every shard. These commands have no numbers: one that was lost
 * is not sent again. */
#ifndef DW_STORE_REDIS_TOPICS_H
#define DW_STORE_REDIS_TOPICS_H

#include "port/op.h"
#include "store/redis/queue/topic_copies.h"

struct later;
struct redis_store;
struct shard;

struct topic_ops {
	struct op_queue waiting; /* not sent yet, in the order of submission */
	unsigned changing;       /* changes that are not in all shards yet */
	bool has_room;    /* there are not almost too many topics; false: or it is not known */
	bool has_changed; /* settings were changed by somebody; the inbox tells it */
	struct topic_copies copies; /* topic_copies.h */
};

/* topics_submit takes over an operation of a topic. topics_send sends those that can be sent; all
 * that are there go out together, so that pushes of one topic are one command. topics_work does so,
 * and listens to those of consumers. topics_overdue gives up those that have waited too long. */
void topics_submit(struct later *, dw_op *);
void topics_send(struct redis_store *);
void topics_work(struct redis_store *);
void topics_overdue(struct redis_store *);

/* topics_end answers all that was not sent. */
void topics_end(struct redis_store *, int status);
void redis_topics_free(struct redis_store *);

/* topics_note_changes is called when a renewal has told the number that is another one after each
 * change of the settings in the shard. */
void topics_note_changes(struct later *, const struct shard *, uint64_t changes);

#endif
