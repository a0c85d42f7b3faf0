/* Reads durations as people write them. The command accepts more spellings than the library,
 * because a person sees how the command has understood a text. A program would not notice that a
 * typing error has become another duration. */
#ifndef DW_CLI_DURATIONS_H
#define DW_CLI_DURATIONS_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* duration_of reads all that dw_parse_duration() reads, and more: "0" without a unit, weeks (1w),
 * units as words (5min, 2hours), blanks (30 min, 1 h 30 min), and numbers with up to six decimals
 * (1.5h). Returns DW_OK, DW_EINVAL or DW_ELIMIT. */
int duration_of(const char *text, dw_usec *ret_duration);

/* duration_fault returns why duration_of() has refused a text. In a message the words follow the
 * text. */
const char *duration_fault(const char *text, int status);

/* is_duration returns true if the text is a duration, even if the duration is too long. */
bool is_duration(const char *text);

#endif
