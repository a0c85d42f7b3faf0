/* The messages of one queue topic in memory. A message waits, is taken, or returns later. It is in
 * the list of its state, and in the list of all messages in the order in which they were pushed. */
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
	struct queue_list waiting; /* the messages that wait, in the order of arrival */
	/* Taken messages, by the time at which they are handed out again. */
	struct queue_list taken;
	struct queue_list later; /* messages that return later, by the time of their return */
	uint64_t number;         /* the last number that was given to a message */
	uint64_t dropped, expired;
};

/* queue_init returns DW_OK or DW_ENOMEM. */
int queue_init(struct queue *, const struct alloc *);
void queue_free(struct queue *);
void queue_clear(struct queue *); /* drops all messages */

/* queue_push adds all messages of the operation, or none. *generation is the last generation that
 * was given. Returns DW_OK, DW_ENOMEM or DW_ELIMIT. */
int queue_push(struct queue *, dw_op *, const struct dw_topic_settings *, uint64_t *generation,
	       dw_usec now);

/* queue_take fills in the answer to a TAKE, and queue_answer the answer to an ANSWER. */
void queue_take(struct queue *, dw_op *, const struct dw_topic_settings *, dw_usec now);
void queue_answer(struct queue *, dw_op *, const struct dw_topic_settings *, dw_usec now);

/* queue_numbers writes the numbers of the queue as text, to stand behind the settings. Returns the
 * size of the text. */
size_t queue_numbers(const struct queue *, char *text, size_t size);

#endif
