/* The characters that are valid in an id or a topic. */
#ifndef DW_BASE_UTF8_H
#define DW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* utf8_is_name: is text valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF) without
 * control characters (C0, DEL, C1)? */
bool utf8_is_name(const char *text, size_t size);

#endif
