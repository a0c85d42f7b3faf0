/* What the reply to each command may be. */
#ifndef DW_STORE_REDIS_SHAPE_H
#define DW_STORE_REDIS_SHAPE_H

#include <stdbool.h>

#include "redis/reply.h"

struct shape {
	const char *command; /* or the script */
	const char *alternatives;
};

/* shape_of: what the reply to the command, or of the script, may be. */
const struct shape *shape_of(const char *command);

/* shape_fits: the reply has that shape, or is an error. operations: how many the command carries;
 * 0: none. */
bool shape_fits(const struct shape *, const struct reply *, size_t operations);

#endif
