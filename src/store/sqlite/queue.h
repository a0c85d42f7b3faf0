/* The messages of queue topics in SQLite. */
#ifndef DW_STORE_SQLITE_QUEUE_H
#define DW_STORE_SQLITE_QUEUE_H

#include "durawheel/store.h"
#include "durawheel/topic.h"
#include "store/sqlite/meta.h"

/* A topic, as its row in the database describes it. */
struct sqlite_topic {
	sqlite3_int64 number; /* the row's number; 0 if there is no row */
	dw_topic_settings settings;
	int64_t messages;
	int64_t dropped, expired;
};

/* sqlite_topic_find reads the row of a topic. */
int sqlite_topic_find(struct sqlite_session *, const char *name, struct sqlite_topic *ret_topic);

/* sqlite_queue_push, sqlite_queue_take and sqlite_queue_answer do a PUSH, TAKE and ANSWER.
 * sqlite_queue_asks only sets the status that a PUSH would have. */
int sqlite_queue_push(struct sqlite_session *, dw_op *);
int sqlite_queue_asks(struct sqlite_session *, dw_op *);
int sqlite_queue_take(struct sqlite_session *, dw_op *);
int sqlite_queue_answer(struct sqlite_session *, dw_op *);

/* sqlite_queue_numbers writes the numbers of a queue behind its settings. */
int sqlite_queue_numbers(struct sqlite_session *, const struct sqlite_topic *, char *text,
			 size_t size);

#endif
