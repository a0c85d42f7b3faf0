/* Reads durations and times as people write them. This is more lenient than the library. A person
 * sees how the command has understood a text. A program would not notice that a typing error has
 * become another time. */
#ifndef DW_CLI_TIMES_H
#define DW_CLI_TIMES_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* duration_of reads all that dw_parse_duration() reads, and three more forms: "0" without a unit,
 * units as words (5min, 2hours), and numbers with up to six decimals (1.5h). Returns DW_OK,
 * DW_EINVAL or DW_ELIMIT. */
int duration_of(const char *text, dw_usec *ret_duration);

/* time_of reads all that dw_parse_time() reads, and seconds since 1970 until the year 9999. Such a
 * number has 9 to 12 digits and up to six decimals. So it cannot be mistaken for milliseconds or
 * for a time of day like 0930. Returns DW_OK, DW_EINVAL or DW_ELIMIT. */
int time_of(const char *text, dw_usec *ret_time);

/* duration_fault returns why duration_of() has refused a text, and time_fault why time_of() has. In
 * a message the words follow the text. */
const char *duration_fault(int status);
const char *time_fault(const char *text, int status);

/* time_is_duration returns true if the text is a duration. The caller needs a time. */
bool time_is_duration(const char *text);

#endif
