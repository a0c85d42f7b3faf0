/* Times as people read them: in UTC, and in the time zone of a rule. */
#ifndef DW_CLI_CLOCK_H
#define DW_CLI_CLOCK_H

#include "durawheel/durawheel.h"

#define CLOCK_NOTE_SIZE 80

/* clock_utc writes the time in the format of RFC 3339 without an offset. It leaves out a fraction
 * of zero. Returns the length. */
size_t clock_utc(dw_usec time, char ret_text[DW_TIME_SIZE]);

/* clock_local writes the local time of the zone, with its offset from UTC. */
void clock_local(dw_usec time, const dw_local *, char ret_text[DW_TIME_SIZE]);

/* clock_note explains an occurrence if its local time does not exist or exists twice. Otherwise it
 * writes "". */
void clock_note(dw_usec time, const dw_local *, char ret_note[CLOCK_NOTE_SIZE]);

#endif
