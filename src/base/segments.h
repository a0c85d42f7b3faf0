/* An array of pointers that grows without moving: segments of a fixed size, and a short directory
 * of them. Doubling one block would copy millions of pointers in one pause. */
#ifndef DW_BASE_SEGMENTS_H
#define DW_BASE_SEGMENTS_H

#include <stdint.h>

#include "base/alloc.h"

#define SEGMENT_BITS 12
#define SEGMENT_SIZE (1u << SEGMENT_BITS)

struct segments {
	void ***directory;
	uint32_t segment_count;
	uint32_t directory_size;
};

/* segments_reserve makes every index below count usable. New entries are NULL. It returns DW_OK or
 * DW_ENOMEM. */
int segments_reserve(struct segments *, const struct alloc *, uint32_t count);
void segments_free(struct segments *, const struct alloc *);

/* segments_at returns the address of an entry whose index is reserved. */
static inline void **segments_at(const struct segments *segments, uint32_t index)
{
	return &segments->directory[index >> SEGMENT_BITS][index & (SEGMENT_SIZE - 1)];
}

#endif
