/* Makes timers in memory out of rows of the store. A row replaces what memory knows only if its
 * generation is newer. */
#ifndef DW_ENGINE_LEARN_H
#define DW_ENGINE_LEARN_H

#include "durawheel/store.h"

struct engine;

/* learn_row learns one row. It returns DW_OK or DW_ENOMEM. It returns DW_ENEWER if a newer
 * durawheel has written the row; recovery.newer notes the row then. */
int learn_row(struct engine *, const dw_row *);

/* learn_rows learns a list of rows. If there is no memory for a row, it asks for another scan. */
void learn_rows(struct engine *, const dw_row *);

#endif
