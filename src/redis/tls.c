#include "redis/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/message.h"
#include "redis/tls_files.h"
#include "redis/tls_words.h"

#define READ_AHEAD ((size_t)1 << 16)

struct tls {
	struct alloc alloc;
	const struct redis_url *url;
	int fd;
	SSL *ssl;
	BIO_METHOD *method; /* the methods of our BIO, which reads and writes the socket */
	char wanted[256];   /* the name that is sent as SNI and looked for in the certificate */
	struct tls_moment moment;
	bool wants_out; /* OpenSSL cannot go on before the socket takes more bytes */
	bool is_closed; /* the peer has closed the socket */
	int error;      /* errno of the socket, if that has failed */
	bool refused;   /* a person must change something before TLS works */
	/* Why the certificate or the connection is not accepted, or "". */
	char words[DW_MESSAGE_SIZE];
	size_t waiting; /* bytes of a record that could not be sent completely */
	char record[SSL3_RT_MAX_PLAIN_LENGTH];
};

/* ---- The socket ---------------------------------------------------------------------------- */

/* keep_error returns true if the socket can still be used; otherwise it keeps errno. */
static bool keep_error(struct tls *tls)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
		return true;
	tls->error = errno;
	return false;
}

static int socket_write(BIO *bio, const char *bytes, int size)
{
	struct tls *tls = BIO_get_data(bio);
	ssize_t sent = send(tls->fd, bytes, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);

	BIO_clear_retry_flags(bio);
	if (sent < 0 && keep_error(tls))
		BIO_set_retry_write(bio);
	return (int)sent;
}

static int socket_read(BIO *bio, char *bytes, int size)
{
	struct tls *tls = BIO_get_data(bio);
	ssize_t got = recv(tls->fd, bytes, (size_t)size, MSG_DONTWAIT);

	BIO_clear_retry_flags(bio);
	if (got == 0)
		tls->is_closed = true;
	if (got < 0 && keep_error(tls))
		BIO_set_retry_read(bio);
	return (int)got;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
	const struct tls *tls = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	if (command == BIO_CTRL_EOF)
		return tls->is_closed;
	return command == BIO_CTRL_FLUSH;
}

static bool make_socket(struct tls *tls)
{
	BIO *bio;

	tls->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "durawheel's socket");
	if (!tls->method || BIO_meth_set_write(tls->method, socket_write) != 1 ||
	    BIO_meth_set_read(tls->method, socket_read) != 1 ||
	    BIO_meth_set_ctrl(tls->method, socket_control) != 1)
		return false;
	bio = BIO_new(tls->method);
	if (!bio)
		return false;
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	return true;
}

/* ---- Setting up ---------------------------------------------------------------------------- */

/* on_certificate notes the first reason why the server's certificate is not accepted. */
static int on_certificate(int accepted, X509_STORE_CTX *verification)
{
	const SSL *ssl =
	    X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls *tls = SSL_get_app_data(ssl);

	if (!accepted && tls->words[0] == '\0') {
		tls_words_certificate(verification, tls->url, tls->wanted, tls->words);
		tls->refused = true;
	}
	return accepted;
}

/* on_request is called when the server asks for a client's certificate and the URL has none. */
static int on_request(SSL *ssl, X509 **ret_certificate, EVP_PKEY **ret_key)
{
	struct tls *tls = SSL_get_app_data(ssl);

	(void)ret_certificate;
	(void)ret_key;
	tls->moment.asked = true;
	return 0;
}

/* name_server copies the name of the server from the URL. It leaves out the scope of an address and
 * the dot at the end of a name, because a certificate has neither. */
static void name_server(struct tls *tls)
{
	const char *name = tls->url->sni ? tls->url->sni : tls->url->host;
	size_t size;

	(void)snprintf(tls->wanted, sizeof tls->wanted, "%.*s", (int)strcspn(name, "%"), name);
	size = strlen(tls->wanted);
	if (size > 1 && tls->wanted[size - 1] == '.')
		tls->wanted[size - 1] = '\0';
}

static bool verify_name(struct tls *tls)
{
	X509_VERIFY_PARAM *verification = SSL_get0_param(tls->ssl);
	unsigned char address[sizeof(struct in6_addr)];
	bool is_address = inet_pton(AF_INET, tls->wanted, address) == 1 ||
			  inet_pton(AF_INET6, tls->wanted, address) == 1;

	SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, on_certificate);
	if (is_address)
		return X509_VERIFY_PARAM_set1_ip_asc(verification, tls->wanted) == 1;
	X509_VERIFY_PARAM_set_hostflags(verification, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(tls->ssl, tls->wanted) == 1 &&
	       SSL_set_tlsext_host_name(tls->ssl, tls->wanted) == 1;
}

static int make_ssl(struct tls *tls, SSL_CTX *context, char *words)
{
	int status = tls_files_load(context, tls->url, &tls->alloc, words);

	if (status != DW_OK)
		return status;
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_client_cert_cb(context, on_request);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_read_ahead(context, 1);
	SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
	tls->ssl = SSL_new(context);
	if (!tls->ssl)
		return DW_ENOMEM;
	SSL_set_app_data(tls->ssl, tls);
	SSL_set_connect_state(tls->ssl);
	name_server(tls);
	return make_socket(tls) && verify_name(tls) ? DW_OK : DW_ENOMEM;
}

