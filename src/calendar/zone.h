/* Time zones: the offset of local time, and when it changes. Zones are those of the package tzdata,
 * read from $TZDIR or /usr/share/zoneinfo. The machine's own zone is never used. */
#ifndef DW_CALENDAR_ZONE_H
#define DW_CALENDAR_ZONE_H

#include <stdint.h>

#include "base/alloc.h"

struct zone_table;

/* A time without a change: from begin on and before end, in seconds since 1970. */
struct zone_span {
	int64_t begin, end; /* INT64_MIN, INT64_MAX: there is no change */
	int32_t offset;     /* local time minus UTC */
	int32_t before;     /* the offset until begin */
};

/* zone_load reads the file of a name like "Europe/London". NULL and "UTC" need no file: *ret_table
 * is NULL. Free with alloc_free(). DW_ENOMEM, or DW_EINVAL: message says why. */
int zone_load(const struct alloc *, const char *name, struct zone_table **ret_table,
	      char *ret_message);

/* What tells one file of a zone from a later one. All zero: there is none. */
struct zone_stamp {
	int64_t second, nanosecond, size, inode;
};

struct zone_stamp zone_stamp(const char *name);

/* zone_span_at: the span around second, which is between 1970 and 9999. */
struct zone_span zone_span_at(const struct zone_table *, int64_t second);

#endif
