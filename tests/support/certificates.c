#include "support/certificates.h"

#if DW_WITH_TLS
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/cmocka.h"

#define DAY 86400L

/* A certificate that is being made, and its issuer. */
struct signing {
	X509 *certificate;
	EVP_PKEY *key;
	X509 *issuer;
	EVP_PKEY *issuer_key;
};

char *certificates_file(const struct certificates *certificates, const char *name, char *path)
{
	return temp_file(path, certificates->folder, name);
}

static FILE *open_as(const struct certificates *certificates, const char *name, const char *end,
		     const char *mode)
{
	char path[TEMP_SIZE];
	char file[64];
	FILE *stream;

	(void)snprintf(file, sizeof file, "%s.%s", name, end);
	(void)certificates_file(certificates, file, path);
	if (mode[0] == 'w')
		(void)unlink(path); /* the file is replaced */
	stream = fopen(path, mode);
	assert_non_null(stream);
	if (mode[0] == 'w')
		assert_int_equal(fchmod(fileno(stream), 0600), 0);
	return stream;
}

static void save(const struct certificates *certificates, const char *name,
		 const struct signing *signing)
{
	FILE *stream = open_as(certificates, name, "pem", "w");

	assert_int_equal(PEM_write_X509(stream, signing->certificate), 1);
	assert_int_equal(fclose(stream), 0);
	stream = open_as(certificates, name, "key", "w");
	assert_int_equal(PEM_write_PrivateKey(stream, signing->key, NULL, NULL, 0, NULL, NULL), 1);
	assert_int_equal(fclose(stream), 0);
}

static void load_authority(const struct certificates *certificates, const char *name,
			   struct signing *signing)
{
	FILE *stream = open_as(certificates, name, "pem", "r");

	signing->issuer = PEM_read_X509(stream, NULL, NULL, NULL);
	assert_int_equal(fclose(stream), 0);
	stream = open_as(certificates, name, "key", "r");
	signing->issuer_key = PEM_read_PrivateKey(stream, NULL, NULL, NULL);
	assert_int_equal(fclose(stream), 0);
	assert_true(signing->issuer && signing->issuer_key);
}

void certificates_hash(const struct certificates *certificates, const char *name)
{
	FILE *stream = open_as(certificates, name, "pem", "r");
	X509 *authority = PEM_read_X509(stream, NULL, NULL, NULL);
	char hash[16];

	assert_int_equal(fclose(stream), 0);
	assert_non_null(authority);
	(void)snprintf(hash, sizeof hash, "%08lx", X509_subject_name_hash(authority));
	stream = open_as(certificates, hash, "0", "w");
	assert_int_equal(PEM_write_X509(stream, authority), 1);
	assert_int_equal(fclose(stream), 0);
	X509_free(authority);
}

static void add_extension(const struct signing *signing, int kind, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&context, signing->issuer, signing->certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(signing->certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static void fill_in(struct certificates *certificates, const struct certificate *wanted,
		    const struct signing *signing)
{
	X509 *certificate = signing->certificate;
	X509_NAME *subject = X509_get_subject_name(certificate);

	assert_int_equal(X509_set_version(certificate, 2), 1);
	assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(certificate),
					  time(NULL) * 100 + ++certificates->count),
			 1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), wanted->from * DAY));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), wanted->until * DAY));
	assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
						    (const unsigned char *)wanted->name, -1, -1, 0),
			 1);
	assert_int_equal(X509_set_issuer_name(certificate, X509_get_subject_name(signing->issuer)),
			 1);
	assert_int_equal(X509_set_pubkey(certificate, signing->key), 1);
	if (!wanted->authority)
		add_extension(signing, NID_basic_constraints, "critical,CA:TRUE");
	if (wanted->names)
		add_extension(signing, NID_subject_alt_name, wanted->names);
	assert_true(X509_sign(certificate, signing->issuer_key, EVP_sha256()) > 0);
}

/* certificates_sign makes a self-signed authority if `wanted` names no authority. */
void certificates_sign(struct certificates *certificates, const struct certificate *wanted)
{
	struct signing signing = {X509_new(), EVP_EC_gen("P-256"), NULL, NULL};

	assert_true(signing.certificate && signing.key);
	if (wanted->authority) {
		load_authority(certificates, wanted->authority, &signing);
	} else {
		signing.issuer = signing.certificate;
		signing.issuer_key = signing.key;
	}
	fill_in(certificates, wanted, &signing);
	save(certificates, wanted->name, &signing);
	if (wanted->authority) {
		X509_free(signing.issuer);
		EVP_PKEY_free(signing.issuer_key);
	}
	X509_free(signing.certificate);
	EVP_PKEY_free(signing.key);
}

void certificates_make(struct certificates *certificates)
{
	*certificates = (struct certificates){.count = 0};
	temp_make(certificates->folder);
	certificates_sign(certificates, &(struct certificate){"ca", NULL, NULL, -30, 30});
	certificates_sign(certificates, &(struct certificate){"other", NULL, NULL, -30, 30});
}

void certificates_remove(struct certificates *certificates)
{
	temp_remove(certificates->folder);
}

void certificates_day(long days, char ret_day[16])
{
	time_t moment = time(NULL) + days * DAY;
	struct tm tm;

	assert_non_null(gmtime_r(&moment, &tm));
	assert_int_equal(strftime(ret_day, 16, "%Y-%m-%d", &tm), 10);
}
#endif
