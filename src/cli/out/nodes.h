/* Shows the servers of a store that may have several servers, as JSON and as rows of a table. */
#ifndef DW_CLI_OUT_NODES_H
#define DW_CLI_OUT_NODES_H

#include <jansson.h>

#include "durawheel/members.h"

/* nodes_array returns an array with an object for each server. Returns NULL if the store always has
 * one server, or if out of memory. */
json_t *nodes_array(const dw *);

/* nodes_add adds the array of nodes_array() to the object as "nodes", unless it is NULL. */
void nodes_add(json_t *object, const dw *);

/* nodes_print prints a row for each server. */
void nodes_print(const dw *);

#endif
