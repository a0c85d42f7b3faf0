/* Messages of a queue as bytes, for the operation that pushes them. Each message is a head and a
 * body in the form of timer/record.h. This file also reads the tokens of messages that were
 * taken. */
#ifndef DW_TOPIC_MESSAGE_H
#define DW_TOPIC_MESSAGE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"

/* The struct points to the body and does not copy it. Only these fields of the head are used:
 * generation (0: the message was no timer, and the store chooses a number), due, attempt (attempts
 * before the push) and retries. */
struct message {
	dw_head head;
	const unsigned char *body;
	size_t body_size;
};

size_t message_size(size_t body_size);

/* message_write writes a message, and returns the address behind it. */
unsigned char *message_write(unsigned char *at, const struct message *);

/* message_next reads the message at *at, and moves *at behind it. It returns false if there is none
 * left. The bytes come from message_write(). */
bool message_next(const unsigned char **at, const unsigned char *end, struct message *);

/* message_count counts the messages in these bytes. */
uint64_t message_count(const void *bytes, size_t size);

/* message_is_new returns true if these bytes begin with a message that was no timer. A topic whose
 * intake is paused refuses such a message. A timer was accepted before, so its message may
 * enter. */
bool message_is_new(const void *bytes, size_t size);

/* message_fits returns true if one more body fits into the answer of a take that already has
 * `bytes` bytes. The first message always fits. */
static inline bool message_fits(size_t bytes, size_t body_size)
{
	return bytes == 0 || bytes + body_size <= DW_TAKE_BYTES;
}

/* A store's token has two parts, as in "17/2": the first one names the message, the second one its
 * delivery. In Redis the first part has several numbers,
 * "1795478400000016-1795478400031416-0/2". */
#define MESSAGE_TOKEN_SIZE 56

/* token_split finds the topic of a program's token, "TOPIC/17/2", and the store's part behind it.
 * It returns false if the text does not have this form. A topic may contain slashes. */
bool token_split(const char *token, char ret_topic[DW_TOPIC_MAX + 1], const char **ret_own);

/* token_numbers reads the two numbers of a store's token. It returns false if the token has another
 * form. */
bool token_numbers(const char *own, uint64_t *ret_number, uint64_t *ret_delivery);

#endif
