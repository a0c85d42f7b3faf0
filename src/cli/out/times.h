/* Reads times as people write them: "2026-12-01 09:00", "tomorrow 9am", "09:00". All commands,
 * import and the web page use this one reader. */
#ifndef DW_CLI_TIMES_H
#define DW_CLI_TIMES_H

#include <stdbool.h>

#include "cli/out/local_time.h"
#include "durawheel/durawheel.h"

enum { TIME_FAULT_SIZE = 512 };

/* When and where a time was written. */
struct time_place {
	dw_usec now;
	const char
	    *zone; /* the name of the zone for times without an offset; NULL: the machine's */
};

struct time_read {
	dw_usec time;
	/* True if the text is neither complete RFC 3339 nor a number, so that it could mean another
	 * time. */
	bool is_understood;
	bool has_zone;
	struct local_zone zone; /* with has_zone: the zone in which the text was read */
};

/* time_of reads all that dw_parse_time() reads, and:
 *  @1780306200, 1780306200    seconds since 1970; without the '@' they have 9 to 12 digits
 *  2026-12-01 09:00 [OFFSET] [ZONE]    an offset is Z, UTC, +02:00 or +0200
 *  dec 1 9am, 1 dec 2026 09:00, Tue, 01 Dec 2026 09:00:00 +0100
 *  today 18:00, tomorrow 9am, mon 9:30
 *  09:00, 9am, noon    the next one
 *  now, in 30 min
 * Returns DW_OK, DW_EINVAL, DW_ELIMIT (no such time) or DW_ENOMEM. ret_fault then says why; in a
 * message the words follow the text. */
int time_of(const char *text, const struct time_place *, struct time_read *ret_read,
	    char ret_fault[TIME_FAULT_SIZE]);

/* time_zone finds the zone of the place. Returns the codes of time_of(). On an error ret_fault is a
 * complete message. */
int time_zone(const struct time_place *, struct local_zone *ret_zone,
	      char ret_fault[TIME_FAULT_SIZE]);

/* time_echo writes how a time was understood: the time in its zone, and its distance from now. */
enum { TIME_ECHO_SIZE = LOCAL_TEXT_SIZE + 80 };
void time_echo(const struct time_read *, const struct time_place *, char ret_text[TIME_ECHO_SIZE]);

/* time_resembles checks a number that should be microseconds since 1970. If the number looks like
 * seconds, milliseconds or nanoseconds, it returns the name of that unit and writes the number in
 * microseconds to *ret_right. Otherwise it returns NULL. */
const char *time_resembles(dw_usec number, dw_usec *ret_right);

#endif
