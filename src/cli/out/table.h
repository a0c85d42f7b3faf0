/* Prints timers for people: as a table whose columns fit the widest row, or as rows of a name and a
 * value. The caller must call session_flush(), which reports failed writes. */
#ifndef DW_CLI_TABLE_H
#define DW_CLI_TABLE_H

#include <stddef.h>

#include "cli/out/local_time.h"
#include "durawheel/durawheel.h"

/* The widths of the columns, which start as zero. Times are shown in the zone, or in UTC if zone is
 * NULL. */
struct table {
	const struct local_zone *zone;
	size_t when;
	size_t id;
	size_t topic;
};

/* table_fit widens the columns for a row. Call it for all rows of a page before you print the first
 * row. */
void table_fit(struct table *, const char *id, const char *topic);

/* table_begin prints the first columns of a row: the time, its distance from now, the id and the
 * topic. table_header prints the names of these columns. */
void table_begin(const struct table *, dw_usec time, const char *id, const char *topic);
void table_header(struct table *, const char *time_name);

/* These functions print a row of a name and a value. If the zone is NULL, the time is in UTC. */
void table_row_text(const char *name, const void *text, size_t size);
void table_row_count(const char *name, uint64_t count);
void table_row_time(const char *name, dw_usec time, const struct local_zone *);
void table_row_span(const char *name, dw_usec duration);

#endif
