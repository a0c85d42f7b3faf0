/* Base 64 (RFC 4648, section 4, with padding) for data that is not valid UTF-8. */
#ifndef DW_CLI_BASE64_H
#define DW_CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* base64_encode returns text for free(), or NULL: no memory. */
char *base64_encode(const void *bytes, size_t size);

/* base64_decode: false if text is not the one encoding of any bytes, or there is no memory; else
 * *ret_bytes is for free(). */
bool base64_decode(const char *text, size_t length, void **ret_bytes, size_t *ret_size);

#endif
