/* Durations and times as people write them. The library is stricter: there a typing error must not
 * become another time, and here a person sees the answer. */
#ifndef DW_CLI_TIMES_H
#define DW_CLI_TIMES_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* duration_of reads what dw_parse_duration() does, and besides: "0" without a unit, units as words
 * (5min, 2hours), and numbers with up to six decimals (1.5h). Returns DW_EINVAL or DW_ELIMIT. */
int duration_of(const char *text, dw_usec *ret_duration);

/* time_of reads what dw_parse_time() does, and besides seconds since 1970, with 9 to 12 digits and
 * up to six decimals, until the year 9999. So neither milliseconds nor a time of day, as 0930, is
 * taken for them. Returns DW_EINVAL or DW_ELIMIT. */
int time_of(const char *text, dw_usec *ret_time);

/* duration_fault and time_fault say why duration_of() or time_of() refused a text with this status.
 * The words follow the text in a message. */
const char *duration_fault(int status);
const char *time_fault(const char *text, int status);

/* time_is_duration returns true if somebody has written a duration where a time is needed. */
bool time_is_duration(const char *text);

#endif
