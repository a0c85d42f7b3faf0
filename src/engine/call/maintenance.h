/* Empties the whole store (purge), and looks through it for damage (check). */
#ifndef DW_ENGINE_MAINTENANCE_H
#define DW_ENGINE_MAINTENANCE_H

#include "durawheel/store.h"

struct engine;
struct call;

struct maintenance {
	uint32_t purging; /* number of purges that are not answered; until then no handler starts */
	struct call *purged; /* the purge whose walk drops timers from memory now */
	unsigned term;       /* the term in which the purge `purged` was sent */
};

void maintenance_purged(struct engine *, dw_op *);
void maintenance_show_check(struct engine *, const struct call *);

#endif
