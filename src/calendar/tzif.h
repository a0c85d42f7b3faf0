/* The bytes of a zone's file, TZif of RFC 8536, as a table of changes. The bytes may be hostile:
 * every length is checked before it is used. */
#ifndef DW_CALENDAR_TZIF_H
#define DW_CALENDAR_TZIF_H

#include <stddef.h>

#include "base/alloc.h"
#include "calendar/footer.h"

/* A zone as its file describes it. Sorted; each change has another offset than the one before. */
struct zone_table {
	int32_t first;       /* the offset before the first change */
	int64_t footer_from; /* from here on the footer counts, if it has changes */
	struct footer footer;
	size_t count;
	struct zone_change changes[];
};

/* tzif_read makes a table of size bytes. Free it with alloc_free(). DW_ENOMEM, or DW_EINVAL:
 * *ret_fault says what is wrong with them. */
int tzif_read(const struct alloc *, const unsigned char *bytes, size_t size,
	      struct zone_table **ret_table, const char **ret_fault);

#endif
