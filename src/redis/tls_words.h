/* Says what is wrong with a TLS connection, in words for a person. */
#ifndef DW_REDIS_TLS_WORDS_H
#define DW_REDIS_TLS_WORDS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "redis/url.h"

/* tls_words_certificate says why the server's certificate is not accepted. `wanted` is the name
 * that the certificate should have. ret_words have DW_MESSAGE_SIZE bytes, here and below. */
void tls_words_certificate(X509_STORE_CTX *, const struct redis_url *, const char *wanted,
			   char *ret_words);

/* What has happened on the connection. */
struct tls_moment {
	bool asked;  /* the server has asked for a client's certificate, and got none */
	bool shaken; /* the handshake has ended */
};

/* tls_words_error says what an error of OpenSSL means. It returns true if a person must change
 * something. */
bool tls_words_error(unsigned long error, const struct redis_url *, const struct tls_moment *,
		     char *ret_words);

#endif
