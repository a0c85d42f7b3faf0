/* Turns bytes into printable text. Bytes that are not printable UTF-8 become \xHH, so that no id or
 * data can send commands to a terminal. The same happens to controls of the text direction, because
 * they would reverse the text after them. */
#ifndef DW_CLI_TEXT_H
#define DW_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

/* The largest size that text_step() writes, with the NUL. */
#define TEXT_STEP_SIZE 5

/* text_step writes the printable form of the first character to ret_form. `size` must be at least
 * 1. Returns the number of bytes that it has read from text. */
size_t text_step(const char *text, size_t size, char ret_form[TEXT_STEP_SIZE]);

/* text_point decodes the UTF-8 character at the start of text into ret_point. `size` must be at
 * least 1. Returns the number of its bytes, or 0 if they are invalid. */
size_t text_point(const char *text, size_t size, uint32_t *ret_point);

/* text_is_clean returns true if text is valid UTF-8 without control characters. */
bool text_is_clean(const char *text, size_t size);

/* text_escape writes the printable form of text and a NUL. It cuts the form at ret_size bytes.
 * Returns the length. */
size_t text_escape(const char *text, size_t size, char *ret_form, size_t ret_size);

/* text_print prints the printable form of text, and pads it with spaces to `width` characters. */
void text_print(FILE *, const char *text, size_t size, size_t width);

/* text_width returns the number of characters in the printable form of text. */
size_t text_width(const char *text, size_t size);

/* text_shell_word writes the text as an argument for a shell: in quotes if the shell would change
 * it, and after "-- " if it begins with a dash. Returns ret_word. */
#define TEXT_SHELL_SIZE (4 * DW_ID_SIZE + 8)
const char *text_shell_word(const char *text, char ret_word[TEXT_SHELL_SIZE]);

/* text_span writes a duration in its largest units, like 1h30m or 250us. It writes at most `units`
 * of them; six are always exact. text_distance writes the distance of a time from now, like "in
 * 1h30m" or "5s ago". For DW_NEVER it writes "". */
#define TEXT_SPAN_SIZE 64
void text_span(dw_usec duration, int units, char ret_text[TEXT_SPAN_SIZE]);
void text_distance(dw_usec time, dw_usec now, char ret_text[TEXT_SPAN_SIZE]);

#endif
