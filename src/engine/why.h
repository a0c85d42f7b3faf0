/* What a timer waits for, as the memory of its owner knows it. */
#ifndef DW_ENGINE_WHY_H
#define DW_ENGINE_WHY_H

#include <stdbool.h>

#include "durawheel/why.h"

struct engine;

/* engine_knows_why fills in waits, topic, due, until, since and detail of the timer, and returns
 * true, if this engine owns the timer and has it in memory. The texts are valid until the next
 * turn. */
bool engine_knows_why(const struct engine *, const char *id, dw_why *ret_why);

/* engine_shard_of returns the shard of the id, or -1 if only one process can own the store. */
int engine_shard_of(const struct engine *, const char *id);

/* engine_clock returns the wall clock of the engine. */
dw_usec engine_clock(const struct engine *);

#endif
