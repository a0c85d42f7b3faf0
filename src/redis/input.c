#include "redis/input.h"

#include <errno.h>

#include "durawheel/durawheel.h"

enum { INPUT_BUDGET = 1 << 20 };

bool input_begin(struct input *input, const struct alloc *alloc)
{
	input->more = true;
	input->closed = false;
	input->bytes[0] = '\0';
	input->reader = reply_reader_new(alloc);
	return input->reader != NULL;
}

void input_end(struct input *input)
{
	reply_reader_free(input->reader);
	input->reader = NULL;
}

void input_allow(struct input *input)
{
	input->budget = INPUT_BUDGET;
	input->more = true;
}

/* read_some reads once from the connection, and passes the bytes to the reader. Returns NULL, or
 * why the connection cannot be used any more. */
static const char *read_some(struct input *input, struct transport *transport, bool *ret_heard)
{
	ssize_t got = transport_receive(transport, input->bytes, sizeof input->bytes, &input->more);
	bool interrupted = got < 0 && errno == EINTR;

	input->closed = got == 0 || (got < 0 && errno == ECONNRESET);
	if (got == 0)
		return "the server closed the connection";
	if (got < 0)
		return interrupted || errno == EAGAIN || errno == EWOULDBLOCK ? NULL
									      : transport->words;
	*ret_heard = true;
	input->budget -= (size_t)got < input->budget ? (size_t)got : input->budget;
	return reply_feed(input->reader, input->bytes, (size_t)got) ? NULL
								    : "no memory for a reply";
}

static const char *parse(struct input *input, struct reply **ret_reply)
{
	int status = reply_next(input->reader, ret_reply);

	if (status == DW_ENOMEM)
		return "no memory for a reply";
	return status == DW_OK
		   ? NULL
		   : "the server sent bytes that are not Redis' protocol, or a reply that "
		     "is too large";
}

const char *input_next(struct input *input, struct transport *transport, bool *ret_heard,
		       struct reply **ret_reply)
{
	const char *failure = parse(input, ret_reply);

	while (!failure && !*ret_reply && input->more && input->budget > 0) {
		failure = read_some(input, transport, ret_heard);
		if (!failure)
			failure = parse(input, ret_reply);
	}
	return failure;
}

size_t input_announced(const struct input *input)
{
	return reply_announced(input->reader);
}
