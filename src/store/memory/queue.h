/* The messages of one queue topic in memory. A message waits, is taken, or comes back later; it is
 * in the list of its state and in the list of all, in the order in which they were pushed. */
#ifndef DW_STORE_MEMORY_QUEUE_H
#define DW_STORE_MEMORY_QUEUE_H

#include <stdbool.h>

#include "base/linear.h"
#include "topic/message.h"
#include "topic/settings.h"

struct queue_message;

struct queue_list {
	struct queue_message *first, *last;
	uint64_t count;
};

struct queue {
	struct alloc alloc;
	struct linear by_number;
	struct queue_list all;
	struct queue_list waiting; /* in the order of arrival */
	struct queue_list taken;   /* by the time at which they are handed out again */
	struct queue_list later;   /* by the time at which they come back */
	uint64_t number;           /* the last one given */
	uint64_t dropped, expired;
};

/* queue_init: DW_OK, DW_ENOMEM. */
int queue_init(struct queue *, const struct alloc *);
void queue_free(struct queue *);
void queue_clear(struct queue *); /* drops all messages */

/* queue_push adds all messages of the operation, or none. generation: the last one given. DW_OK,
 * DW_ENOMEM, DW_ELIMIT. */
int queue_push(struct queue *, dw_op *, const struct dw_topic_settings *, uint64_t *generation,
	       dw_usec now);

/* queue_take fills in the answer of a TAKE; queue_answer that of an ANSWER. */
void queue_take(struct queue *, dw_op *, const struct dw_topic_settings *, dw_usec now);
void queue_answer(struct queue *, dw_op *, const struct dw_topic_settings *, dw_usec now);

/* queue_numbers tells the numbers of the queue as text behind the settings; returns its size. */
size_t queue_numbers(const struct queue *, char *text, size_t size);

#endif
