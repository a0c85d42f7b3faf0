/* Base64 (RFC 4648, section 4, with padding), for data that is not valid UTF-8. */
#ifndef DW_CLI_BASE64_H
#define DW_CLI_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* base64_encode returns the encoded text, which the caller frees. Returns NULL if out of memory. */
char *base64_encode(const void *bytes, size_t size);

/* base64_decode decodes a text. The caller frees *ret_bytes. Returns false if out of memory, or if
 * the text is not what base64_encode() would write. */
bool base64_decode(const char *text, size_t length, void **ret_bytes, size_t *ret_size);

#endif
