/* The link to a server that plays a script: greetings that fail, connections that are lost at every
 * bad moment. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/usec.h"
#include "support/cmocka.h"
#include "support/fake_server.h"
#include "support/redis_link.h"

static void open_fake(struct fake_server *server, struct linked *linked,
		      const struct socket_options *options)
{
	char url[TEMP_SIZE + 16];

	linked_open(linked, linked_url(url, sizeof url, server->path, server->port), options);
}

/* rests: nothing to be done before a pause is over, so nobody spins. */
static void rests(const struct linked *linked, dw_usec before)
{
	struct pollfd ready = {.fd = link_descriptor(linked->link), .events = POLLIN};

	assert_int_equal(link_connection(linked->link), 0);
	assert_int_equal(poll(&ready, 1, 0), 0);
	assert_true(link_due(linked->link) >= usec_add(before, DW_MILLISECONDS(40)));
	assert_true(link_due(linked->link) <= usec_add(linked_now(), DW_MILLISECONDS(2400)));
	assert_null(link_take(linked->link));
	assert_int_equal(link_send(linked->link, 0, NULL, NULL, before), DW_ESTORE);
}

/* ---- The hello -------------------------------------------------------------------------- */

/* greet_with: a server that says this ends in trouble with these words. */
static void greet_with(const char *text, const char *words, bool fatal, size_t chunk)
{
	struct fake_step steps[] = {{FAKE_ACCEPT, NULL, 0},
				    {FAKE_EXPECT, "PING\r\n", 0},
				    {FAKE_SEND, text, chunk},
				    {FAKE_STALL, NULL, 0},
				    {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;
	dw_usec before = linked_now();
	bool found = !fatal;

	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, NULL);
	linked_await_trouble(&linked, words, &found);
	assert_int_equal(found, fatal);
	rests(&linked, before);
	fake_server_end(&server);
	linked_close(&linked);
}

#define SERVER "+OK\r\n$23\r\nredis_version:255.255.2\r\n"
#define POLICY "$29\r\nmaxmemory_policy:noeviction\r\n\r\n"
#define MEMORY SERVER POLICY
#define NODE "+OK\r\n$20\r\nredis_mode:cluster\r\n\r\n" POLICY "$11\r\nrole:master\r\n"

static void hello_that_fails_says_why(void **state)
{
	(void)state;
	for (size_t chunk = 0; chunk < 3; chunk++) {
		greet_with("-NOAUTH Authentication required.\r\n", "wants a password", true, chunk);
		greet_with("+OK\r\n$20\r\nredis_version:6.0.16\r\n", "Redis 6.0: 6.2", true, chunk);
		greet_with("+OK\r\n$19\r\nredis_version:5.9.9\r\n", "Redis 5.9: 6.2", true, chunk);
		greet_with("+OK\r\n$40\r\nredis_version:7.0.0\r\nredis_mode:sentinel\r\n",
			   "is a Sentinel", true, chunk);
		greet_with(SERVER "$28\r\nmaxmemory_policy:allkeys-lru\r\n", "noeviction", true,
			   chunk);
		greet_with(NODE "$41\r\na myself,master - 1\nb master - 2 0-16383\n\r\n",
			   "does not serve all slots", true, chunk); /* another node has them */
		greet_with(MEMORY "$10\r\nrole:slave\r\n", "replica", false, chunk);
		greet_with(MEMORY "$11\r\nrole:master\r\n-LOADING Redis is loading\r\n",
			   "LOADING Redis is", false, chunk);
		greet_with("+OK\r\n-BUSY Redis is busy\r\n", "BUSY", false, chunk);
		greet_with("-ERR max number of clients reached\r\n", "too many", false, chunk);
		greet_with("-DENIED Redis is running in protected mode\r\n", "protected", true,
			   chunk);
		greet_with("HTTP/1.1 400 Bad Request\r\n", "protocol", false, chunk);
		greet_with(":1\r\n", "not those of a Redis", false, chunk);
		greet_with("*2147483647\r\n", "protocol", false, chunk);
		greet_with("+OK\r\n$-2\r\n", "protocol", false, chunk);
	}
}

static void hello_that_stalls_is_given_up(void **state)
{
	static const struct fake_step steps[] = {
	    {FAKE_ACCEPT, NULL, 0}, {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};
	struct socket_options options = {.connect_patience = DW_MILLISECONDS(100)};
	struct fake_server server;
	struct linked linked;
	dw_usec before = linked_now();

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, &options);
	linked_await_trouble(&linked, "does not answer", NULL);
	assert_true(linked_now() >= usec_add(before, options.connect_patience));
	rests(&linked, before);
	fake_server_end(&server);
	linked_close(&linked);
}

static void hello_without_rights_is_tolerated(void **state)
{
	static const struct fake_step steps[] = {
	    {FAKE_ACCEPT, NULL, 0},
	    {FAKE_EXPECT, "PING\r\n", 0},
	    {FAKE_SEND,
	     "-NOPERM a\r\n-NOPERM b\r\n-NOPERM c\r\n-NOPERM d\r\n-NOPERM e\r\n"
	     "-NOPERM f\r\n",
	     3},
	    {FAKE_STALL, NULL, 0},
	    {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;
	bool fatal;

	(void)state;
	fake_server_start(&server, false, steps);
	/* The script knows of a CLIENT SETNAME. */
	open_fake(&server, &linked, NULL);
	linked_await_up(&linked);
	assert_non_null(strstr(linked.log, "does not show INFO"));
	assert_non_null(strstr(linked.log, "CLIENT SETNAME"));
	assert_string_equal(link_trouble(linked.link, &fatal), "");
	linked_close(&linked);
	fake_server_end(&server);
}

static void password_is_in_no_words(void **state)
{
	static const char *const answers[] = {"-ERR you said hunter2\r\n",
					      "-WRONGPASS hunter2?\r\n", "-OTHER hunter2\r\n",
					      "+hunter2\r\n", "+OK\r\n+OK\r\n-BUSY hunter2\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		struct fake_step steps[] = {{FAKE_ACCEPT, NULL, 0},
					    {FAKE_EXPECT, "PING\r\n", 0},
					    {FAKE_SEND, answers[i], 0},
					    {FAKE_STALL, NULL, 0},
					    {FAKE_END, NULL, 0}};
		struct fake_server server;
		struct linked linked;
		char url[TEMP_SIZE + 32];
		bool fatal;

		fake_server_start(&server, false, steps);
		(void)snprintf(url, sizeof url, "unix://me:hunter2@%s", server.path);
		linked_open(&linked, url, NULL);
		linked_await_trouble(&linked, "server", NULL);
		assert_null(strstr(link_trouble(linked.link, &fatal), "hunter2"));
		assert_null(strstr(linked.log, "hunter2"));
		fake_server_end(&server);
		assert_non_null(strstr(server.seen, "$4\r\nAUTH\r\n$2\r\nme\r\n$7\r\nhunter2\r\n"));
		linked_close(&linked);
	}
}

/* ---- No connection ------------------------------------------------------------------------- */

static void nobody_at(const char *url, const char *words)
{
	struct linked linked;
	dw_usec before = linked_now();
	bool fatal = true;

	linked_open(&linked, url, NULL);
	linked_await_trouble(&linked, words, &fatal);
	assert_false(fatal);
	rests(&linked, before);
	linked_await_trouble(&linked, words, &fatal);
	assert_non_null(strstr(linked.log, words));
	linked_close(&linked);
}

/* unused_port: bound, and nobody listens: connections are refused while *ret_fd is open. */
static unsigned unused_port(int *ret_fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof address;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*ret_fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

static void server_that_is_not_there_is_said(void **state)
{
	char url[64];
	int fd;

	(void)state;
	nobody_at("unix:///nowhere/at/all.sock", "No such file");
	linked_url(url, sizeof url, NULL, unused_port(&fd));
	nobody_at(url, "Connection refused");
	assert_int_equal(close(fd), 0);
	/* By a name server, or in want of one. */
	nobody_at("redis://no-such-host.invalid", "redis://no-such-host.invalid:6379/0: ");
}

static void name_being_resolved_is_left_alone(void **state)
{
	struct linked linked;

	(void)state;
	linked_open(&linked, "redis://no-such-host.invalid", NULL);
	link_work(linked.link, linked_now());
	linked_close(&linked);
}

static void await_readable(const struct linked *linked)
{
	struct pollfd ready = {.fd = link_descriptor(linked->link), .events = POLLIN};

	if (link_due(linked->link) != 0) /* it has not come already */
		assert_int_equal(poll(&ready, 1, 60000), 1);
}

/* The second one, too: its descriptor is another one. Between them the addresses are tried. */
static void resolved_name_wakes(void **state)
{
	struct socket_options options = {.connect_patience = DW_SECONDS(100000)};
	struct linked linked;
	char url[64];
	int fd;

	(void)state;
	(void)snprintf(url, sizeof url, "redis://localhost:%u", unused_port(&fd));
	linked_open(&linked, url, &options);
	for (int i = 0; i < 6; i++) {
		while (link_due(linked.link) < usec_add(linked_now(), DW_SECONDS(5000)))
			linked_step(&linked); /* until the pause is over */
		await_readable(&linked);
		link_work(linked.link, linked_now());
	}
	linked_close(&linked);
	assert_int_equal(close(fd), 0);
}

/* A listener whose queue is full lets further connections hang. */
static void connection_that_hangs_is_given_up(void **state)
{
	struct socket_options options = {.connect_patience = DW_MILLISECONDS(100)};
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct linked linked;
	char url[64];
	int fds[4];
	int fd;

	(void)state;
	linked_url(url, sizeof url, NULL, unused_port(&fd));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10));
	assert_int_equal(listen(fd, 0), 0);
	for (int i = 0; i < 4; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fds[i], (struct sockaddr *)&address, sizeof address);
	}
	linked_open(&linked, url, &options);
	linked_await_trouble(&linked, "timed out", NULL);
	linked_close(&linked);
	for (int i = 0; i < 4; i++)
		assert_int_equal(close(fds[i]), 0);
	assert_int_equal(close(fd), 0);
}

