/* The nodes, as dw_get_node() shows them to the program. */
#ifndef DW_STORE_REDIS_SHOWN_H
#define DW_STORE_REDIS_SHOWN_H

#include <stddef.h>

#include "durawheel/store.h"

/* shown_node implements dw_store_class.node. */
int shown_node(const dw_store *, size_t number, dw_node *ret_node);

#endif
