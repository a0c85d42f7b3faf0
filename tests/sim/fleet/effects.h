/* Reports the effects of a script to the promises, as operations. The script's reply names the
 * effect on each operand. */
#ifndef SIM_FLEET_EFFECTS_H
#define SIM_FLEET_EFFECTS_H

#include <stddef.h>

struct fleet;
struct process;
struct reply;

/* argv is ARGV, from 0. */
struct effect {
	struct fleet *fleet;
	const char *script;
	unsigned shard;
	int argc;
	const char *const *argv;
	const size_t *sizes;
	const struct reply *reply;
	const struct process *caller; /* NULL: its connection is lost */
};

void effects_tell(const struct effect *);

#endif
