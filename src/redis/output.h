/* Commands that wait to be written to a socket: blocks in a ring. The first block has an offset, so
 * no queued byte is ever moved. The user bounds it by looking at `bytes`. hiredis allocates the
 * blocks with malloc, because version 0.14 has no hooks. */
#ifndef DW_REDIS_OUTPUT_H
#define DW_REDIS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct output_block {
	char *bytes;
	size_t size;
	bool secret; /* overwritten before it is freed */
};

struct output {
	struct alloc alloc;
	struct output_block *ring;
	size_t ring_size; /* a power of two, or 0 */
	size_t first;
	size_t count;
	size_t written; /* of the first block */
	size_t bytes;   /* still to be written */
};

/* output_add formats a command: DW_OK, DW_ENOMEM. output_hide: the last one has a secret. */
int output_add(struct output *, int count, const char *const *words, const size_t *sizes);
void output_hide(struct output *);

/* output_write writes as much as the socket takes now. 0, or errno of a failure. *ret_any:
 * something was written. It never raises SIGPIPE. */
int output_write(struct output *, int fd, bool *ret_any);

/* output_clear forgets what was not written. output_free: the ring, too. */
void output_clear(struct output *);
void output_free(struct output *);

#endif
