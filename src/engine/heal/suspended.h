/* Timers that may not start because of their shard wait in the list of the shard. They continue
 * when the shard is in use again. If the shard was lost meanwhile, its timers are dropped. */
#ifndef DW_ENGINE_SUSPENDED_H
#define DW_ENGINE_SUSPENDED_H

struct engine;

void suspended_round(struct engine *);

#endif
