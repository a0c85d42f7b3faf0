#include "engine/queue/message_op.h"

#include <string.h>

#include "engine/core.h"
#include "timer/record.h"
#include "topic/message.h"

dw_op *op_with_topic(struct alloc *alloc, dw_op_kind kind, const char *id, const char *topic,
		     size_t size)
{
	size_t topic_size = strlen(topic) + 1;
	dw_op *op = op_new(alloc, kind, id, NULL, size + topic_size);

	if (!op)
		return NULL;
	memcpy(op_room(op) + size, topic, topic_size);
	op->topic = (const char *)op_room(op) + size;
	op->body_size = size;
	op->body = op_room(op);
	return op;
}

/* record_of_timer makes the record of a message. A message has no rule and no limit of lateness. */
static struct record record_of_timer(const struct timer *timer)
{
	return (struct record){.id = timer->id,
			       .topic = timer->topic->name,
			       .data = timer->data,
			       .data_size = timer->data_size,
			       .id_size = (uint8_t)strlen(timer->id),
			       .topic_size = (uint8_t)strlen(timer->topic->name)};
}

dw_op *message_op(struct alloc *alloc, const struct timer *timer)
{
	struct record record = record_of_timer(timer);
	struct message message = {.head = timer->head, .body_size = record_size(&record)};
	dw_op *op = op_with_topic(alloc, DW_OP_PUSH, timer->id, timer->topic->name,
				  message_size(message.body_size));

	if (!op)
		return NULL;
	message.head.attempt--; /* so the first delivery of the message is this attempt */
	message.head.retries = 0;
	record_encode(&record, op_room(op) + message_size(0));
	message.body = op_room(op) + message_size(0);
	(void)message_write(op_room(op), &message);
	return op;
}
