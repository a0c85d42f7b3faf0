/* The topics of a table in memory that have settings, with their queues. */
#ifndef DW_STORE_MEMORY_TOPICS_H
#define DW_STORE_MEMORY_TOPICS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

struct set_topic;

struct topics_of {
	struct set_topic *first;
	uint32_t count;
	uint32_t closed;  /* how many topics are paused and take nothing new */
	uint32_t keeping; /* how many topics keep the ends of their timers */
	char *counts;     /* the counts that the owner reported; NULL if it reported none */
};

void topics_of_free(struct topics_of *, const struct alloc *);

/* topics_of_clear drops all messages. */
void topics_of_clear(struct topics_of *);

/* topics_of_closed returns true if the topic is paused and takes nothing new. */
bool topics_of_closed(const struct topics_of *, const char *topic);

/* topics_of_keep returns how long the topic keeps the ends of its timers. It returns 0 if the topic
 * keeps none. */
dw_usec topics_of_keep(const struct topics_of *, const char *topic);

/* topics_of_change answers a TOPIC_SET and TOPIC_DROP, topics_of_list a TOPIC_LIST, and
 * topics_of_queue a PUSH, TAKE and ANSWER. `generation` is the last one that was given. */
void topics_of_change(struct topics_of *, const struct alloc *, dw_op *);
void topics_of_list(struct topics_of *, const struct alloc *, dw_op *, bool has_owner);
void topics_of_queue(struct topics_of *, dw_op *, uint64_t *generation, dw_usec now);

#endif
