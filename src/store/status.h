/* A store's answer to STATUS, as one block with its strings. */
#ifndef DW_STORE_STATUS_H
#define DW_STORE_STATUS_H

#include "base/alloc.h"
#include "durawheel/durawheel.h"

/* status_new copies values and the strings to which it points (a NULL string becomes ""). Returns
 * NULL without memory. */
dw_store_status *status_new(const struct alloc *, const dw_store_status *values);

#endif
