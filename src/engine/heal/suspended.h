/* Timers that may not start because of their shard wait in its list. They go on when it is in use
 * again. Those of a shard that was lost meanwhile are dropped. */
#ifndef DW_ENGINE_SUSPENDED_H
#define DW_ENGINE_SUSPENDED_H

struct engine;

void suspended_round(struct engine *);

#endif
