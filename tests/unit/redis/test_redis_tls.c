/* The link to a real redis-server over TLS: whom it trusts, what it says of everybody else, and
 * what it does on a bad line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/usec.h"
#include "support/certificates.h"
#include "support/cmocka.h"
#include "support/redis_link.h"
#include "support/redis_server.h"
#include "support/relay.h"
#include "support/shortage.h"

enum { URL_SIZE = 4 * TEMP_SIZE, OPTIONS_MAX = 16 };

/* struct secured: a server with TLS, and the files that it and its clients use. */
struct secured {
	struct certificates made;
	struct redis_server server;
	char ca[TEMP_SIZE], cert[TEMP_SIZE], key[TEMP_SIZE];
	const char *options[OPTIONS_MAX];
};

/* start starts a server with the certificate of that name. more are further options, or NULL: then
 * it asks for no certificate. */
static void start(struct secured *secured, const char *name, const char *const *more)
{
	static const char *const open[] = {"--tls-auth-clients", "no", NULL};
	char file[64];
	const char *const files[] = {"--tls-cert-file", secured->cert,        "--tls-key-file",
				     secured->key,      "--tls-ca-cert-file", secured->ca};
	size_t count = 0;

	(void)snprintf(file, sizeof file, "%s.pem", name);
	(void)certificates_file(&secured->made, file, secured->cert);
	(void)snprintf(file, sizeof file, "%s.key", name);
	(void)certificates_file(&secured->made, file, secured->key);
	(void)certificates_file(&secured->made, "ca.pem", secured->ca);
	for (; count < sizeof files / sizeof *files; count++)
		secured->options[count] = files[count];
	for (more = more ? more : open; *more; more++)
		secured->options[count++] = *more;
	secured->options[count] = NULL;
	redis_server_start_tls(&secured->server, secured->options);
}

static void make(struct secured *secured)
{
	certificates_make(&secured->made);
	certificates_sign(&secured->made,
			  &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 20});
}

static void end(struct secured *secured)
{
	redis_server_end(&secured->server);
	certificates_remove(&secured->made);
}

/* url writes the URL of a port. In `after`, each @ stands for the folder of the certificates. */
static const char *url(const struct secured *secured, unsigned port, const char *after,
		       char ret_url[URL_SIZE])
{
	size_t size = (size_t)snprintf(ret_url, URL_SIZE, "rediss://127.0.0.1:%u", port);

	for (; *after; after++)
		size += (size_t)(*after == '@'
				     ? snprintf(ret_url + size, URL_SIZE - size, "%s/",
						secured->made.folder)
				     : snprintf(ret_url + size, URL_SIZE - size, "%c", *after));
	assert_true(size < URL_SIZE);
	return ret_url;
}

/* On a loaded machine everything may take long. */
static const struct socket_options patient = {
    .name = "t", .connect_patience = DW_MINUTES(5), .reply_patience = DW_MINUTES(5)};

static void open_link(struct linked *linked, const struct secured *secured, const char *after)
{
	char text[URL_SIZE];

	linked_open(linked, url(secured, secured->server.port, after, text), &patient);
}

static void is(struct linked *linked, const char *command, const char *wanted)
{
	struct reply *reply = linked_ask(linked, command);

	if (!reply_is(reply, wanted))
		fail_msg("%s: %s", command, reply->bytes ? reply->bytes : "of another kind");
	reply_free(reply);
}

static void works(const struct secured *secured, const char *after)
{
	struct linked linked;

	open_link(&linked, secured, after);
	linked_await_up(&linked);
	is(&linked, "SET a 1", "OK");
	is(&linked, "GET a", "1");
	linked_close(&linked);
}

/* refused: for good, with these words. */
static void refused(const struct secured *secured, const char *after, const char *words)
{
	struct linked linked;
	bool fatal = false;

	open_link(&linked, secured, after);
	linked_await_trouble(&linked, words, &fatal);
	assert_true(fatal);
	linked_close(&linked);
}

/* ---- The server's certificate -------------------------------------------------------------- */

static void server_is_verified(void **state)
{
	struct secured secured;

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	works(&secured, "/2?ca=@ca.pem");
	works(&secured, "?sni=redis.example&ca=@ca.pem");
	works(&secured, "?ca=@ca.pem&sni=redis.example.");
	refused(&secured, "?ca=@other.pem", "is signed by an authority that the ca file \"");
	refused(&secured, "", "this system does not trust: give ca=FILE");
	refused(&secured, "?ca=@ca.pem&sni=else.example",
		"is not for \"else.example\", but for redis.example, 127.0.0.1; sni=NAME");
	refused(&secured, "?ca=@ca.pem&sni=127.0.0.2", "is not for \"127.0.0.2\", but for redis");
	refused(&secured, "?ca=@ca.pem&sni=::1", "is not for \"::1\", but for redis");
	end(&secured);
}

