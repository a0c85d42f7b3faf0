/* What happens when the rules of a time zone change: pending occurrences are moved. */
#ifndef DW_ENGINE_ZONES_H
#define DW_ENGINE_ZONES_H

#include "durawheel/time.h"

struct engine;
struct timer;

/* zones_correct moves a pending timer, whose occurrence may have been computed by earlier rules. */
void zones_correct(struct engine *, struct timer *);

/* zones_round looks each hour at the files of the zones in use. */
void zones_round(struct engine *);

#endif
