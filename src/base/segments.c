#include "base/segments.h"

#include "durawheel/error.h"

static int grow_directory(struct segments *segments, const struct alloc *alloc)
{
	uint32_t size = segments->directory_size ? segments->directory_size * 2 : 16;
	void *directory = alloc->resize(alloc->user, segments->directory, size * sizeof(void **));

	if (!directory)
		return DW_ENOMEM;
	segments->directory = directory;
	segments->directory_size = size;
	return DW_OK;
}

int segments_reserve(struct segments *segments, const struct alloc *alloc, uint32_t count)
{
	while (segments->segment_count < (count + SEGMENT_SIZE - 1) >> SEGMENT_BITS) {
		void **segment;

		if (segments->segment_count == segments->directory_size &&
		    grow_directory(segments, alloc) != DW_OK)
			return DW_ENOMEM;
		segment = alloc_new(alloc, SEGMENT_SIZE * sizeof(void *));
		if (!segment)
			return DW_ENOMEM;
		segments->directory[segments->segment_count++] = segment;
	}
	return DW_OK;
}

void segments_free(struct segments *segments, const struct alloc *alloc)
{
	for (uint32_t i = 0; i < segments->segment_count; i++)
		alloc_free(alloc, segments->directory[i]);
	alloc_free(alloc, segments->directory);
	*segments = (struct segments){0};
}
