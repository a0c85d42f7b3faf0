/* How the engine is driven at this moment. The turn, engine_new and engine_begin_close change
 * it. */
#ifndef DW_ENGINE_DRIVE_H
#define DW_ENGINE_DRIVE_H

#include <stdbool.h>
#include <sys/types.h>

struct drive {
	int callback_depth; /* callbacks of the program on the stack */
	bool in_turn;
	bool woken;      /* a turn was asked for */
	bool posts_left; /* other threads have asked for more than one turn does */
	bool closing;
	pid_t pid; /* of the process that made the engine; a forked child starts no handler */
};

#endif
