#include "redis/output.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "durawheel/durawheel.h"

enum { RING_FIRST = 16, VECTORS = 64 };

static struct outbox_block *block_at(const struct outbox *outbox, size_t index)
{
	return &outbox->ring[(outbox->first + index) & (outbox->ring_size - 1)];
}

/* make_room keeps the order: the ring begins at 0 in its new place. */
static bool make_room(struct outbox *outbox)
{
	size_t size = outbox->ring_size ? 2 * outbox->ring_size : RING_FIRST;
	struct outbox_block *ring;

	if (outbox->count < outbox->ring_size)
		return true;
	ring = alloc_new(&outbox->alloc, size * sizeof *ring);
	if (!ring)
		return false;
	for (size_t i = 0; i < outbox->count; i++)
		ring[i] = *block_at(outbox, i);
	alloc_free(&outbox->alloc, outbox->ring);
	outbox->ring = ring;
	outbox->ring_size = size;
	outbox->first = 0;
	return true;
}

int outbox_add(struct outbox *outbox, int count, const char *const *words, const size_t *sizes)
{
	char *block = NULL;
	long long size;

	if (!make_room(outbox))
		return DW_ENOMEM;
	/* The array is not hiredis' to change, and it changes nothing in it. */
	size = redisFormatCommandArgv(&block, count, (const char **)(uintptr_t)words, sizes);
	if (size < 0)
		return DW_ENOMEM;
	*block_at(outbox, outbox->count) =
	    (struct outbox_block){.bytes = block, .size = (size_t)size};
	outbox->count++;
	outbox->bytes += (size_t)size;
	return DW_OK;
}

void outbox_hide(struct outbox *outbox)
{
	block_at(outbox, outbox->count - 1)->secret = true;
}

static void drop_first(struct outbox *outbox)
{
	struct outbox_block *block = block_at(outbox, 0);

	if (block->secret)
		explicit_bzero(block->bytes, block->size);
	redisFreeCommand(block->bytes);
	outbox->first = (outbox->first + 1) & (outbox->ring_size - 1);
	outbox->count--;
	outbox->written = 0;
}

/* pass: so many bytes are with the kernel. */
static void pass(struct outbox *outbox, size_t size)
{
	outbox->bytes -= size;
	while (outbox->count > 0 && size >= block_at(outbox, 0)->size - outbox->written) {
		size -= block_at(outbox, 0)->size - outbox->written;
		drop_first(outbox);
	}
	outbox->written += size;
}

static size_t fill(const struct outbox *outbox, struct iovec *vectors)
{
	size_t count = outbox->count < VECTORS ? outbox->count : VECTORS;

	for (size_t i = 0; i < count; i++) {
		const struct outbox_block *block = block_at(outbox, i);
		size_t skipped = i == 0 ? outbox->written : 0;

		vectors[i].iov_base = block->bytes + skipped;
		vectors[i].iov_len = block->size - skipped;
	}
	return count;
}

int outbox_write(struct outbox *outbox, int fd, bool *ret_any)
{
	*ret_any = false;
	while (outbox->count > 0) {
		struct iovec vectors[VECTORS];
		struct msghdr message = {.msg_iov = vectors};
		ssize_t sent;

		message.msg_iovlen = fill(outbox, vectors);
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
		pass(outbox, (size_t)sent);
		*ret_any = true;
	}
	return 0;
}

void outbox_clear(struct outbox *outbox)
{
	while (outbox->count > 0)
		drop_first(outbox);
	outbox->bytes = 0;
}

void outbox_free(struct outbox *outbox)
{
	outbox_clear(outbox);
	alloc_free(&outbox->alloc, outbox->ring);
	outbox->ring = NULL;
	outbox->ring_size = outbox->first = 0;
}
