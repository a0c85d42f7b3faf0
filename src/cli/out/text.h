/* Printable forms of bytes. Bytes that are not printable UTF-8 are shown as \xHH, so that no id or
 * data can send commands to a terminal. So are controls of the direction of text, because the text
 * behind them would be shown backwards. */
#ifndef DW_CLI_TEXT_H
#define DW_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

/* The most bytes that one step writes, including the NUL. */
#define TEXT_STEP_SIZE 5

/* text_step writes the printable form of the first character of text to ret_form; size is at least
 * 1. Returns the number of bytes of text that it used. */
size_t text_step(const char *text, size_t size, char ret_form[TEXT_STEP_SIZE]);

/* text_point writes the character of UTF-8 at the start of text to ret_point; size is at least 1.
 * Returns the number of its bytes, or 0 if they are not valid UTF-8. */
size_t text_point(const char *text, size_t size, uint32_t *ret_point);

/* text_is_clean returns true if text is UTF-8 without control characters. */
bool text_is_clean(const char *text, size_t size);

/* text_escape writes the printable form of text and a NUL, cut to ret_size bytes. Returns its
 * length. */
size_t text_escape(const char *text, size_t size, char *ret_form, size_t ret_size);

/* text_print writes the printable form of text, padded with spaces to width characters. */
void text_print(FILE *, const char *text, size_t size, size_t width);

/* text_width returns the number of characters that text_print() writes if width is 0. */
size_t text_width(const char *text, size_t size);

/* text_span writes a duration in its largest units, at most `units` of them: 1h30m or 250us. Six
 * units are always exact. text_distance writes how far time is from now, as "in 1h30m" or "5s ago",
 * and "" for DW_NEVER. */
#define TEXT_SPAN_SIZE 64
void text_span(dw_usec duration, int units, char ret_text[TEXT_SPAN_SIZE]);
void text_distance(dw_usec time, dw_usec now, char ret_text[TEXT_SPAN_SIZE]);

#endif
