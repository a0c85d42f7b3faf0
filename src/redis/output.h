/* Commands that wait to be written to a connection, as a ring of blocks, one for each command.
 * `written` counts the bytes of the first block that are sent, so no queued byte is ever moved. The
 * link looks at `bytes` to limit the queue. */
#ifndef DW_REDIS_OUTPUT_H
#define DW_REDIS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "redis/transport.h"

/* A command with more bytes than this is large. No server's limit for a command can be set below 1
 * MiB. */
#define OUTPUT_LARGE ((size_t)1 << 19)

struct output_block {
	char *bytes;
	size_t size;
	bool secret; /* the block is overwritten before it is freed */
};

struct output {
	struct alloc alloc;
	struct output_block *ring;
	size_t ring_size; /* number of blocks in the ring: a power of two, or 0 */
	size_t first;
	size_t count;
	size_t written; /* how many bytes of the first block are sent */
	size_t bytes;   /* how many bytes are not sent yet */
	size_t large;   /* how many commands in the ring are large */
	bool was_large; /* the last command that was sent completely was large */
};

/* output_add encodes a command and queues it. Returns DW_OK or DW_ENOMEM. output_hide marks the
 * last command as secret. */
int output_add(struct output *, int count, const char *const *words, const size_t *sizes);
void output_hide(struct output *);

/* output_write writes at most `most` commands, and only as many bytes as the connection takes now.
 * With TLS it first completes a record that was only partly sent, whose commands do not count. It
 * returns 0 or the errno of a failure, and never raises SIGPIPE. */
int output_write(struct output *, struct transport *, size_t most);

/* output_small returns how many commands are queued before the first large one. */
size_t output_small(const struct output *);

/* output_clear drops the commands that are not written. output_free also frees the ring. */
void output_clear(struct output *);
void output_free(struct output *);

#endif
