/* The allocator of a handle: the caller's hook, or realloc and free. The library never calls malloc
 * directly. */
#ifndef DW_BASE_ALLOC_H
#define DW_BASE_ALLOC_H

#include <stddef.h>

struct alloc {
	void *(*resize)(void *user, void *block, size_t size);
	void *user;
};

/* alloc_default returns an allocator that uses realloc and free. */
struct alloc alloc_default(void);

/* alloc_new returns a zeroed block, or NULL. */
void *alloc_new(const struct alloc *, size_t size);
void alloc_free(const struct alloc *, void *block);

#endif
