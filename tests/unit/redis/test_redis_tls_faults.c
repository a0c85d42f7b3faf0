/* TLS with files that are no good, and with servers that a real Redis server never is: others than
 * TLS, records of one byte, new keys. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "redis/tls.h"
#include "support/certificates.h"
#include "support/cmocka.h"
#include "support/fake_server.h"
#include "support/redis_link.h"
#include "support/redis_server.h"
#include "support/shortage.h"

enum { URL_SIZE = 4 * TEMP_SIZE };

/* ---- Files --------------------------------------------------------------------------------- */

static struct certificates made;

/* write_text makes a file, and removes the old one. */
static void write_text(const char *name, const char *text, mode_t mode)
{
	char path[TEMP_SIZE];
	FILE *stream;

	(void)unlink(certificates_file(&made, name, path)); /* it may not be there */
	stream = fopen(path, "w");
	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fchmod(fileno(stream), mode), 0);
	assert_int_equal(fclose(stream), 0);
}

static int read_files(const char *ca, const char *cert, const char *key,
		      char message[DW_MESSAGE_SIZE])
{
	struct alloc alloc = alloc_default();
	char text[URL_SIZE];
	struct redis_url url;
	struct tls *tls = NULL;
	int status;

	(void)snprintf(text, sizeof text, "rediss://h?ca=%s/%s", made.folder, ca);
	if (cert)
		(void)snprintf(text, sizeof text, "rediss://h?ca=%s/%s&cert=%s/%s&key=%s/%s",
			       made.folder, ca, made.folder, cert, made.folder, key);
	assert_int_equal(redis_url_read(&url, text, &alloc, message), DW_OK);
	message[0] = '\0';
	status = tls_new(&tls, &url, &alloc, -1, message);
	tls_end(tls, false);
	redis_url_free(&url, &alloc);
	assert_int_equal(ERR_peek_error(), 0); /* other users of OpenSSL see nothing of it */
	return status;
}

/* bad: the files are refused. The words say so, and name the file. */
static void bad(const char *ca, const char *cert, const char *key, const char *words)
{
	char message[DW_MESSAGE_SIZE];

	assert_int_equal(read_files(ca, cert, key, message), DW_EINVAL);
	if (!strstr(message, words) || !strstr(message, made.folder))
		fail_msg("\"%s\" does not say \"%s\"", message, words);
}

static void encrypt_key(const char *name)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	char path[TEMP_SIZE];
	FILE *stream;
	unsigned char word[] = "word";

	write_text(name, "", 0600);
	stream = fopen(certificates_file(&made, name, path), "w");
	assert_true(key && stream);
	assert_int_equal(PEM_write_PrivateKey(stream, key, EVP_aes_128_cbc(), word, 4, NULL, NULL),
			 1);
	assert_int_equal(fclose(stream), 0);
	EVP_PKEY_free(key);
}

static void files_that_are_no_good_are_named(void **state)
{
	char message[DW_MESSAGE_SIZE];
	char path[TEMP_SIZE];

	(void)state;
	certificates_make(&made);
	certificates_sign(&made, &(struct certificate){"client", "ca", NULL, -1, 9});
	certificates_sign(&made, &(struct certificate){"second", "ca", NULL, -1, 9});
	assert_int_equal(read_files("ca.pem", NULL, NULL, message), DW_OK);
	assert_int_equal(read_files("ca.pem", "client.pem", "client.key", message), DW_OK);
	bad("none.pem", NULL, NULL, "none.pem\" cannot be opened: No such file");
	bad("", NULL, NULL, "is not a regular file");
	bad("ca.key", NULL, NULL, "ca.key\" has no certificate in PEM form");
	write_text("empty", "", 0644);
	bad("empty", NULL, NULL, "empty\" has no certificate in PEM form");
	write_text("damaged", "-----BEGIN CERTIFICATE-----\nMIIBabcd\n-----END CERTIFICATE-----\n",
		   0644);
	bad("damaged", NULL, NULL, "damaged\": certificate 1 is damaged");
	bad("ca.pem", "none.pem", "client.key", "none.pem\" cannot be opened: No such file");
	bad("ca.pem", "client.key", "client.key", "client.key\" has no certificate");
	bad("ca.pem", "damaged", "client.key", "damaged\": certificate 1 is damaged");
	bad("ca.pem", "client.pem", "none.key", "none.key\" cannot be opened: No such file");
	bad("ca.pem", "client.pem", "second.key",
	    "second.key\" is not the key of the cert file \"");
	write_text("letter", "Dear Sir,\n", 0600);
	bad("ca.pem", "client.pem", "letter", "letter\" has no private key in PEM form");
	encrypt_key("locked");
	bad("ca.pem", "client.pem", "locked", "locked\" is encrypted");
	(void)certificates_file(&made, "client.key", path);
	assert_int_equal(chmod(path, 0640), 0);
	bad("ca.pem", "client.pem", "client.key", "client.key\" may be read or changed by others");
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(read_files("ca.pem", "client.pem", "client.key", message), DW_OK);
	assert_int_equal(mkfifo(certificates_file(&made, "pipe", path), 0600), 0);
	bad("pipe", NULL, NULL, "pipe\" is not a regular file");
	certificates_remove(&made);
}

