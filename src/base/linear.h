/* A hash table that grows by one bucket with each insertion: linear hashing (Litwin 1980; Larson
 * 1988). So no single insertion moves all entries. An entry is a struct whose first member is a
 * linear_node. The caller hashes and compares keys, and owns the entries. */
#ifndef DW_BASE_LINEAR_H
#define DW_BASE_LINEAR_H

#include <stdbool.h>

#include "base/segments.h"

struct linear_node {
	struct linear_node *next;
	uint64_t hash;
};

struct linear {
	struct segments buckets;
	const struct alloc *alloc;
	uint32_t count;
	uint32_t bucket_count; /* buckets in use: 2^k + s, where bucket s is split next */
};

int linear_init(struct linear *, const struct alloc *);
void linear_free(struct linear *);

/* linear_first returns the first entry of the bucket for this hash, or NULL. `next` leads to the
 * other entries. */
struct linear_node *linear_first(const struct linear *, uint64_t hash);

/* linear_fetch prefetches the bucket for this hash. */
void linear_fetch(const struct linear *, uint64_t hash);

/* linear_add adds an entry whose hash the caller has set. It returns DW_OK or DW_ENOMEM. linear_put
 * cannot fail. If there is no memory, the table does not grow and only becomes slower. */
int linear_add(struct linear *, struct linear_node *);
void linear_put(struct linear *, struct linear_node *);
void linear_remove(struct linear *, struct linear_node *);

/* linear_replace puts `fresh` in the place of `old`, which has the same hash. It cannot fail. */
void linear_replace(struct linear *, struct linear_node *old, struct linear_node *fresh);

/* linear_visit calls visit for every entry of one bucket. visit may remove the entry. It returns
 * false if the bucket does not exist. A loop over all buckets meets every entry that stays in the
 * table, even if entries are added during the loop. */
bool linear_visit(struct linear *, uint32_t bucket, void (*visit)(struct linear_node *, void *user),
		  void *user);

#endif
