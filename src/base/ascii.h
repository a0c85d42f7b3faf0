/* Compares text without regard to the case of ASCII letters. libc's functions follow the locale of
 * the program, and in a Turkish locale "FRI" is not "fri". */
#ifndef DW_BASE_ASCII_H
#define DW_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* ascii_is returns true if the two texts are the same. ascii_begins returns true if the text begins
 * with `beginning`. */
bool ascii_is(const char *text, const char *other);
bool ascii_begins(const char *text, const char *beginning);

/* ascii_is_for returns true if the first `size` bytes are the same. If one text ends before, the
 * other must end there, too. */
bool ascii_is_for(const char *text, const char *other, size_t size);

#endif
