/* The fields of a table of timers, and the operations that only read it. */
#ifndef DW_STORE_MEMORY_TABLE_SCAN_H
#define DW_STORE_MEMORY_TABLE_SCAN_H

#include <stddef.h>
#include <string.h>

#include "store/memory/dead_letters.h"
#include "store/memory/ends.h"
#include "store/memory/id_map.h"
#include "store/memory/inbox.h"
#include "store/memory/skiplist.h"
#include "store/memory/table.h"
#include "store/memory/topics.h"

/* A timer is one block: the struct, the links of the skip list, body, id, topic. */
struct stored_timer {
	struct id_map_node name; /* must be the first field */
	struct skiplist_node place;
	struct life_record record;
	const char *topic;
	const void *body;
	size_t body_size;
	char *why; /* allocated as a block of its own, or NULL */
};

struct timer_table {
	struct alloc alloc;
	struct id_map timers;
	struct skiplist order;
	struct inbox inbox;
	uint64_t generation; /* the last generation that was given to a timer */
	uint64_t claimed;
	struct dead_letters dead;
	char *owner;
	char *report;
	dw_usec owner_since;
	dw_usec owner_seen;
	dw_usec now; /* the time of the current operation (wall clock) */
	struct topics_of topics;
	struct ends ends;
};

static inline struct stored_timer *stored_at(struct skiplist_node *node)
{
	return node ? (struct stored_timer *)(void *)((char *)node -
						      offsetof(struct stored_timer, place))
		    : NULL;
}

static inline bool stored_is_claimed(const struct stored_timer *timer)
{
	return timer->record.head.state == DW_CLAIMED;
}

static inline struct why stored_why(const struct stored_timer *timer)
{
	return (struct why){timer->why, timer->why ? strlen(timer->why) : 0};
}

/* table_find returns the timer of the id, or NULL. */
static inline struct stored_timer *table_find(const struct timer_table *table, const char *id)
{
	return (struct stored_timer *)(void *)id_map_find(&table->timers, id); /* the first field */
}

/* table_row makes a row of the timer for an answer. Returns NULL without memory. */
dw_row *table_row(struct timer_table *, const struct stored_timer *);

/* These functions fill in an operation's answer. table_read_inbox returns false if the inbox has
 * nothing new. */
void table_scan(struct timer_table *, dw_op *);
bool table_read_inbox(struct timer_table *, dw_op *);
void table_scan_dead(struct timer_table *, dw_op *);
void table_status(struct timer_table *, dw_op *);
void table_count_due(struct timer_table *, dw_op *);

#endif