/* The system's authorities are those of a folder with hashed names, or of a file. */
static void authorities_of_the_system_are_trusted(void **state)
{
	struct secured secured;
	char path[TEMP_SIZE];

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
	assert_int_equal(setenv("SSL_CERT_DIR", secured.made.folder, 1), 0);
	refused(&secured, "", "this system does not trust: give ca=FILE");
	certificates_hash(&secured.made, "other");
	refused(&secured, "", "this system does not trust: give ca=FILE");
	certificates_hash(&secured.made, "ca");
	works(&secured, "");
	refused(&secured, "?ca=@other.pem", "is signed by an authority that the ca file \"");
	assert_int_equal(unsetenv("SSL_CERT_DIR"), 0);
	refused(&secured, "", "this system does not trust: give ca=FILE");
	assert_int_equal(
	    setenv("SSL_CERT_FILE", certificates_file(&secured.made, "ca.pem", path), 1), 0);
	works(&secured, "");
	assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
	end(&secured);
}

static void certificate_has_its_time_and_name(void **state)
{
	struct secured secured;
	char words[64];
	char day[16];

	(void)state;
	make(&secured);
	certificates_sign(&secured.made,
			  &(struct certificate){"old", "ca", CERTIFICATE_NAMES, -9, -2});
	certificates_sign(&secured.made,
			  &(struct certificate){"new", "ca", CERTIFICATE_NAMES, 2, 9});
	certificates_sign(&secured.made, &(struct certificate){"common", "ca", NULL, -1, 9});
	start(&secured, "old", NULL);
	certificates_day(-2, day);
	(void)snprintf(words, sizeof words, "the server's certificate expired on %s", day);
	refused(&secured, "?ca=@ca.pem", words);
	redis_server_end(&secured.server);
	start(&secured, "new", NULL);
	certificates_day(2, day);
	(void)snprintf(words, sizeof words, "is not valid before %s", day);
	refused(&secured, "?ca=@ca.pem", words);
	redis_server_end(&secured.server);
	start(&secured, "common", NULL);
	works(&secured, "?ca=@ca.pem&sni=common");
	refused(&secured, "?ca=@ca.pem", "is not for \"127.0.0.1\", but for common;");
	end(&secured);
}

/* Another authority with the same name does not do, and an authority may have expired. */
static void authority_is_verified(void **state)
{
	struct secured secured;
	char path[TEMP_SIZE];
	char copy[TEMP_SIZE];

	(void)state;
	make(&secured);
	temp_copy(certificates_file(&secured.made, "ca.pem", path),
		  certificates_file(&secured.made, "first.pem", copy));
	certificates_sign(&secured.made, &(struct certificate){"ca", NULL, NULL, -30, 30});
	start(&secured, "server", NULL);
	works(&secured, "?ca=@first.pem");
	refused(&secured, "?ca=@ca.pem", "is signed by an authority that the ca file \"");
	redis_server_end(&secured.server);
	certificates_sign(&secured.made, &(struct certificate){"ca", NULL, NULL, -30, -1});
	certificates_sign(&secured.made,
			  &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 20});
	start(&secured, "server", NULL);
	refused(&secured, "?ca=@ca.pem", "an authority of the server's certificate expired on 2");
	end(&secured);
}

/* ---- The client's certificate -------------------------------------------------------------- */

static void ask_for_certificates(struct secured *secured, const char *protocols)
{
	const char *more[] = {"--tls-auth-clients", "yes", "--tls-protocols", protocols, NULL};

	start(secured, "server", more);
	refused(secured, "?ca=@ca.pem", "wants a client certificate");
	refused(secured, "?ca=@ca.pem&cert=@strange.pem&key=@strange.key",
		"does not accept the cert file \"");
	works(secured, "?ca=@ca.pem&cert=@client.pem&key=@client.key");
	redis_server_end(&secured->server);
}

static void client_shows_its_certificate(void **state)
{
	struct secured secured;

	(void)state;
	make(&secured);
	certificates_sign(&secured.made, &(struct certificate){"client", "ca", NULL, -1, 9});
	certificates_sign(&secured.made, &(struct certificate){"strange", "other", NULL, -1, 9});
	ask_for_certificates(&secured, "TLSv1.3");
	ask_for_certificates(&secured, "TLSv1.2");
	certificates_remove(&secured.made);
}

