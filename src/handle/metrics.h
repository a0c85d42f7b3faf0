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
	dw_usec asked_at; /* steady; when the store was last asked; 0: never */
	unsigned waiting; /* number of answers that have not come yet */
	int status;       /* the status of the last answer */
	bool is_heard;    /* at least one answer had the status DW_OK */
	uint64_t
	    /* The number of the outage in which the last answer came; 0: it came in no outage. A
	     * store that refuses changes still answers. */
	    heard_in;
	dw_topic_info *topics;
	size_t count;
	dw_store_status store; /* a copy; its pointers to strings are not used */
	bool is_owned;         /* the store has named an owner */
	bool has_standby;      /* the store has named a process that waits as a standby */
	bool has_owner;        /* an owner was heard of recently; set when the text is written */
	bool is_up;            /* the store answers */
	/* As this handle sees them; set when the text is written. */
	unsigned nodes, nodes_away, refused;
	char report[REPORT_SIZE]; /* the owner's report; "": none */
};

/* metrics_free does nothing with NULL. */
void metrics_free(struct metrics *);

/* metrics_write_away writes the text of a handle whose store is away. */
size_t metrics_write_away(char *text, size_t size);

/* metrics_write writes the text of dw_metrics(), and returns the size of all lines. report is "" if
 * no owner has written one. */
size_t metrics_write(const struct metrics *, const char *report, char *text, size_t size);

#endif