/* ---- A connection that is up --------------------------------------------------------------- */

static void reply_in_odd_chunks_is_given(void **state)
{
	(void)state;
	for (size_t chunk = 1; chunk < 8; chunk++) {
		struct fake_step steps[] = {FAKE_GREET,
					    {FAKE_EXPECT, "GET\r\n$1\r\nb\r\n", 0},
					    {FAKE_SEND, "*2\r\n$3\r\nabc\r\n:7\r\n-ERR x\r\n", 0},
					    {FAKE_STALL, NULL, 0},
					    {FAKE_END, NULL, 0}};
		struct fake_server server;
		struct linked linked;
		struct reply *reply;

		steps[2].number = steps[4].number = chunk;
		fake_server_start(&server, chunk % 2 == 0, steps);
		open_fake(&server, &linked, NULL);
		linked_await_up(&linked);
		assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
		assert_int_equal(linked_send(&linked, "GET b"), DW_OK);
		reply = linked_await_reply(&linked);
		assert_true(reply_is(&reply->items[0], "abc"));
		assert_int_equal(reply->items[1].integer, 7);
		reply_free(reply);
		reply = linked_await_reply(&linked);
		assert_true(reply_fails(reply, "ERR"));
		reply_free(reply);
		assert_null(link_take(linked.link));
		linked_close(&linked);
		fake_server_end(&server);
	}
}

