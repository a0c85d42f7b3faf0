/* Rows of the store become timers in memory. A row is newer than what memory knows only if its
 * generation says so. */
#ifndef DW_ENGINE_LEARN_H
#define DW_ENGINE_LEARN_H

#include "durawheel/store.h"

struct engine;

/* learn_row: DW_OK, DW_ENOMEM, or DW_ENEWER for a row of a newer durawheel, which is noted. */
int learn_row(struct engine *, const dw_row *);

/* learn_rows learns a list of rows. Without memory for a row, it asks for another scan. */
void learn_rows(struct engine *, const dw_row *);

#endif
