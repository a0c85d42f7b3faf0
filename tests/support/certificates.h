/* Certificates for a test, made on the spot: files in PEM form in a folder. Left out in a build
 * without TLS. */
#ifndef DW_TESTS_CERTIFICATES_H
#define DW_TESTS_CERTIFICATES_H

#include <stdbool.h>

#include "support/temp.h"

#define CERTIFICATE_NAMES "DNS:redis.example,IP:127.0.0.1"

struct certificates {
	char folder[TEMP_SIZE];
	unsigned count; /* made so far: each has a number of its own */
};

/* certificates_make makes the folder, and in it the authorities "ca" and "other". */
void certificates_make(struct certificates *);
void certificates_remove(struct certificates *);

/* certificates_sign makes NAME.pem and NAME.key, signed by an authority. It is good from `from` to
 * `until`, in days from now. names are those of the certificate, as in CERTIFICATE_NAMES, or NULL:
 * then NAME is its common name, and it has no other one. */
struct certificate {
	const char *name;
	const char *authority;
	const char *names;
	long from, until;
};
void certificates_sign(struct certificates *, const struct certificate *);

/* certificates_hash copies NAME.pem to the name by which OpenSSL finds an authority in a folder. */
void certificates_hash(const struct certificates *, const char *name);

/* certificates_file writes the path of a file into path (TEMP_SIZE bytes). Returns path. */
char *certificates_file(const struct certificates *, const char *name, char *path);

/* certificates_day writes the day that is so many days from now: "2026-01-31". */
void certificates_day(long days, char ret_day[16]);

#endif
