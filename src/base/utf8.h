/* The characters that are valid in an id, a topic or a line of text. */
#ifndef DW_BASE_UTF8_H
#define DW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* utf8_is_name returns true if text is valid UTF-8 (no surrogates, no overlong forms, at most
 * U+10FFFF) without control characters (C0, DEL, C1). */
bool utf8_is_name(const char *text, size_t size);

/* utf8_clean copies text as one line into at most size bytes with the NUL: control characters
 * become spaces, bytes that are not UTF-8 become '?', blanks at both ends go, and a long text is
 * cut at a character. It returns the length of the line. */
size_t utf8_clean(const char *text, char *ret_line, size_t size);

#endif
