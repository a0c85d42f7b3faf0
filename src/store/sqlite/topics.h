/* The settings of topics in SQLite. */
#ifndef DW_STORE_SQLITE_TOPICS_H
#define DW_STORE_SQLITE_TOPICS_H

#include <stdbool.h>

#include "store/sqlite/meta.h"

/* These functions do a TOPIC_SET, TOPIC_DROP, TOPIC_LIST and TOPIC_COUNT. They set *ret_changed to
 * true if other processes must learn of the change. */
int sqlite_topics_set(struct sqlite_session *, dw_op *, bool *ret_changed);
int sqlite_topics_drop(struct sqlite_session *, dw_op *, bool *ret_changed);
int sqlite_topics_list(struct sqlite_session *, dw_op *);
int sqlite_topics_count(struct sqlite_session *, const dw_op *);

/* sqlite_topics_closed sets *ret_closed to true if the topic is paused and takes no puts. */
int sqlite_topics_closed(struct sqlite_session *, const char *topic, bool *ret_closed);

/* sqlite_topics_keep sets *ret_keep to the time for which the topic keeps the ends of its timers.
 * The time is 0 if the topic keeps none. */
int sqlite_topics_keep(struct sqlite_session *, const char *topic, dw_usec *ret_keep);

#endif
