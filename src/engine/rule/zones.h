/* What happens when the rules of a time zone change: pending occurrences are moved. */
#ifndef DW_ENGINE_ZONES_H
#define DW_ENGINE_ZONES_H

#include "durawheel/time.h"

struct engine;
struct timer;

/* zones_correct moves a pending timer, whose occurrence may have been computed by earlier rules. */
void zones_correct(struct engine *, struct timer *);

/* zones_learnt is called when a recurring timer was read from the store. The timer is corrected, or
 * its unknown zone is noted. If there is no memory for the note, the zone is noted when the timer
 * is due. */
void zones_learnt(struct engine *, struct timer *);

/* zones_round reports zones that are not known, each of them once an hour. It begins when the
 * timers are loaded. Once an hour it looks at the files of the zones in use. */
void zones_round(struct engine *);

/* zones_wake returns when zones_round must report a zone, or DW_NEVER; wall time. */
dw_usec zones_wake(const struct engine *, dw_usec now);

#endif
