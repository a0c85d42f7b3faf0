/* Reads the files of a URL with TLS into a context of OpenSSL. */
#ifndef DW_REDIS_TLS_FILES_H
#define DW_REDIS_TLS_FILES_H

#include <openssl/ssl.h>

#include "base/alloc.h"
#include "redis/url.h"

/* tls_files_load returns DW_OK, DW_ENOMEM, or DW_EINVAL; then ret_words (DW_MESSAGE_SIZE bytes)
 * name the file and say what is wrong with it. */
int tls_files_load(SSL_CTX *, const struct redis_url *, const struct alloc *, char *ret_words);

#endif
