/* Checks the whole namespace. */
#ifndef DW_STORE_REDIS_CHECK_H
#define DW_STORE_REDIS_CHECK_H

#include "port/op.h"

struct redis_store;

void check_begin(struct redis_store *, dw_op *);

#endif
