/* Makes timers in memory out of rows of the store. A row replaces what memory knows only if its
 * generation is newer. */
#ifndef DW_ENGINE_LEARN_H
#define DW_ENGINE_LEARN_H

#include "durawheel/store.h"

struct engine;

/* learn_row learns one row. DW_OK, DW_ENOMEM; DW_ENEWER: a newer durawheel has written the row,
 * which is noted. */
int learn_row(struct engine *, const dw_row *);

/* learn_rows learns a list of rows. If there is no memory for a row, it asks for another scan. */
void learn_rows(struct engine *, const dw_row *);

#endif
