/* The bytes of a zone's file, TZif of RFC 8536, as a table of changes. The bytes may be hostile:
 * every length is checked before it is used. */
#ifndef DW_CALENDAR_TZIF_H
#define DW_CALENDAR_TZIF_H

#include <stddef.h>

#include "base/alloc.h"
#include "calendar/footer.h"

/* A zone as its file describes it. The changes are sorted. Each change has another offset than the
 * change before it. */
struct zone_table {
	int32_t first; /* the offset before the first change */
	/* The footer counts from this time on (seconds since 1970), if the footer has changes. */
	int64_t footer_from;
	struct footer footer;
	size_t count;
	struct zone_change changes[];
};

/* tzif_read makes a table from the bytes of a file. Free it with alloc_free(). It returns DW_OK,
 * DW_ENOMEM or DW_EINVAL. With DW_EINVAL *ret_fault says what is wrong with the bytes. */
int tzif_read(const struct alloc *, const unsigned char *bytes, size_t size,
	      struct zone_table **ret_table, const char **ret_fault);

#endif
