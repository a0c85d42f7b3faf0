/* The store as a whole: emptying it, and looking it through for damage. */
#ifndef DW_ENGINE_MAINTENANCE_H
#define DW_ENGINE_MAINTENANCE_H

#include "durawheel/store.h"

struct engine;
struct call;

struct maintenance {
	uint32_t purging;    /* purges not answered: no handler starts meanwhile */
	struct call *purged; /* whose timers memory is forgetting */
};

void maintenance_purged(struct engine *, dw_op *);
void maintenance_show_check(struct engine *, const struct call *);

#endif
