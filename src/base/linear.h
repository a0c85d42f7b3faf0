/* A hash table that grows by one bucket an insertion: linear hashing (Litwin 1980; Larson 1988). So
 * no insertion ever pays for all entries. An entry is a struct whose first member is a linear_node.
 * Not its concern: how a key is hashed and compared, and who owns the entries. */
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
	uint32_t bucket_count; /* buckets in use: 2^k + split, where bucket `split` is split next */
};

int linear_init(struct linear *, const struct alloc *);
void linear_free(struct linear *);

/* linear_first: the first entry of the bucket where entries of this hash are, or NULL; `next` leads
 * to the others. */
struct linear_node *linear_first(const struct linear *, uint64_t hash);

/* linear_fetch: this hash will be looked for soon. */
void linear_fetch(const struct linear *, uint64_t hash);

/* linear_add: node->hash is set. 0, or DW_ENOMEM. */
int linear_add(struct linear *, struct linear_node *);
void linear_remove(struct linear *, struct linear_node *);

/* linear_replace puts fresh in the place of old, which has the same hash. Cannot fail. */
void linear_replace(struct linear *, struct linear_node *old, struct linear_node *fresh);

/* linear_visit calls visit for every entry of one bucket; false: there is no such bucket. Going
 * through all of them, with insertions in between, meets every entry that is there all the while.
 * visit may remove the entry. */
bool linear_visit(struct linear *, uint32_t bucket, void (*visit)(struct linear_node *, void *user),
		  void *user);

#endif
