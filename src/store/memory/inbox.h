/* Lists the changes of clients that the owner has not acknowledged, in the order of their
 * generations, with one entry for each id. */
#ifndef DW_STORE_MEMORY_INBOX_H
#define DW_STORE_MEMORY_INBOX_H

#include <stdbool.h>

#include "store/memory/id_map.h"

struct inbox_entry {
	struct id_map_node name; /* must be the first field */
	struct inbox_entry *before;
	struct inbox_entry *after;
	uint64_t generation;
	bool open; /* the client has deleted a timer that may still start */
	char id[];
};

struct inbox {
	struct id_map by_id;
	struct inbox_entry *first;
	struct inbox_entry *last;
};

/* inbox_init returns DW_OK or DW_ENOMEM. The allocator must outlive the inbox. */
int inbox_init(struct inbox *, const struct alloc *);
void inbox_free(struct inbox *, const struct alloc *);

/* inbox_entry_new makes an entry that is not in the inbox yet. Returns NULL without memory. */
struct inbox_entry *inbox_entry_new(const struct alloc *, const char *id);

/* inbox_add adds the entry. It replaces an earlier entry of the same id. */
void inbox_add(struct inbox *, const struct alloc *, struct inbox_entry *);
void inbox_drop(struct inbox *, const struct alloc *, struct inbox_entry *);
void inbox_clear(struct inbox *, const struct alloc *);

/* inbox_find returns the entry of the id, or NULL. */
struct inbox_entry *inbox_find(const struct inbox *, const char *id);

#endif
