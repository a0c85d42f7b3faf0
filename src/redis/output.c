#include "redis/output.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

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

int output_add(struct output *output, int count, const char *const *words, const size_t *sizes)
{
	char *block = NULL;
	long long size;

	if (!make_room(output))
		return DW_ENOMEM;
	/* The parameter is not const in hiredis, but hiredis does not change the array. */
	size = redisFormatCommandArgv(&block, count, (const char **)(uintptr_t)words, sizes);
	if (size < 0)
		return DW_ENOMEM;
	*block_at(output, output->count) =
	    (struct output_block){.bytes = block, .size = (size_t)size};
	output->count++;
	output->bytes += (size_t)size;
	return DW_OK;
}

void output_hide(struct output *output)
{
	block_at(output, output->count - 1)->secret = true;
}

static void drop_first(struct output *output)
{
	struct output_block *block = block_at(output, 0);

	if (block->secret)
		explicit_bzero(block->bytes, block->size);
	redisFreeCommand(block->bytes);
	output->first = (output->first + 1) & (output->ring_size - 1);
	output->count--;
	output->written = 0;
}

/* pass removes the bytes that the kernel has taken. */
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

int output_write(struct output *output, int fd, size_t most)
{
	size_t left = output->count > most ? output->count - most : 0;

	while (output->count > left) {
		struct iovec vectors[VECTORS];
		struct msghdr message = {.msg_iov = vectors};
		ssize_t sent;

		message.msg_iovlen = fill(output, vectors, output->count - left);
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
		pass(output, (size_t)sent);
	}
	return 0;
}

void output_clear(struct output *output)
{
	while (output->count > 0)
		drop_first(output);
	output->bytes = 0;
}

void output_free(struct output *output)
{
	output_clear(output);
	alloc_free(&output->alloc, output->ring);
	output->ring = NULL;
	output->ring_size = output->first = 0;
}