/* Only the handle's own blocks can fail; OpenSSL has its own. */
static void new_without_memory_says_so(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	struct alloc alloc = {.resize = shortage_resize, .user = &shortage};
	struct alloc enough = alloc_default();
	char message[DW_MESSAGE_SIZE];
	char text[URL_SIZE];
	struct redis_url url;
	int status = DW_ENOMEM;

	(void)state;
	certificates_make(&made);
	(void)snprintf(text, sizeof text, "rediss://h?ca=%s/ca.pem&cert=%s/ca.pem&key=%s/ca.key",
		       made.folder, made.folder, made.folder);
	assert_int_equal(redis_url_read(&url, text, &enough, message), DW_OK);
	for (size_t nth = 1; status != DW_OK; nth++) {
		struct tls *tls = NULL;

		shortage_begin(&shortage, nth, false);
		status = tls_new(&tls, &url, &alloc, -1, message);
		shortage_end(&shortage);
		assert_true(status == DW_OK || status == DW_ENOMEM);
		tls_end(tls, false);
		assert_int_equal(shortage.blocks, 0);
		assert_true(nth < 10);
	}
	redis_url_free(&url, &enough);
	certificates_remove(&made);
}

/* ---- Servers of another kind --------------------------------------------------------------- */

/* meets: a server that sends this, in answer to anything, ends in trouble with these words. */
static void meets(const char *scheme, const char *answer, const char *words, bool fatal)
{
	const struct fake_step steps[] = {{FAKE_ACCEPT, NULL, 0},
					  {FAKE_EXPECT, scheme[5] == 's' ? "\x16" : "PING\r\n", 0},
					  {FAKE_SEND, answer, 0},
					  {*answer ? FAKE_STALL : FAKE_CLOSE, NULL, 0},
					  {FAKE_END, NULL, 0}};
	bool hangs = strstr(words, "does not answer");
	struct socket_options options = {.connect_patience =
					     hangs ? DW_MILLISECONDS(200) : DW_MINUTES(5)};
	struct fake_server server;
	struct linked linked;
	bool found = !fatal;
	char text[64];

	fake_server_start(&server, true, steps);
	(void)snprintf(text, sizeof text, "%s127.0.0.1:%u%s", scheme, server.port,
		       strstr(scheme, "sentinel") ? "/orders" : "");
	linked_open(&linked, text, &options);
	linked_await_trouble(&linked, words, &found);
	assert_int_equal(found, fatal);
	linked_close(&linked);
	fake_server_end(&server);
}

