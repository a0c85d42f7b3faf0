/* Says what the reply to each command may look like. */
#ifndef DW_STORE_REDIS_SHAPE_H
#define DW_STORE_REDIS_SHAPE_H

#include <stdbool.h>

#include "redis/reply.h"
#include "store/redis/wire/script.h"

/* The numbers of the commands. The plain commands of Redis that this store uses follow after the
 * scripts. PAGE_SCORES is the script page when it is asked for all scores. */
enum redis_command_id {
	COMMAND_EVAL = SCRIPT_COUNT,
	COMMAND_EVALSHA,
	COMMAND_CLUSTER,
	COMMAND_CONFIG,
	COMMAND_INFO,
	COMMAND_TIME,
	COMMAND_HGET,
	COMMAND_HMGET,
	COMMAND_HSET,
	COMMAND_SCRIPT,
	COMMAND_UNLINK,
	COMMAND_ZCARD,
	COMMAND_PAGE_SCORES,
	COMMAND_COUNT
};

struct shape {
	const char *command; /* the name of the command or of the script */
	const char *alternatives;
};

/* shape_of returns the shape of the reply to a command (enum redis_command_id or
 * redis_script_id). */
const struct shape *shape_of(unsigned command);

/* shape_fits returns true if the reply has that shape or is an error. `operations` is how many
 * operations the command carries; 0 if it carries none. */
bool shape_fits(const struct shape *, const struct reply *, size_t operations);

#endif
