#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *resize_by_libc(void *user, void *block, size_t size)
{
	(void)user;
	if (size == 0) {
		free(block);
		return NULL;
	}
	return realloc(block, size);
}

struct alloc alloc_default(void)
{
	return (struct alloc){.resize = resize_by_libc};
}

void *alloc_new(const struct alloc *alloc, size_t size)
{
	void *block = alloc->resize(alloc->user, NULL, size);

	if (block)
		memset(block, 0, size);
	return block;
}

void alloc_free(const struct alloc *alloc, void *block)
{
	if (block)
		(void)alloc->resize(alloc->user, block, 0); /* freeing has no result */
}
