/* The footer of a zone's file: the rule for the time after its last change, as POSIX writes it in
 * TZ, "GMT0BST,M3.5.0/1,M10.5.0". */
#ifndef DW_CALENDAR_FOOTER_H
#define DW_CALENDAR_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this moment on, local time is UTC plus the offset. */
struct zone_change {
	int64_t at; /* seconds since 1970 */
	int32_t offset;
};

/* A moment of each year: M3.5.0, J60 or 59, and the time of that day. */
struct footer_day {
	char kind; /* 'M', 'J', or 'N' for a number alone */
	int month, week, day;
	int32_t time;
};

struct footer {
	bool changes; /* false: the offset never changes */
	int32_t standard, summer;
	struct footer_day start, end; /* when summer time starts and ends */
};

/* footer_parse reads size bytes of text. It returns false if they are not a footer. */
bool footer_parse(const char *text, size_t size, struct footer *ret_footer);

/* footer_changes writes the changes from two years before `second` to one year after it, in order.
 * footer.changes must be true. */
#define FOOTER_CHANGES 8
void footer_changes(const struct footer *, int64_t second,
		    struct zone_change ret_changes[FOOTER_CHANGES]);

#endif
