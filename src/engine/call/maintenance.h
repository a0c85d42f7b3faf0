/* Empties the whole store (purge), and looks through it for damage (check). */
#ifndef DW_ENGINE_MAINTENANCE_H
#define DW_ENGINE_MAINTENANCE_H

#include "durawheel/store.h"

struct engine;
struct call;

struct maintenance {
	uint32_t purging;    /* purges without an answer; no handler starts meanwhile */
	struct call *purged; /* the purge that drops timers from memory now */
};

void maintenance_purged(struct engine *, dw_op *);
void maintenance_show_check(struct engine *, const struct call *);

#endif
