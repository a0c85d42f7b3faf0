/* The ends of timers in memory: the last one of each id, until it expires. */
#ifndef DW_STORE_MEMORY_ENDS_H
#define DW_STORE_MEMORY_ENDS_H

#include "base/alloc.h"
#include "store/memory/id_map.h"
#include "store/memory/skiplist.h"
#include "timer/ended.h"

/* An end is one block: the struct, the links of the skip list, its bytes, the id. */
struct stored_end {
	struct id_map_node name;    /* first */
	struct skiplist_node place; /* due: when it expires */
	const void *bytes;
	size_t size;
};

struct ends {
	struct id_map by_id;
	struct skiplist order;
	uint64_t number; /* of the last one; never used again */
};

/* ends_init: DW_OK, DW_ENOMEM. The allocator must outlive it. */
int ends_init(struct ends *, const struct alloc *);
void ends_free(struct ends *, const struct alloc *);
void ends_clear(struct ends *, const struct alloc *);

/* ends_make makes an end that ends_add takes over; it replaces the id's earlier one. NULL: no
 * memory. */
struct stored_end *ends_make(struct ends *, const struct alloc *, const char *id, const dw_ended *);
void ends_add(struct ends *, const struct alloc *, struct stored_end *);

/* ends_find returns the end of the id, unless it has expired; or NULL. */
const struct stored_end *ends_find(const struct ends *, const char *id, dw_usec now);

/* ends_ask: is there one? If a clock far ahead has kept it, it is kept as long as it says. */
bool ends_ask(struct ends *, const char *id, dw_usec now);

/* ends_forget drops some ends that have expired or are too many. */
void ends_forget(struct ends *, const struct alloc *, dw_usec now);

#endif
