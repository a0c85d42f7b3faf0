/* Planted bugs of the journal. They stand between the engine and its store, in the disk, or in the
 * scripts (fleet/planted_scripts.h). */
#ifndef SIM_OUTAGES_PLANTED_H
#define SIM_OUTAGES_PLANTED_H

#include "durawheel/store.h"

struct member;

struct planted {
	dw_store store; /* first: as the engine sees it */
	dw_store_class type;
	dw_store *real;
	struct member *member;
};

void planted_init(struct planted *, struct member *, dw_store *real);

#endif
