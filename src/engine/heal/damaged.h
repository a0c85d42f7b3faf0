/* Rows of the store that cannot be trusted: an event reports them, and they become dead letters. */
#ifndef DW_ENGINE_DAMAGED_H
#define DW_ENGINE_DAMAGED_H

#include "timer/record.h"

struct engine;
struct timer;

/* damaged_flaw returns words that say what is wrong with a row, to be printed after the row's id.
 * room is a buffer for these words. */
const char *damaged_flaw(const dw_row *, char room[RECORD_WORDS_SIZE]);

/* damaged_row and damaged_timer report damage in a row that was read, or in a timer that was
 * claimed. */
void damaged_row(struct engine *, const dw_row *);
void damaged_timer(struct engine *, const struct timer *);

/* damaged_buried handles the answer to the BURY. The row is a dead letter now. */
void damaged_buried(struct engine *, const dw_op *);

/* damaged_dropped reports that the store has dropped old dead letters. */
void damaged_dropped(struct engine *, const dw_op *);

#endif