#define SILENT "does not answer"

/* lose_by: after a command the server does this; the link comes back, and gives no reply. */
static void lose_by(enum fake_kind kind, const char *text, bool tcp, const char *words)
{
	struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_EXPECT, "GET\r\n", 0}, {FAKE_SEND, text, 0}, {kind, NULL, 0},
	    FAKE_GREET, {FAKE_STALL, NULL, 0},       {FAKE_END, NULL, 0}};
	struct socket_options options = {.name = "t", .reply_patience = DW_MILLISECONDS(100)};
	struct fake_server server;
	struct linked linked;
	dw_usec before;

	fake_server_start(&server, tcp, steps);
	open_fake(&server, &linked, &options);
	linked_await_up(&linked);
	assert_int_equal(link_connection(linked.link), 1);
	before = linked_now();
	assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
	assert_int_equal(link_due(linked.link), 0);
	linked_await_trouble(&linked, words, NULL);
	rests(&linked, before);
	assert_true(strcmp(words, SILENT) != 0 ||
		    linked_now() >= usec_add(before, options.reply_patience));
	linked_await_up(&linked);
	assert_int_equal(link_connection(linked.link), 2);
	assert_null(link_take(linked.link));
	linked_close(&linked);
	fake_server_end(&server);
}

static void reply_that_comes_wakes(void **state)
{
	static const struct fake_step steps[] = {FAKE_GREET,
						 {FAKE_EXPECT, "GET\r\n", 0},
						 {FAKE_SEND, ":1\r\n", 0},
						 {FAKE_STALL, NULL, 0},
						 {FAKE_END, NULL, 0}};
	struct socket_options options = {.name = "t", .reply_patience = DW_SECONDS(1000)};
	struct fake_server server;
	struct linked linked;
	struct reply *reply;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, &options);
	linked_await_up(&linked);
	assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
	link_work(linked.link, linked_now());
	await_readable(&linked);
	link_work(linked.link, linked_now());
	reply = link_take(linked.link);
	assert_non_null(reply);
	reply_free(reply);
	linked_close(&linked);
	fake_server_end(&server);
}