static void other_servers_are_told_apart(void **state)
{
	char record[5 + 0x101 + 1] = "\x16\x03\x03\x01\x01"; /* of a handshake, with nonsense */

	(void)state;
	meets("rediss://", "-ERR unknown command\r\n", "does not speak TLS: use redis://", true);
	meets("rediss://", "HTTP/1.1 400 Bad Request\r\n", "does not speak TLS: use redis://",
	      true);
	meets("rediss://", "SSH-2.0-OpenSSH_9.2p1\r\n", "does not speak TLS: use redis://", true);
	meets("rediss://", "\x15\x03\x01\x02", "does not answer TLS: if it speaks none",
	      false); /* half of an alert */
	meets("rediss://", "", "the server closed the connection in the TLS handshake", false);
	meets("rediss://", "\x15\x03\x03", "does not answer TLS: if it speaks none", false);
	memset(record + 5, 'x', 0x101);
	meets("rediss://", record, "TLS with the server failed: ", false);
	meets("redis://", "\x15\x03\x03\x02\x28", "the server speaks TLS: use rediss://", false);
	meets("rediss+cluster://", "-ERR unknown command\r\n",
	      "does not speak TLS: use redis+cluster://", true);
	meets("rediss+cluster://", "\x15\x03\x01\x02",
	      "does not answer TLS: if it speaks none, use redis+cluster://", false);
	meets("redis+cluster://", "\x15\x03\x03\x02\x28",
	      "the server speaks TLS: use rediss+cluster://", false);
	meets("redis+sentinel://", "", "if it speaks TLS, use rediss+sentinel://", false);
	meets("redis://", "", "if it speaks TLS, use rediss://", false);
}

static void server_that_says_nothing_is_given_up(void **state)
{
	static const struct fake_step steps[] = {
	    {FAKE_ACCEPT, NULL, 0}, {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};
	struct socket_options options = {.connect_patience = DW_MILLISECONDS(100)};
	struct fake_server server;
	struct linked linked;
	bool fatal = true;
	char text[64];

	(void)state;
	fake_server_start(&server, true, steps);
	(void)snprintf(text, sizeof text, "rediss://127.0.0.1:%u", server.port);
	linked_open(&linked, text, &options);
	linked_await_trouble(&linked, "does not answer TLS: if it speaks none, use redis://",
			     &fatal);
	assert_false(fatal);
	assert_true(linked.works < 20); /* nobody spins */
	linked_close(&linked);
	fake_server_end(&server);
}

/* Redis itself may wait for the end of a line, or answer what it takes for one. */
static void redis_without_tls_is_told(void **state)
{
	struct redis_server server;
	struct linked linked;
	char text[64];

	(void)state;
	redis_server_start(&server, true, NULL);
	(void)snprintf(text, sizeof text, "rediss://127.0.0.1:%u", server.port);
	for (int i = 0; i < 5; i++) {
		struct socket_options options = {.connect_patience = DW_MILLISECONDS(300)};

		linked_open(&linked, text, &options);
		linked_await_trouble(&linked, "use redis://", NULL);
		linked_close(&linked);
	}
	redis_server_end(&server);
}

static void redis_with_tls_is_told(void **state)
{
	char cert[TEMP_SIZE], key[TEMP_SIZE];
	const char *const options[] = {
	    "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, NULL};
	struct redis_server server;
	struct linked linked;
	char text[64];

	(void)state;
	certificates_make(&made);
	(void)certificates_file(&made, "ca.pem", cert);
	(void)certificates_file(&made, "ca.key", key);
	redis_server_start_tls(&server, options);
	(void)snprintf(text, sizeof text, "redis://127.0.0.1:%u", server.port);
	linked_open(&linked, text, NULL);
	linked_await_trouble(&linked, "use rediss://", NULL);
	linked_close(&linked);
	redis_server_end(&server);
	certificates_remove(&made);
}

/* ---- Small records, and new keys ----------------------------------------------------------- */

/* struct talker: a server in a thread that greets one client by records of one byte, and asks for
 * new keys between them. Then it answers each PING. */
struct talker {
	int listener;
	unsigned port;
	int protocol;
	bool heard_end; /* the client has said that no more comes */
	pthread_t thread;
};

/* say_slowly returns false if the client has hung up. */
static bool say_slowly(SSL *ssl, const char *text)
{
	for (; *text; text++) {
		if (*text == '\r' && SSL_version(ssl) == TLS1_3_VERSION)
			assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
		if (SSL_write(ssl, text, 1) != 1)
			return false;
	}
	return true;
}

/* hear reads until the client has sent PING once more. Returns false if it has hung up. */
static bool hear(SSL *ssl)
{
	char bytes[4096];
	size_t size = 0;

	while (!memmem(bytes, size, "PING\r\n", 6)) {
		int got = SSL_read(ssl, bytes + size, (int)(sizeof bytes - size));

		if (got <= 0)
			return false;
		size += (size_t)got;
	}
	return true;
}

static void *talk(void *user)
{
	struct talker *talker = user;
	int fd = -1;
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	char path[TEMP_SIZE];
	sigset_t broken;
	int on = 1;
	SSL *ssl = NULL;

	assert_int_equal(sigemptyset(&broken), 0);
	assert_int_equal(sigaddset(&broken, SIGPIPE), 0);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &broken, NULL), 0); /* of this thread alone */
	assert_non_null(context);
	assert_int_equal(SSL_CTX_set_max_proto_version(context, talker->protocol), 1);
	assert_int_equal(SSL_CTX_use_certificate_file(context,
						      certificates_file(&made, "server.pem", path),
						      SSL_FILETYPE_PEM),
			 1);
	assert_int_equal(SSL_CTX_use_PrivateKey_file(context,
						     certificates_file(&made, "server.key", path),
						     SSL_FILETYPE_PEM),
			 1);
	do { /* the client comes again if a busy machine is too slow for it */
		SSL_free(ssl);
		if (fd >= 0)
			(void)close(fd);
		fd = accept(talker->listener, NULL, NULL);
		assert_true(fd >= 0);
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* only faster */
		ssl = SSL_new(context);
		assert_int_equal(SSL_set_fd(ssl, fd), 1);
	} while (SSL_accept(ssl) != 1);
	if (hear(ssl) && say_slowly(ssl, FAKE_WELCOME))
		while (hear(ssl) && say_slowly(ssl, "+PONG\r\n"))
			;
	talker->heard_end = SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN;
	SSL_free(ssl);
	SSL_CTX_free(context);
	(void)close(fd); /* the client has hung up */
	return NULL;
}