int tls_new(struct tls **ret_tls, const struct redis_url *url, const struct alloc *alloc, int fd,
	    char *ret_words)
{
	struct tls *tls = alloc_new(alloc, sizeof *tls);
	SSL_CTX *context = tls ? SSL_CTX_new(TLS_client_method()) : NULL;
	int status = DW_ENOMEM;

	if (tls) {
		tls->alloc = *alloc;
		tls->url = url;
		tls->fd = fd;
	}
	if (context && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1)
		status = make_ssl(tls, context, ret_words);
	SSL_CTX_free(context); /* SSL holds a reference of its own */
	ERR_clear_error();
	if (status == DW_OK) {
		*ret_tls = tls;
		return DW_OK;
	}
	if (status == DW_ENOMEM)
		(void)message_refuse(ret_words, "no memory for TLS");
	tls_end(tls, true);
	return status;
}

/* ---- Failures ------------------------------------------------------------------------------ */

/* has_failed returns true if the connection has failed; then `words` or `error` say why. It returns
 * false if the call may be made again when the socket is ready. */
static bool has_failed(struct tls *tls, int result)
{
	unsigned long error = ERR_peek_error();
	int kind = SSL_get_error(tls->ssl, result);

	if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
		return false;
	if (kind == SSL_ERROR_ZERO_RETURN)
		tls->is_closed = true;
	if (tls->words[0] == '\0' && kind == SSL_ERROR_SSL && !tls->is_closed)
		tls->refused = tls_words_error(error, tls->url, &tls->moment, tls->words);
	ERR_clear_error();
	return true;
}

static void say_closed(const struct tls *tls, char *ret_words)
{
	if (tls->moment.asked)
		(void)message_refuse(ret_words, "the server closed the connection: it wants a "
						"client certificate, give cert= and key=");
	else
		(void)message_refuse(ret_words, "the server closed the connection in the TLS "
						"handshake");
}

enum tls_verdict tls_why(const struct tls *tls, char *ret_words)
{
	if (tls->words[0])
		(void)message_refuse(ret_words, "%s", tls->words);
	else if (tls->error)
		(void)message_refuse(ret_words, "%s", strerror(tls->error));
	else
		say_closed(tls, ret_words);
	return tls->refused ? TLS_REFUSED : TLS_FAILED;
}

/* ---- Working ------------------------------------------------------------------------------- */

enum tls_verdict tls_shake(struct tls *tls, char *ret_words)
{
	int result;

	ERR_clear_error();
	result = SSL_do_handshake(tls->ssl);
	tls->wants_out = result != 1 && SSL_want_write(tls->ssl);
	tls->moment.shaken = result == 1;
	if (result == 1)
		return TLS_DONE;
	return has_failed(tls, result) ? tls_why(tls, ret_words) : TLS_GOES_ON;
}

const char *tls_hangs(const struct tls *tls, char *ret_words)
{
	if (SSL_get_state(tls->ssl) != TLS_ST_CW_CLNT_HELLO)
		return "the server does not end the TLS handshake";
	(void)message_refuse(ret_words,
			     "the server accepts connections, but does not answer TLS: if it "
			     "speaks none, use %s",
			     redis_url_scheme(tls->url->kind, false));
	return ret_words;
}

/* gather copies bytes into the record until it is full. */
static void gather(struct tls *tls, const struct iovec *vectors, size_t count)
{
	for (size_t i = 0; i < count && tls->waiting < sizeof tls->record; i++) {
		size_t room = sizeof tls->record - tls->waiting;
		size_t size = vectors[i].iov_len < room ? vectors[i].iov_len : room;

		memcpy(tls->record + tls->waiting, vectors[i].iov_base, size);
		tls->waiting += size;
	}
}

ssize_t tls_send(struct tls *tls, const struct iovec *vectors, size_t count)
{
	ssize_t size;
	int result;

	if (tls->waiting == 0)
		gather(tls, vectors, count);
	ERR_clear_error();
	result = SSL_write(tls->ssl, tls->record, (int)tls->waiting);
	if (result > 0) {
		size = (ssize_t)tls->waiting;
		explicit_bzero(tls->record, tls->waiting); /* there may be a password in it */
		tls->waiting = 0;
		return size;
	}
	if (!has_failed(tls, result))
		errno = EAGAIN;
	else
		errno = tls->error ? tls->error : EPROTO;
	return -1;
}

ssize_t tls_receive(struct tls *tls, char *bytes, size_t size)
{
	int result;

	ERR_clear_error();
	result = SSL_read(tls->ssl, bytes, (int)size);
	tls->wants_out = result <= 0 && SSL_want_write(tls->ssl);
	if (result > 0)
		return result;
	if (!has_failed(tls, result)) {
		errno = EAGAIN;
		return -1;
	}
	if (tls->words[0] == '\0' && tls->is_closed)
		return 0;
	errno = tls->words[0] == '\0' && tls->error ? tls->error : EPROTO;
	return -1;
}

bool tls_wants_out(const struct tls *tls)
{
	return tls->wants_out;
}

bool tls_wants_certificate(const struct tls *tls)
{
	return tls->moment.asked;
}

void tls_end(struct tls *tls, bool forked)
{
	if (!tls)
		return;
	if (tls->ssl && tls->moment.shaken && !tls->words[0] && !tls->error && !forked)
		(void)SSL_shutdown(tls->ssl); /* may fail: the server closes anyway */
	SSL_free(tls->ssl);
	BIO_meth_free(tls->method);
	ERR_clear_error();
	explicit_bzero(tls->record, sizeof tls->record);
	alloc_free(&tls->alloc, tls);
}
