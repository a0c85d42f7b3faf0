/* Time zones: the offset of local time, and when it changes. Zones are those of the package tzdata,
 * read from $TZDIR or /usr/share/zoneinfo. The machine's own zone is never used. */
#ifndef DW_CALENDAR_ZONE_H
#define DW_CALENDAR_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct zone_table;

/* A period in which the offset does not change: from begin on and before end, in seconds since
 * 1970. */
struct zone_span {
	int64_t begin, end; /* INT64_MIN and INT64_MAX: there is no change */
	int32_t offset;     /* local time minus UTC */
	int32_t before;     /* the offset before begin */
};

/* zone_load reads the file of a name like "Europe/London". NULL and "UTC" need no file; for them
 * *ret_table is NULL. Free the table with alloc_free(). It returns DW_OK, DW_ENOMEM or DW_EINVAL.
 * With DW_EINVAL ret_message says why. */
int zone_load(const struct alloc *, const char *name, struct zone_table **ret_table,
	      char *ret_message);

/* The state of a zone's file. A different state shows that the file has changed. All fields are
 * zero if there is no file. */
struct zone_stamp {
	int64_t second, nanosecond, size, inode;
};

struct zone_stamp zone_stamp(const char *name);

/* zone_data_version writes the version of the zones, like "2025b", or "" if their folder does not
 * contain it. */
void zone_data_version(char *ret_version, size_t size);

/* zone_span_at returns the span that contains second, which is between 1970 and 9999. */
struct zone_span zone_span_at(const struct zone_table *, int64_t second);

#endif
