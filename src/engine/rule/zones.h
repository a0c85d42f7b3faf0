/* What happens when the rules of a time zone change: pending occurrences are moved. */
#ifndef DW_ENGINE_ZONES_H
#define DW_ENGINE_ZONES_H

#include "durawheel/time.h"

struct engine;
struct timer;

/* zones_correct moves a pending timer, whose occurrence may have been computed by earlier rules. */
void zones_correct(struct engine *, struct timer *);

/* zones_learnt is called when a recurring timer was read from the store. It is corrected; or it is
 * noted that its zone is not known, without memory only when it is due. */
void zones_learnt(struct engine *, struct timer *);

/* zones_round tells of zones that are not known, of each once an hour. It begins when the timers
 * are loaded. Each hour it looks at the files of the zones in use. */
void zones_round(struct engine *);

/* zones_wake returns when it is to tell of one, or DW_NEVER; wall time. */
dw_usec zones_wake(const struct engine *, dw_usec now);

#endif