static void connection_lost_is_made_anew(void **state)
{
	(void)state;
	lose_by(FAKE_CLOSE, "", false, "closed the connection");
	lose_by(FAKE_CLOSE, "$10\r\nabc", false, "closed the connection");
	lose_by(FAKE_CLOSE, "$10\r\nabc", true, "closed the connection");
	lose_by(FAKE_RESET, "$10\r\nabc", true, "reset");
	lose_by(FAKE_STALL, "$10\r\nabc", false, SILENT);
	lose_by(FAKE_STALL, "", true, SILENT);
	lose_by(FAKE_STALL, "*2147483647\r\n", false, "protocol");
	lose_by(FAKE_STALL, "$100000000\r\n", false, "protocol");
}

static void server_that_talks_unasked_is_left(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_SEND, "+OK\r\n", 0}, {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, NULL);
	linked_await_trouble(&linked, "a reply to no command", NULL);
	linked_close(&linked);
	fake_server_end(&server);
}

static int count(const char *text, const char *word)
{
	int found = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		found++;
	return found;
}

/* Idle: it is asked now and then, and must answer. */
static void server_that_falls_silent_is_noticed(void **state)
{
	static const struct fake_step steps[] = {FAKE_GREET,
						 {FAKE_EXPECT, "GET\r\n", 0},
						 {FAKE_SEND, ":1\r\n", 0},
						 {FAKE_EXPECT, "PING\r\n", 0},
						 {FAKE_SEND, "+PONG\r\n", 1},
						 {FAKE_EXPECT, "PING\r\n", 0},
						 {FAKE_SEND, "-LOADING\r\n", 0},
						 {FAKE_EXPECT, "PING\r\n", 0},
						 {FAKE_STALL, NULL, 0},
						 {FAKE_END, NULL, 0}};
	struct socket_options options = {
	    .name = "t", .reply_patience = DW_SECONDS(2), .probe_every = DW_MILLISECONDS(20)};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, &options);
	linked_await_up(&linked);
	reply_free(linked_ask(&linked, "GET a"));
	linked_await_trouble(&linked, SILENT, NULL);
	linked_close(&linked);
	fake_server_end(&server);
	assert_int_equal(count(server.seen, "PING"), 4);
}

/* Under MISCONF, LOADING or BUSY a server refuses a PING, and is there: what it says is heard. */
static void listener_whose_probe_is_refused_goes_on(void **state)
{
	static const struct fake_step steps[] = {
	    {FAKE_ACCEPT, NULL, 0},
	    {FAKE_EXPECT, "SUBSCRIBE\r\n$4\r\nbell\r\n", 0},
	    {FAKE_SEND, "+OK\r\n*3\r\n$9\r\nsubscribe\r\n$4\r\nbell\r\n:1\r\n", 0},
	    {FAKE_EXPECT, "PING\r\n", 0},
	    {FAKE_SEND, "-MISCONF no\r\n", 0},
	    {FAKE_EXPECT, "PING\r\n", 0},
	    {FAKE_SEND, "-LOADING\r\n", 0},
	    {FAKE_EXPECT, "PING\r\n", 0},
	    {FAKE_SEND, "*3\r\n$7\r\nmessage\r\n$4\r\nbell\r\n$1\r\n7\r\n", 0},
	    {FAKE_STALL, NULL, 0},
	    {FAKE_END, NULL, 0}};
	struct socket_options options = {
	    .name = "t", .channels = "bell", .probe_every = DW_MILLISECONDS(20)};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, &options);
	reply_free(linked_await_reply(&linked));
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	fake_server_end(&server);
}