static void old_protocol_is_refused(void **state)
{
	static const char *const more[] = {
	    "--tls-auth-clients",  "no", "--tls-protocols", "TLSv1.1", "--tls-ciphers",
	    "DEFAULT:@SECLEVEL=0", NULL};
	struct secured secured;

	(void)state;
	make(&secured);
	start(&secured, "server", more);
	refused(&secured, "?ca=@ca.pem", "does not speak TLS 1.2 or newer");
	end(&secured);
}

/* ---- A bad line ---------------------------------------------------------------------------- */

/* More bytes than the handshake has in either direction; the hello comes behind it. */
enum { SHAKEN_MAX = 1500 };

/* cut_after opens a link through the relay, and cuts it after so many bytes of this way. It returns
 * true if the link came up before. */
static bool cut_after(const struct secured *secured, struct relay *relay, enum relay_way way,
		      long bytes)
{
	struct linked linked;
	char text[URL_SIZE];
	bool fatal = true;
	bool is_up;

	relay_open(relay);
	relay_cut_after(relay, way, bytes);
	linked_open(&linked, url(secured, relay->port, "?ca=@ca.pem", text), &patient);
	while (link_connection(linked.link) == 0 && !link_trouble(linked.link, &fatal)[0])
		linked_step(&linked);
	is_up = link_connection(linked.link) != 0;
	if (!is_up && !strstr(linked.log, "closed the connection") &&
	    !strstr(linked.log, "Connection reset") && !strstr(linked.log, "Broken pipe"))
		fail_msg("%ld: %s", bytes, linked.log);
	assert_false(fatal);
	if (!is_up && bytes % 97 == 0) {
		relay_open(relay);
		linked_await_up(&linked);
		is(&linked, "PING", "PONG");
	}
	linked_close(&linked);
	return is_up;
}

static void connection_may_be_cut_at_each_byte(void **state)
{
	struct secured secured;
	struct relay relay;

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	relay_start_tcp(&relay, secured.server.port);
	for (int way = 0; way < RELAY_WAYS; way++) {
		long bytes = 0;

		while (!cut_after(&secured, &relay, (enum relay_way)way, bytes))
			bytes += bytes < SHAKEN_MAX ? (long)shortage_step() : 29;
		assert_true(bytes > 500);
	}
	relay_end(&relay);
	end(&secured);
}

static void bytes_may_come_one_by_one(void **state)
{
	char value[20000];
	const char *words[] = {"ECHO", value};
	const size_t sizes[] = {4, sizeof value};
	struct secured secured;
	struct linked linked;
	struct relay relay;
	struct reply *reply;
	char text[URL_SIZE];

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	relay_start_tcp(&relay, secured.server.port);
	atomic_store(&relay.piece, 1);
	linked_open(&linked, url(&secured, relay.port, "?ca=@ca.pem", text), &patient);
	linked_await_up(&linked);
	is(&linked, "SET a 1", "OK");
	is(&linked, "GET a", "1");
	memset(value, 'v', sizeof value);
	assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_OK);
	reply = linked_await_reply(&linked);
	assert_int_equal(reply->size, sizeof value);
	assert_memory_equal(reply->bytes, value, sizeof value);
	reply_free(reply);
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	relay_end(&relay);
	end(&secured);
}

/* More goes out than any socket buffer has room for, and comes back; many replies come in one
 * record. */
static void much_goes_both_ways(void **state)
{
	const size_t size = 8u << 20;
	char *value = malloc(size);
	const char *words[] = {"ECHO", value};
	const size_t sizes[] = {4, size};
	struct secured secured;
	struct linked linked;
	struct reply *reply;

	(void)state;
	assert_non_null(value);
	for (size_t i = 0; i < size; i++)
		value[i] = (char)(i * 7 + i / 256);
	make(&secured);
	start(&secured, "server", NULL);
	open_link(&linked, &secured, "?ca=@ca.pem");
	linked_await_up(&linked);
	for (int i = 0; i < 3; i++)
		assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_OK);
	for (int i = 0; i < 3; i++) {
		reply = linked_await_reply(&linked);
		assert_int_equal(reply->size, size);
		assert_memory_equal(reply->bytes, value, size);
		reply_free(reply);
	}
	for (int i = 0; i < 20000; i++)
		assert_int_equal(linked_send(&linked, "INCR n"), DW_OK);
	for (int i = 1; i <= 20000; i++) {
		reply = linked_await_reply(&linked);
		assert_int_equal(reply->integer, i);
		reply_free(reply);
	}
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	end(&secured);
	free(value);
}

