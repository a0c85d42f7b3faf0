/* Bytes for human eyes: what is not printable UTF-8 is shown as \xHH, so that no id or data
 * commands a terminal. */
#ifndef DW_CLI_TEXT_H
#define DW_CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

/* The most bytes, with a NUL, that one step writes. */
#define TEXT_STEP_SIZE 5

/* text_step writes the first character of text (size at least 1) in its printable form to ret_form
 * and returns how many bytes of text it was. */
size_t text_step(const char *text, size_t size, char ret_form[TEXT_STEP_SIZE]);

/* text_escape writes the printable form of text, cut to ret_size with its NUL, and returns its
 * length. */
size_t text_escape(const char *text, size_t size, char *ret_form, size_t ret_size);

/* text_print writes the printable form of text, filled up with spaces to width characters. */
void text_print(FILE *, const char *text, size_t size, size_t width);

/* text_width: how many characters text_print() writes without a width. */
size_t text_width(const char *text, size_t size);

/* text_span writes a duration in its units largest units, as 1h30m or 250us; all six are exact.
 * text_distance says how far time is from now, as "in 1h30m" or "5s ago"; "" for DW_NEVER. */
#define TEXT_SPAN_SIZE 64
void text_span(dw_usec duration, int units, char ret_text[TEXT_SPAN_SIZE]);
void text_distance(dw_usec time, dw_usec now, char ret_text[TEXT_SPAN_SIZE]);

#endif
