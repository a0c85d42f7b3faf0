#include "cli/out/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 2 * 1024 * 1024 + 1 };
_Static_assert(CAPACITY > READER_LINE_MAX, "a full buffer without a newline is a line too long");

bool reader_open(struct reader *reader, int fd)
{
	*reader = (struct reader){.fd = fd, .bytes = malloc(CAPACITY)};
	return reader->bytes != NULL;
}

void reader_close(struct reader *reader)
{
	free(reader->bytes);
}

/* give returns the line of `size` bytes that begins at `start`, and ends it with a NUL. */
static enum reader_state give(struct reader *reader, size_t size, const char **ret_line,
			      size_t *ret_size)
{
	bool too_long = reader->skipping || size > READER_LINE_MAX;

	*ret_line = reader->bytes + reader->start;
	*ret_size = size;
	reader->skipping = false;
	reader->number++;
	reader->taken += size + 1;
	return too_long ? READER_LONG : READER_LINE;
}

enum reader_state reader_next(struct reader *reader, const char **ret_line, size_t *ret_size)
{
	size_t left = reader->end - reader->start;
	const char *newline = memchr(reader->bytes + reader->start, '\n', left);
	enum reader_state state;

	if (newline) {
		left = (size_t)(newline - reader->bytes) - reader->start;
		state = give(reader, left, ret_line, ret_size);
		reader->start += left + 1;
		return state;
	}
	if (!reader->ended)
		return READER_MORE;
	if (left == 0 && !reader->skipping)
		return READER_END;
	state = give(reader, left, ret_line, ret_size);
	reader->start = reader->end;
	return state;
}

bool reader_fill(struct reader *reader)
{
	ssize_t got;

	if (reader->start > 0) {
		reader->end -= reader->start;
		memmove(reader->bytes, reader->bytes + reader->start, reader->end);
		reader->start = 0;
	}
	if (reader->end == CAPACITY) {
		reader->skipping = true;
		reader->taken += reader->end;
		reader->end = 0;
	}
	do
		got = read(reader->fd, reader->bytes + reader->end, CAPACITY - reader->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	reader->end += (size_t)got;
	reader->ended = got == 0;
	return true;
}