static void start_talker(struct talker *talker)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;

	talker->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(talker->listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(talker->listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(talker->listener, 1), 0);
	talker->port = ntohs(address.sin_port);
	assert_int_equal(pthread_create(&talker->thread, NULL, talk, talker), 0);
}

/* meet_talker: with probes, the connection is closed in the middle of an answer. */
static void meet_talker(int protocol, bool probes)
{
	struct socket_options options = {.name = "t",
					 .reply_patience = DW_MINUTES(5),
					 .probe_every = probes ? DW_MILLISECONDS(2) : DW_HOURS(1)};
	struct talker talker = {.protocol = protocol};
	struct linked linked;
	char text[URL_SIZE];

	start_talker(&talker);
	(void)snprintf(text, sizeof text, "rediss://127.0.0.1:%u?ca=%s/ca.pem", talker.port,
		       made.folder);
	linked_open(&linked, text, &options);
	linked_await_up(&linked);
	for (int i = 0; i < 200 && probes; i++)
		linked_step(&linked);
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	assert_int_equal(pthread_join(talker.thread, NULL), 0);
	(void)close(talker.listener); /* it was only listened at */
	assert_true(talker.heard_end || probes);
}

static void records_of_one_byte_and_new_keys_do_no_harm(void **state)
{
	(void)state;
	certificates_make(&made);
	certificates_sign(&made, &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 9});
	for (int probes = 0; probes < 2; probes++) {
		meet_talker(TLS1_3_VERSION, probes);
		meet_talker(TLS1_2_VERSION, probes);
	}
	certificates_remove(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_that_are_no_good_are_named),
	    cmocka_unit_test(new_without_memory_says_so),
	    cmocka_unit_test(other_servers_are_told_apart),
	    cmocka_unit_test(server_that_says_nothing_is_given_up),
	    cmocka_unit_test(redis_without_tls_is_told),
	    cmocka_unit_test(redis_with_tls_is_told),
	    cmocka_unit_test(records_of_one_byte_and_new_keys_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
