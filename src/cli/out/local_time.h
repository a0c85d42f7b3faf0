/* Local time: what clocks in a time zone show. A zone is one of the package tzdata, the machine's
 * own, or a fixed distance from UTC. */
#ifndef DW_CLI_LOCAL_TIME_H
#define DW_CLI_LOCAL_TIME_H

#include <stddef.h>

#include "durawheel/durawheel.h"

enum {
	LOCAL_NAME_SIZE = 66,
	LOCAL_FAULT_SIZE = 320,
	LOCAL_TEXT_SIZE = DW_TIME_SIZE + 16 + LOCAL_NAME_SIZE
};

enum local_kind {
	LOCAL_NAMED,  /* the name is that of a zone in tzdata, or UTC */
	LOCAL_SYSTEM, /* only libc knows the zone: TZ or /etc/localtime gives it no name */
	LOCAL_FIXED   /* the distance never changes */
};

struct local_zone {
	enum local_kind kind;
	dw_usec offset_us; /* of LOCAL_FIXED: local time minus UTC */
	char name[LOCAL_NAME_SIZE];
};

/* local_zone_find finds the zone of a name. local_zone_of_machine finds the zone of the machine: TZ
 * names it, or else /etc/localtime. They return DW_OK, DW_EINVAL or DW_ENOMEM. ret_fault then says
 * what is wrong. */
int local_zone_find(const char *name, struct local_zone *ret_zone, char *ret_fault);
int local_zone_of_machine(struct local_zone *ret_zone, char *ret_fault);

/* local_zone_fixed returns the zone of a fixed distance. */
struct local_zone local_zone_fixed(dw_usec offset_us);

/* local_offset returns local time minus UTC at a time. Zones are known from 1970 to 9999; before
 * and after that it returns the first or the last offset. */
dw_usec local_offset(const struct local_zone *, dw_usec time);

/* local_moments writes the moments at which clocks show `wall`, which counts as if it were UTC.
 * Returns how many: 1, or 2 where clocks go back, or 0 where they go forward. For 0 it writes the
 * moment that is as much later as clocks go forward. */
int local_moments(const struct local_zone *, dw_usec wall, dw_usec ret_moments[2]);

/* local_show writes a time for a list: in UTC if the zone is NULL, else as local_format() does. */
void local_show(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);

/* local_format writes a time as RFC 3339 with its offset. local_words writes it as people read it:
 * with blanks, and with the name of the zone behind it. Both leave out a fraction of zero. */
void local_format(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);
void local_words(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);

#endif
