/* Prints the lines of the picture that `durawheel top` shows. */
#ifndef DW_CLI_TOP_LINE_H
#define DW_CLI_TOP_LINE_H

#include <stdio.h>

#include "cli/tool/top_picture.h"

enum top_colour { TOP_PLAIN, TOP_GOOD, TOP_BAD, TOP_WARN, TOP_BARS, TOP_DIM };

/* top_line prints a line and a newline. It escapes control characters. If the line is too long for
 * the terminal, it ends the line at a blank and adds "...", so that no word is cut. */
void top_line(FILE *, const struct top_view *, enum top_colour, const char *line);

/* top_bars prints what comes due, the times of handlers, and the last hour, if the terminal has
 * enough rows. top_bars_rows returns the number of these lines. */
void top_bars(FILE *, const struct top_view *);
size_t top_bars_rows(const struct top_view *);

/* top_count writes a number with at most 6 characters, like 999999, 1.20M, 12.3M or 1.20G. Returns
 * the text. */
const char *top_count(json_int_t count, char *ret_text, size_t size);

#endif
