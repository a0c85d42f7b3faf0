/* How the engine is driven at this moment. Only the turn, engine_new and engine_begin_close change
 * this struct. */
#ifndef DW_ENGINE_DRIVE_H
#define DW_ENGINE_DRIVE_H

#include <stdbool.h>
#include <sys/types.h>

struct drive {
	int callback_depth; /* how many callbacks of the program are running */
	bool in_turn;
	bool woken;      /* a turn was asked for */
	bool posts_left; /* calls of other threads wait */
	bool closing;
	pid_t pid; /* the process that made the engine; a forked child starts no handler */
};

#endif
