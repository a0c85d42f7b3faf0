/* Makes certificates for a test: files in PEM format in a folder. A build without TLS leaves this
 * out. */
#ifndef DW_TESTS_CERTIFICATES_H
#define DW_TESTS_CERTIFICATES_H

#include <stdbool.h>

#include "support/temp.h"

#define CERTIFICATE_NAMES "DNS:redis.example,IP:127.0.0.1"

struct certificates {
	char folder[TEMP_SIZE];
	unsigned count; /* the number of certificates so far, from which each gets its own number */
};

/* certificates_make makes the folder, and in it the authorities "ca" and "other". */
void certificates_make(struct certificates *);
void certificates_remove(struct certificates *);

/* certificates_sign makes NAME.pem and NAME.key, signed by an authority. The certificate is valid
 * from `from` to `until`, in days from now. `names` are the certificate's names, as in
 * CERTIFICATE_NAMES. If `names` is NULL, the certificate has only the common name NAME. */
struct certificate {
	const char *name;
	const char *authority;
	const char *names;
	long from, until;
};
void certificates_sign(struct certificates *, const struct certificate *);

/* certificates_hash copies NAME.pem to the name under which OpenSSL searches for an authority in a
 * folder. */
void certificates_hash(const struct certificates *, const char *name);

/* certificates_file writes the path of a file into path (TEMP_SIZE bytes). Returns path. */
char *certificates_file(const struct certificates *, const char *name, char *path);

/* certificates_day writes the date of the day `days` from now, like "2026-01-31". */
void certificates_day(long days, char ret_day[16]);

#endif
