/* Timers for people: a table whose columns are as wide as what is on the page, and rows of a name
 * and a value. Whoever prints checks by session_flush() that it was written. */
#ifndef DW_CLI_TABLE_H
#define DW_CLI_TABLE_H

#include <stddef.h>

#include "durawheel/durawheel.h"

/* How wide the columns are; zero to begin with. */
struct table {
	size_t when;
	size_t id;
	size_t topic;
};

/* table_fit widens the columns for a row; a page's rows are fitted before the first is printed. */
void table_fit(struct table *, const char *id, const char *topic);

/* table_begin prints the first columns of a row, each with a space behind it: time and how far it
 * is from now, id, topic. table_header does so with the names of the columns. */
void table_begin(const struct table *, dw_usec time, const char *id, const char *topic);
void table_header(struct table *, const char *time_name);

/* Rows of a name and a value. */
void table_row_text(const char *name, const void *text, size_t size);
void table_row_count(const char *name, uint64_t count);
void table_row_time(const char *name, dw_usec time);
void table_row_span(const char *name, dw_usec duration);

#endif
