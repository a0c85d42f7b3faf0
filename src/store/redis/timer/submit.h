/* Takes operations over from the engine. */
#ifndef DW_STORE_REDIS_SUBMIT_H
#define DW_STORE_REDIS_SUBMIT_H

#include "durawheel/store.h"

struct redis_store;

/* submit_one takes an operation over. submit_later begins the operations that had to wait until all
 * operations before them were sent. */
void submit_one(struct redis_store *, dw_op *);
void submit_later(struct redis_store *);

#endif
