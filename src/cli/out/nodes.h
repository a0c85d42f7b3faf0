/* The servers of a store that may have several, as JSON and as rows of a table. */
#ifndef DW_CLI_OUT_NODES_H
#define DW_CLI_OUT_NODES_H

#include <jansson.h>

#include "durawheel/members.h"

/* nodes_array returns an object for each server, or NULL: the store always has the same one, or
 * there is no memory. */
json_t *nodes_array(const dw *);

/* nodes_add adds them to the object as "nodes", if there are some. */
void nodes_add(json_t *object, const dw *);

/* nodes_print prints a row for each server. */
void nodes_print(const dw *);

#endif
