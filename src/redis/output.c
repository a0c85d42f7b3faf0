#include "redis/output.h"

#include <errno.h>
#include <string.h>

#include "durawheel/durawheel.h"

enum { RING_FIRST = 16, VECTORS = 64 };

static struct output_block *block_at(const struct output *output, size_t index)
{
	return &output->ring[(output->first + index) & (output->ring_size - 1)];
}

/* make_room doubles a full ring. In its new place the ring begins at index 0. */
static bool make_room(struct output *output)
{
	size_t size = output->ring_size ? 2 * output->ring_size : RING_FIRST;
	struct output_block *ring;

	if (output->count < output->ring_size)
		return true;
	ring = alloc_new(&output->alloc, size * sizeof *ring);
	if (!ring)
		return false;
	for (size_t i = 0; i < output->count; i++)
		ring[i] = *block_at(output, i);
	alloc_free(&output->alloc, output->ring);
	output->ring = ring;
	output->ring_size = size;
	output->first = 0;
	return true;
}

/* ---- Encoding ------------------------------------------------------------------------------ */

/* line_size returns the size of a line of a command: '*' and the number of words, or '$' and the
 * number of bytes of the next word. */
static size_t line_size(size_t number)
{
	size_t size = 4; /* bytes of '*' or '$', of one digit, and of the end of the line */

	for (; number >= 10; number /= 10)
		size++;
	return size;
}

/* write_line writes such a line, and returns the end of it. */
static char *write_line(char *at, char mark, size_t number)
{
	char *end = at + line_size(number);
	char *digit = end - 2;

	*at = mark;
	do
		*--digit = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	memcpy(end - 2, "\r\n", 2);
	return end;
}

static size_t encoded_size(size_t count, const size_t *sizes)
{
	size_t size = line_size(count);

	for (size_t i = 0; i < count; i++)
		size += line_size(sizes[i]) + sizes[i] + 2;
	return size;
}

static void encode(char *at, size_t count, const char *const *words, const size_t *sizes)
{
	at = write_line(at, '*', count);
	for (size_t i = 0; i < count; i++) {
		at = write_line(at, '$', sizes[i]);
		if (sizes[i] > 0) /* an empty word may be NULL */
			memcpy(at, words[i], sizes[i]);
		memcpy(at + sizes[i], "\r\n", 2);
		at += sizes[i] + 2;
	}
}

int output_add(struct output *output, int count, const char *const *words, const size_t *sizes)
{
	size_t size = encoded_size((size_t)count, sizes);
	char *block =
	    make_room(output) ? output->alloc.resize(output->alloc.user, NULL, size) : NULL;

	if (!block)
		return DW_ENOMEM;
	encode(block, (size_t)count, words, sizes);
	*block_at(output, output->count) = (struct output_block){.bytes = block, .size = size};
	output->count++;
	output->bytes += size;
	output->large += size > OUTPUT_LARGE;
	return DW_OK;
}

/* ---- Writing ------------------------------------------------------------------------------- */

void output_hide(struct output *output)
{
	block_at(output, output->count - 1)->secret = true;
}

static void drop_first(struct output *output)
{
	struct output_block *block = block_at(output, 0);

	if (block->secret)
		explicit_bzero(block->bytes, block->size);
	output->was_large = block->size > OUTPUT_LARGE;
	output->large -= output->was_large;
	alloc_free(&output->alloc, block->bytes);
	output->first = (output->first + 1) & (output->ring_size - 1);
	output->count--;
	output->written = 0;
}

/* pass removes the bytes that the connection has taken. */
static void pass(struct output *output, size_t size)
{
	output->bytes -= size;
	while (output->count > 0 && size >= block_at(output, 0)->size - output->written) {
		size -= block_at(output, 0)->size - output->written;
		drop_first(output);
	}
	output->written += size;
}

static size_t fill(const struct output *output, struct iovec *vectors, size_t most)
{
	size_t count = most < VECTORS ? most : VECTORS;

	for (size_t i = 0; i < count; i++) {
		const struct output_block *block = block_at(output, i);
		size_t skipped = i == 0 ? output->written : 0;

		vectors[i].iov_base = block->bytes + skipped;
		vectors[i].iov_len = block->size - skipped;
	}
	return count;
}

int output_write(struct output *output, struct transport *transport, size_t most)
{
	size_t left = output->count > most ? output->count - most : 0;

	while (output->count > left) {
		struct iovec vectors[VECTORS];
		size_t count = fill(output, vectors, output->count - left);
		ssize_t sent = transport_send(transport, vectors, count);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
		pass(output, (size_t)sent);
	}
	return 0;
}

size_t output_small(const struct output *output)
{
	size_t count = output->large > 0 ? 0 : output->count;

	while (count < output->count && block_at(output, count)->size <= OUTPUT_LARGE)
		count++;
	return count;
}

void output_clear(struct output *output)
{
	while (output->count > 0)
		drop_first(output);
	output->bytes = 0;
	output->was_large = false;
}

void output_free(struct output *output)
{
	output_clear(output);
	alloc_free(&output->alloc, output->ring);
	output->ring = NULL;
	output->ring_size = output->first = 0;
}
