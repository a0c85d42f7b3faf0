/* Text without regard to the case of ASCII letters. libc's functions follow the locale of the
 * program, in which a Turkish "FRI" is no "fri". */
#ifndef DW_BASE_ASCII_H
#define DW_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* ascii_is: are the two texts the same? ascii_begins: does the text begin with the other one? */
bool ascii_is(const char *text, const char *other);
bool ascii_begins(const char *text, const char *beginning);

/* ascii_is_for: are the first bytes the same? A text may end before, and then so must the other. */
bool ascii_is_for(const char *text, const char *other, size_t size);

#endif
