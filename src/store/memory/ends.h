/* The ends of timers in memory. The last end of each id is kept until it expires. */
#ifndef DW_STORE_MEMORY_ENDS_H
#define DW_STORE_MEMORY_ENDS_H

#include "base/alloc.h"
#include "store/memory/id_map.h"
#include "store/memory/skiplist.h"
#include "timer/ended.h"

/* A remembered end is one block: the struct, the links of the skip list, the bytes, the id. */
struct stored_end {
	struct id_map_node name;    /* must be the first field */
	struct skiplist_node place; /* place.due: when the end expires */
	const void *bytes;
	size_t size;
};

struct ends {
	struct id_map by_id;
	struct skiplist order;
	uint64_t number; /* the last number that was given to an end; no number is used twice */
};

/* ends_init returns DW_OK or DW_ENOMEM. The allocator must outlive the ends. */
int ends_init(struct ends *, const struct alloc *);
void ends_free(struct ends *, const struct alloc *);
void ends_clear(struct ends *, const struct alloc *);

/* ends_make makes an end for ends_add. Returns NULL without memory. ends_add takes the end over,
 * and replaces an earlier end of the same id. */
struct stored_end *ends_make(struct ends *, const struct alloc *, const char *id, const dw_ended *);
void ends_add(struct ends *, const struct alloc *, struct stored_end *);

/* ends_find returns the end of the id, or NULL if there is none or it has expired. */
const struct stored_end *ends_find(const struct ends *, const char *id, dw_usec now);

/* ends_ask returns true if the id has an end that has not expired. If the end was kept while the
 * clock was far ahead, it would expire too late: ends_ask then corrects when it expires. */
bool ends_ask(struct ends *, const char *id, dw_usec now);

/* ends_forget drops some ends that have expired or are too many. */
void ends_forget(struct ends *, const struct alloc *, dw_usec now);

#endif