/* A record of many commands is under way when the link becomes careful, and may write one. For the
 * link no time passes while the server stands still, so it does not give the server up. */
static void record_that_waits_is_sent_whole(void **state)
{
	enum { COUNT = 16000 }; /* more than the socket buffers have room for */
	static char value[1024];
	const char *words[] = {"ECHO", value};
	const size_t sizes[] = {4, sizeof value};
	struct secured secured;
	struct linked linked;
	dw_usec now;

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	open_link(&linked, &secured, "?ca=@ca.pem");
	linked_await_up(&linked);
	redis_server_pause(&secured.server);
	now = linked_now();
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(link_send(linked.link, 2, words, sizes, now), DW_OK);
	for (int i = 0; i < 100; i++) {
		link_work(linked.link, now);
		assert_null(link_take(linked.link));
	}
	link_careful(linked.link, now);
	redis_server_resume(&secured.server);
	for (int i = 0; i < COUNT; i++) {
		struct reply *reply = linked_await_reply(&linked);

		assert_int_equal(reply->size, sizeof value);
		reply_free(reply);
	}
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	end(&secured);
}

/* ---- Later connections --------------------------------------------------------------------- */

static void files_are_read_anew(void **state)
{
	struct secured secured;
	struct linked linked;
	char path[TEMP_SIZE];

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	open_link(&linked, &secured, "?ca=@ca.pem");
	linked_await_up(&linked);
	redis_server_kill(&secured.server);
	linked_await_down(&linked);
	certificates_sign(&secured.made, &(struct certificate){"ca", NULL, NULL, -30, 30});
	certificates_sign(&secured.made,
			  &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 20});
	redis_server_restart(&secured.server);
	linked_await_up(&linked);
	assert_int_equal(link_connection(linked.link), 2);
	assert_int_equal(unlink(certificates_file(&secured.made, "ca.pem", path)), 0);
	link_drop(linked.link, "for the test");
	linked_await_trouble(&linked, "ca.pem\" cannot be opened: No such file", NULL);
	linked_close(&linked);
	end(&secured);
}

static void listener_hears_messages(void **state)
{
	struct socket_options options = {
	    .name = "t", .channels = "bell", .probe_every = DW_MILLISECONDS(5)};
	struct secured secured;
	struct linked listener;
	struct linked other;
	struct reply *reply;
	char text[URL_SIZE];

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	linked_open(&listener, url(&secured, secured.server.port, "?ca=@ca.pem", text), &options);
	open_link(&other, &secured, "?ca=@ca.pem");
	linked_await_up(&listener);
	linked_await_up(&other);
	for (int i = 0; i < 20; i++) {
		reply_free(linked_ask(&other, "PUBLISH bell ding"));
		reply = linked_await_reply(&listener);
		assert_true(reply_is(&reply->items[2], "ding"));
		reply_free(reply);
	}
	linked_close(&other);
	linked_close(&listener);
	end(&secured);
}

/* A forked child that frees the link does not end the parent's connection. */
static void child_leaves_the_connection_alone(void **state)
{
	struct secured secured;
	struct linked linked;
	pid_t child;
	int status;

	(void)state;
	make(&secured);
	start(&secured, "server", NULL);
	open_link(&linked, &secured, "?ca=@ca.pem");
	linked_await_up(&linked);
	child = fork();
	if (child == 0) {
		link_free(linked.link);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	is(&linked, "SET a 1", "OK");
	is(&linked, "GET a", "1");
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	end(&secured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(server_is_verified),
	    cmocka_unit_test(authorities_of_the_system_are_trusted),
	    cmocka_unit_test(certificate_has_its_time_and_name),
	    cmocka_unit_test(authority_is_verified),
	    cmocka_unit_test(client_shows_its_certificate),
	    cmocka_unit_test(old_protocol_is_refused),
	    cmocka_unit_test(connection_may_be_cut_at_each_byte),
	    cmocka_unit_test(bytes_may_come_one_by_one),
	    cmocka_unit_test(much_goes_both_ways),
	    cmocka_unit_test(record_that_waits_is_sent_whole),
	    cmocka_unit_test(files_are_read_anew),
	    cmocka_unit_test(listener_hears_messages),
	    cmocka_unit_test(child_leaves_the_connection_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
