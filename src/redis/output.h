/* What is to be written to a socket: commands as blocks in a ring, the first with an offset, so
 * that nothing that is queued is ever moved. Bounded by its user, who looks at `bytes`. The blocks
 * are made by hiredis, with malloc: 0.14 has no hooks. */
#ifndef DW_REDIS_OUTPUT_H
#define DW_REDIS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct outbox_block {
	char *bytes;
	size_t size;
	bool secret; /* overwritten before it is freed */
};

struct outbox {
	struct alloc alloc;
	struct outbox_block *ring;
	size_t ring_size; /* a power of two, or 0 */
	size_t first;
	size_t count;
	size_t written; /* of the first block */
	size_t bytes;   /* still to be written */
};

/* outbox_add formats a command: DW_OK, DW_ENOMEM. outbox_hide: the last one has a secret. */
int outbox_add(struct outbox *, int count, const char *const *words, const size_t *sizes);
void outbox_hide(struct outbox *);

/* outbox_write writes what the socket takes: 0, also when it takes no more, or errno. *ret_any:
 * something was written. Never a SIGPIPE. */
int outbox_write(struct outbox *, int fd, bool *ret_any);

/* outbox_clear forgets what was not written. outbox_free: the ring, too. */
void outbox_clear(struct outbox *);
void outbox_free(struct outbox *);

#endif
