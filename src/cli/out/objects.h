/* JSON objects about timers, topics and the store, for the command's --json and for the web server.
 * The functions that make an object return NULL if out of memory. */
#ifndef DW_CLI_OBJECTS_H
#define DW_CLI_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/topic.h"

json_t *object_of_status(const dw_store_status *);
json_t *object_of_topic(const dw_topic_info *);

/* pause_name returns "no", "delivery", "intake" or "both". */
const char *pause_name(unsigned paused);

#endif
