/* Draws numbers as bars of characters: blocks where the terminal shows them, else ASCII. */
#ifndef DW_CLI_PLOT_H
#define DW_CLI_PLOT_H

#include <jansson.h>
#include <stdbool.h>

/* plot_has_blocks returns true if the environment says that the terminal shows UTF-8. */
bool plot_has_blocks(void);

/* plot_row writes a character for each count: the higher the count, the higher the character. 0
 * becomes a blank. A negative count is not known, and becomes a '?'. Each character is repeated
 * `wide` times. Returns ret_row. */
#define PLOT_COUNTS_MAX 60
#define PLOT_ROW_SIZE (PLOT_COUNTS_MAX * 4 + 1)
const char *plot_row(const json_int_t *counts, size_t count, size_t wide, bool has_blocks,
		     char ret_row[PLOT_ROW_SIZE]);

/* plot_bar writes a horizontal bar for a count. The bar for the count `most` is `width` characters
 * long, and every count above 0 has a visible bar. Returns ret_bar. */
#define PLOT_WIDTH_MAX 200
#define PLOT_BAR_SIZE (PLOT_WIDTH_MAX * 3 + 1)
const char *plot_bar(json_int_t count, json_int_t most, size_t width, bool has_blocks,
		     char ret_bar[PLOT_BAR_SIZE]);

#endif
