/* Turns the bytes of one connection into replies. It reads and parses alternately, so few bytes
 * wait unparsed. One turn reads at most a fixed number of bytes. */
#ifndef DW_REDIS_INPUT_H
#define DW_REDIS_INPUT_H

#include "redis/reply.h"
#include "redis/transport.h"

enum { INPUT_SIZE = 1 << 16 }; /* the most bytes that one read takes */

struct input {
	struct reply_reader *reader; /* NULL if there is no connection */
	size_t budget;               /* bytes that may still be read in this turn */
	bool more;                   /* the connection may have more bytes */
	bool closed;                 /* the peer has closed the connection */
	char bytes[INPUT_SIZE];
};

/* input_begin starts with a new connection. Returns false without memory. input_end may also be
 * called without a connection. */
bool input_begin(struct input *, const struct alloc *);
void input_end(struct input *);

/* input_allow begins a turn, and so allows the full number of bytes again. */
void input_allow(struct input *);

/* input_next reads until the next reply is complete or no more bytes are there. It sets *ret_reply
 * to the reply, or to NULL, and *ret_heard to true if there were bytes. It returns NULL, or why the
 * connection cannot be used any more. */
const char *input_next(struct input *, struct transport *, bool *ret_heard,
		       struct reply **ret_reply);

/* input_announced returns reply_announced() of the reply that is arriving. */
size_t input_announced(const struct input *);

#endif
