/* Times as clocks show them: in UTC, and in the zone of a rule. */
#ifndef DW_CLI_CLOCK_H
#define DW_CLI_CLOCK_H

#include "durawheel/durawheel.h"

#define CLOCK_NOTE_SIZE 80

/* clock_utc writes the time as RFC 3339 without an offset, and without a fraction of zero. Returns
 * its length. */
size_t clock_utc(dw_usec time, char ret_text[DW_TIME_SIZE]);

/* clock_local writes the time as the clocks in the zone show it, with the offset. */
void clock_local(dw_usec time, const dw_local *, char ret_text[DW_TIME_SIZE]);

/* clock_note says why an occurrence is not where one expects it, or "". */
void clock_note(dw_usec time, const dw_local *, char ret_note[CLOCK_NOTE_SIZE]);

#endif
