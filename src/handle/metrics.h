/* What dw_metrics() shows: the owner's report, the topics, and the status of the store. */
#ifndef DW_HANDLE_METRICS_H
#define DW_HANDLE_METRICS_H

#include <stdbool.h>

#include "durawheel/topic.h"
#include "engine/engine.h"
#include "engine/call/numbers.h"

struct metrics {
	struct alloc alloc;
	/* The last answers of the store. */
	dw_usec asked_at; /* steady; 0: never */
	unsigned waiting; /* answers that have not come */
	int status;       /* of the last answer */
	bool is_heard;    /* there was an answer with DW_OK */
	uint64_t
	    heard_in; /* the outage in which the last one came: the store refuses changes; or 0 */
	dw_topic_info *topics;
	size_t count;
	dw_store_status store;    /* without its strings */
	bool is_owned;            /* the store has named an owner */
	bool has_standby;         /* and a process that stands by */
	bool has_owner;           /* when the text is written */
	bool is_up;               /* the store answers */
	char report[REPORT_SIZE]; /* "": none */
};

/* metrics_free also takes NULL. */
void metrics_free(struct metrics *);

/* metrics_write_away writes what is known without the store and its owner. */
size_t metrics_write_away(char *text, size_t size);

/* metrics_write writes the text: see dw_metrics(). Returns the size of all lines. report: "" if
 * nobody has told one. */
size_t metrics_write(const struct metrics *, const char *report, char *text, size_t size);

#endif
