#include "redis/tls_files.h"

#include <dirent.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "redis/secret_file.h"

#define BUNDLE_MAX ((size_t)4 << 20)
#define KEY_MAX ((size_t)64 << 10)

struct loading {
	SSL_CTX *context;
	const struct redis_url *url;
	const struct alloc *alloc;
	char *words;
};

/* A file that the URL names. `bio` lets OpenSSL read the bytes in `text`. */
struct pem {
	char *text;
	size_t size;
	BIO *bio;
};

static void close_pem(const struct loading *loading, struct pem *pem)
{
	BIO_free(pem->bio);
	secret_file_free(loading->alloc, pem->text, pem->size);
	ERR_clear_error();
}

static int open_pem(const struct loading *loading, const struct secret_file *file,
		    struct pem *ret_pem)
{
	int status =
	    secret_file_read(file, loading->alloc, &ret_pem->text, &ret_pem->size, loading->words);

	if (status != DW_OK)
		return status;
	ret_pem->bio = BIO_new_mem_buf(ret_pem->text, (int)ret_pem->size);
	if (ret_pem->bio)
		return DW_OK;
	close_pem(loading, ret_pem);
	return DW_ENOMEM;
}

/* is_at_end returns true if the last reading found no further item in the file. */
static bool is_at_end(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/* no_passphrase refuses to give a passphrase, and notes that OpenSSL asked for one. By default
 * OpenSSL would ask for it at the terminal. */
static int no_passphrase(char *text, int size, int writes, void *user)
{
	bool *asked = user;

	(void)text;
	(void)size;
	(void)writes;
	*asked = true;
	return -1;
}

static X509 *next_certificate(BIO *bio)
{
	bool asked = false;

	ERR_clear_error();
	return PEM_read_bio_X509(bio, NULL, no_passphrase, &asked);
}

static int refuse_certificates(const struct loading *loading, const char *name, const char *path,
			       unsigned count)
{
	if (is_at_end())
		return message_refuse(loading->words,
				      "the %s file \"%.120s\" has no certificate in PEM form", name,
				      path);
	return message_refuse(loading->words, "the %s file \"%.120s\": certificate %u is damaged",
			      name, path, count + 1);
}

/* ---- The authorities ----------------------------------------------------------------------- */

static int add_authorities(const struct loading *loading, BIO *bio)
{
	X509_STORE *store = SSL_CTX_get_cert_store(loading->context);
	unsigned count = 0;
	X509 *certificate;

	for (; (certificate = next_certificate(bio)); count++) {
		int added = X509_STORE_add_cert(store, certificate);

		X509_free(certificate);
		if (!added)
			return DW_ENOMEM;
	}
	if (count > 0 && is_at_end())
		return DW_OK;
	return refuse_certificates(loading, "ca", loading->url->ca, count);
}

/* has_hashes returns true if the system's folder has files that are named by the hash of an
 * authority's name. */
static bool has_hashes(void)
{
	const char *given = secure_getenv(X509_get_default_cert_dir_env());
	DIR *folder = opendir(given ? given : X509_get_default_cert_dir());
	const struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = strlen(entry->d_name) == 10 && strcmp(entry->d_name + 8, ".0") == 0;
	if (folder)
		(void)closedir(folder); /* it was only read */
	return found;
}

/* trust_system trusts the system's authorities. To read its file with all authorities takes about
 * 30 ms. From its folder OpenSSL reads only the authority that is needed. */
static int trust_system(const struct loading *loading)
{
	bool has_file = secure_getenv(X509_get_default_cert_file_env()) != NULL;
	int trusted = !has_file && has_hashes()
			  ? SSL_CTX_set_default_verify_dir(loading->context)
			  : SSL_CTX_set_default_verify_paths(loading->context);

	return trusted == 1 ? DW_OK : DW_ENOMEM;
}

static int load_authorities(const struct loading *loading)
{
	const struct secret_file file = {
	    .path = loading->url->ca, .what = "ca file", .most = BUNDLE_MAX};
	struct pem pem = {.text = NULL};
	int status;

	if (!loading->url->ca)
		return trust_system(loading);
	status = open_pem(loading, &file, &pem);
	if (status != DW_OK)
		return status;
	status = add_authorities(loading, pem.bio);
	close_pem(loading, &pem);
	return status;
}

/* ---- The client's certificate -------------------------------------------------------------- */

/* use_certificate takes the client's certificate from the file, and the certificates of its
 * authorities that follow it. */
static int use_certificate(const struct loading *loading, BIO *bio)
{
	X509 *certificate = next_certificate(bio);
	unsigned count = 0;

	for (; certificate; certificate = next_certificate(bio), count++) {
		long used = count == 0 ? SSL_CTX_use_certificate(loading->context, certificate)
				       : SSL_CTX_add1_chain_cert(loading->context, certificate);
		const char *reason = ERR_reason_error_string(ERR_peek_last_error());

		X509_free(certificate);
		if (used != 1)
			return message_refuse(
			    loading->words, "the cert file \"%.120s\" cannot be used: %.60s",
			    loading->url->cert, reason ? reason : "unknown error");
	}
	if (count > 0 && is_at_end())
		return DW_OK;
	return refuse_certificates(loading, "cert", loading->url->cert, count);
}

static int load_certificate(const struct loading *loading)
{
	const struct secret_file file = {
	    .path = loading->url->cert, .what = "cert file", .most = BUNDLE_MAX};
	struct pem pem = {.text = NULL};
	int status = open_pem(loading, &file, &pem);

	if (status != DW_OK)
		return status;
	status = use_certificate(loading, pem.bio);
	close_pem(loading, &pem);
	return status;
}

static int use_key(const struct loading *loading, BIO *bio)
{
	bool asked = false;
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &asked);
	int used;

	if (!key && asked)
		return message_refuse(loading->words,
				      "the key file \"%.120s\" is encrypted, and nobody is asked "
				      "for its passphrase: decrypt it, and chmod 600",
				      loading->url->key);
	if (!key)
		return message_refuse(loading->words,
				      "the key file \"%.120s\" has no private key in PEM form",
				      loading->url->key);
	used = SSL_CTX_use_PrivateKey(loading->context, key);
	EVP_PKEY_free(key);
	if (used == 1 && SSL_CTX_check_private_key(loading->context) == 1)
		return DW_OK;
	return message_refuse(loading->words,
			      "the key file \"%.90s\" is not the key of the cert file \"%.90s\"",
			      loading->url->key, loading->url->cert);
}

static int load_key(const struct loading *loading)
{
	const struct secret_file file = {
	    .path = loading->url->key, .what = "key file", .is_private = true, .most = KEY_MAX};
	struct pem pem = {.text = NULL};
	int status = open_pem(loading, &file, &pem);

	if (status != DW_OK)
		return status;
	ERR_clear_error();
	status = use_key(loading, pem.bio);
	close_pem(loading, &pem);
	return status;
}

int tls_files_load(SSL_CTX *context, const struct redis_url *url, const struct alloc *alloc,
		   char *ret_words)
{
	const struct loading loading = {context, url, alloc, ret_words};
	int status = load_authorities(&loading);

	if (status == DW_OK && url->cert)
		status = load_certificate(&loading);
	if (status == DW_OK && url->cert)
		status = load_key(&loading);
	return status;
}