static void idle_close_is_noticed(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_STALL, NULL, 0}, {FAKE_CLOSE, NULL, 0}, {FAKE_END, NULL, 0}};
	struct socket_options options = {.name = "t", .probe_every = DW_SECONDS(1000)};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, true, steps);
	open_fake(&server, &linked, &options);
	linked_await_up(&linked);
	fake_server_go(&server);
	linked_await_trouble(&linked, "closed the connection", NULL);
	linked_close(&linked);
	fake_server_end(&server);
}

/* Written to, a connection that the server has closed kills nobody. */
static void write_after_close_is_survived(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_CLOSE, NULL, 0}, {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, NULL);
	linked_await_up(&linked);
	fake_server_end(&server);
	for (int i = 0; i < 100 && link_connection(linked.link) != 0; i++) {
		(void)linked_send(&linked, "SET a b");
		link_work(linked.link, linked_now());
	}
	assert_int_equal(link_connection(linked.link), 0);
	linked_close(&linked);
}

static void queue_that_is_full_is_a_limit(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};
	struct socket_options options = {.name = "t", .queue_max = 1000};
	struct fake_server server;
	struct linked linked;
	char value[900];
	const char *words[] = {"ECHO", value};
	const size_t sizes[] = {4, sizeof value};
	const size_t endless[] = {4, SIZE_MAX};

	(void)state;
	memset(value, 'v', sizeof value);
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, &options);
	linked_await_up(&linked);
	assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_OK);
	assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_ELIMIT);
	assert_int_equal(link_send(linked.link, 2, words, endless, linked_now()), DW_ELIMIT);
	link_work(linked.link, linked_now());
	assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_OK);
	linked_close(&linked);
	fake_server_end(&server);
}

static void drop_makes_the_connection_anew(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_STALL, NULL, 0}, {FAKE_CLOSE, NULL, 0},
	    FAKE_GREET, {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;
	bool fatal;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, NULL);
	linked_await_up(&linked);
	link_drop(linked.link, "it talks nonsense");
	rests(&linked, usec_sub(linked_now(), DW_MILLISECONDS(100)));
	assert_non_null(strstr(link_trouble(linked.link, &fatal), "talks nonsense"));
	assert_false(fatal);
	link_drop(linked.link, "twice");
	assert_null(strstr(link_trouble(linked.link, &fatal), "twice"));
	linked_await_up(&linked);
	assert_int_equal(link_connection(linked.link), 2);
	linked_close(&linked);
	fake_server_end(&server);
}

/* What the server sends without end is read in bounded pieces, and is the nonsense it is. */
static void server_that_floods_is_left(void **state)
{
	static const struct fake_step steps[] = {
	    FAKE_GREET, {FAKE_REPEAT, "777777777777777777777777777777", 0}, {FAKE_END, NULL, 0}};
	struct fake_server server;
	struct linked linked;

	(void)state;
	fake_server_start(&server, false, steps);
	open_fake(&server, &linked, NULL);
	linked_await_trouble(&linked, "protocol", NULL);
	linked_close(&linked);
	fake_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hello_that_fails_says_why),
	    cmocka_unit_test(hello_that_stalls_is_given_up),
	    cmocka_unit_test(hello_without_rights_is_tolerated),
	    cmocka_unit_test(password_is_in_no_words),
	    cmocka_unit_test(server_that_is_not_there_is_said),
	    cmocka_unit_test(name_being_resolved_is_left_alone),
	    cmocka_unit_test(resolved_name_wakes),
	    cmocka_unit_test(connection_that_hangs_is_given_up),
	    cmocka_unit_test(reply_in_odd_chunks_is_given),
	    cmocka_unit_test(reply_that_comes_wakes),
	    cmocka_unit_test(connection_lost_is_made_anew),
	    cmocka_unit_test(server_that_talks_unasked_is_left),
	    cmocka_unit_test(server_that_falls_silent_is_noticed),
	    cmocka_unit_test(listener_whose_probe_is_refused_goes_on),
	    cmocka_unit_test(idle_close_is_noticed),
	    cmocka_unit_test(write_after_close_is_survived),
	    cmocka_unit_test(queue_that_is_full_is_a_limit),
	    cmocka_unit_test(drop_makes_the_connection_anew),
	    cmocka_unit_test(server_that_floods_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
