/* Limits how long a caller waits. The store answers each operation within its patience. But a call
 * may wait behind another operation on its id, and a verdict is sent again until it is stored. This
 * list contains such calls, in the order of their acceptance. */
#ifndef DW_ENGINE_PATIENCE_H
#define DW_ENGINE_PATIENCE_H

#include "durawheel/durawheel.h"

struct engine;
struct call;

struct patience {
	/* The oldest call; the list is in the order in which calls were accepted. */
	struct call *first;
	struct call *last;
};

/* patience_begin puts a call into the list, patience_end takes it out. */
void patience_begin(struct patience *, struct call *);
void patience_end(struct patience *, struct call *);

/* patience_over returns the first call whose patience is over, or NULL. */
struct call *patience_over(const struct engine *);

/* patience_wake returns when patience_over() will find the next call; wall time. */
dw_usec patience_wake(const struct engine *, dw_usec now);

#endif
