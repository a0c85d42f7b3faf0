/* Local time: what clocks in a time zone show. A zone is a zone of the package tzdata, the
 * machine's own zone, or a fixed distance from UTC. */
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
	LOCAL_NAMED,  /* the name is the name of a zone in tzdata, or UTC */
	LOCAL_SYSTEM, /* TZ or /etc/localtime gives the zone no name, so only libc knows it */
	LOCAL_FIXED   /* the distance never changes */
};

struct local_zone {
	enum local_kind kind;
	dw_usec offset_us; /* for LOCAL_FIXED: local time minus UTC */
	char name[LOCAL_NAME_SIZE];
};

/* local_zone_find finds a zone by its name. local_zone_of_machine finds the zone that TZ names, or
 * otherwise the zone of /etc/localtime. They return DW_OK, DW_EINVAL or DW_ENOMEM. On an error
 * ret_fault says what is wrong. */
int local_zone_find(const char *name, struct local_zone *ret_zone, char *ret_fault);
int local_zone_of_machine(struct local_zone *ret_zone, char *ret_fault);

/* local_zone_fixed returns a zone with a fixed distance from UTC. */
struct local_zone local_zone_fixed(dw_usec offset_us);

/* local_offset returns local time minus UTC at `time`. Zones are known from 1970 to 9999. For
 * earlier and later times it returns the first or the last offset. */
dw_usec local_offset(const struct local_zone *, dw_usec time);

/* local_moments writes the moments at which local clocks show `wall`. `wall` is the local time,
 * encoded as if it were UTC. Returns the number of moments: usually 1, or 2 if clocks are set back
 * over this time, or 0 if they are set forward over it. In the last case it writes one moment:
 * clocks then show `wall` plus the time that they skip. */
int local_moments(const struct local_zone *, dw_usec wall, dw_usec ret_moments[2]);

/* local_show writes a time for a list: in UTC if the zone is NULL, else as local_format() does. */
void local_show(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);

/* local_format writes a time as RFC 3339 with its offset. local_words writes the time as people
 * read it, with blanks and with the name of the zone at the end. Both leave out a fraction of
 * zero. */
void local_format(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);
void local_words(const struct local_zone *, dw_usec time, char ret_text[LOCAL_TEXT_SIZE]);

#endif
