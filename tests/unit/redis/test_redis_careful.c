/* The link finds the command on which the server closes the connection. */
#include <string.h>

#include "support/cmocka.h"
#include "support/fake_server.h"
#include "support/redis_link.h"

#define WELCOME(id)                                                                                \
	"+OK\r\n$37\r\nredis_version:255.255.2\r\nrun_id:" id "\r\n\r\n"                           \
	"$29\r\nmaxmemory_policy:noeviction\r\n\r\n$13\r\nrole:master\r\n\r\n"                     \
	"-ERR This instance has cluster support disabled\r\n+PONG\r\n"
#define GREET(id)                                                                                  \
	{FAKE_ACCEPT, NULL, 0}, {FAKE_EXPECT, "PING\r\n", 0},                                      \
	{                                                                                          \
		FAKE_SEND, WELCOME(id), 0                                                          \
	}

static struct fake_server server;
static struct linked linked;

static void open_fake(const struct fake_step *steps)
{
	struct socket_options options = {.name = "t", .probe_every = DW_SECONDS(1000)};
	char url[TEMP_SIZE + 16];

	fake_server_start(&server, false, steps);
	linked_open(&linked, linked_url(url, sizeof url, server.path, 0), &options);
	linked_await_up(&linked);
}

static void send_both(void)
{
	assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
	assert_int_equal(linked_send(&linked, "GET b"), DW_OK);
}

static void close_fake(void)
{
	linked_close(&linked);
	fake_server_end(&server);
}

/* sent: how often the server has got the command. */
static int sent(const char *key)
{
	int count = 0;

	for (size_t i = 0; i + strlen(key) <= server.seen_size; i++)
		count += memcmp(server.seen + i, key, strlen(key)) == 0;
	return count;
}

#define KEY_A "$1\r\na\r\n"
#define KEY_B "$1\r\nb\r\n"

/* Of two commands on their way nobody knows which one it was. Then they go one by one. */
static void command_alone_is_blamed(void **state)
{
	const struct fake_step steps[] = {GREET("one"),
					  {FAKE_EXPECT, KEY_B, 0},
					  {FAKE_CLOSE, NULL, 0},
					  GREET("one"),
					  {FAKE_EXPECT, KEY_A, 0},
					  {FAKE_SEND, "+A\r\n", 0},
					  {FAKE_EXPECT, KEY_B, 0},
					  {FAKE_CLOSE, NULL, 0},
					  GREET("one"),
					  {FAKE_STALL, NULL, 0},
					  {FAKE_END, NULL, 0}};

	(void)state;
	open_fake(steps);
	send_both();
	linked_await_down(&linked);
	assert_int_equal(link_blamed(linked.link), 0);
	linked_await_up(&linked);
	send_both();
	reply_free(linked_await_reply(&linked));
	linked_await_down(&linked);
	assert_int_equal(link_blamed(linked.link), 2);
	linked_await_up(&linked);
	assert_int_equal(link_blamed(linked.link), 2);
	close_fake();
}

static void one_by_one(void **state)
{
	const struct fake_step steps[] = {
	    GREET("one"),          {FAKE_EXPECT, KEY_B, 0}, {FAKE_CLOSE, NULL, 0},
	    GREET("one"),          {FAKE_EXPECT, KEY_A, 0}, {FAKE_STALL, NULL, 0},
	    {FAKE_CLOSE, NULL, 0}, {FAKE_END, NULL, 0}};

	(void)state;
	open_fake(steps);
	send_both();
	linked_await_down(&linked);
	linked_await_up(&linked);
	send_both();
	for (int i = 0; i < 20; i++)
		link_work(linked.link, linked_now());
	fake_server_go(&server);
	linked_await_down(&linked);
	close_fake();
	assert_int_equal(sent(KEY_A), 2);
	assert_int_equal(sent(KEY_B), 1);
}

/* A server that was killed in that moment is another process. */
static void crash_blames_nobody(void **state)
{
	const struct fake_step steps[] = {GREET("one"),          {FAKE_EXPECT, KEY_A, 0},
					  {FAKE_CLOSE, NULL, 0}, GREET("two"),
					  {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};

	(void)state;
	open_fake(steps);
	assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
	linked_await_down(&linked);
	assert_int_equal(link_blamed(linked.link), 1);
	linked_await_up(&linked);
	assert_int_equal(link_blamed(linked.link), 0);
	close_fake();
}

/* The words of a server that closes are about the oldest command, whatever else is on its way. */
static void last_words_blame(void **state)
{
	const struct fake_step steps[] = {
	    GREET("one"),
	    {FAKE_EXPECT, KEY_B, 0},
	    {FAKE_SEND, "-ERR Protocol error: invalid bulk length\r\n", 0},
	    {FAKE_STALL, NULL, 0},
	    {FAKE_END, NULL, 0}};

	(void)state;
	open_fake(steps);
	send_both();
	linked_await_trouble(&linked, "invalid bulk length", NULL);
	assert_int_equal(link_blamed(linked.link), 1);
	close_fake();
}

/* What an idle connection meets, or one that was dropped, blames nobody. */
static void other_ends_blame_nobody(void **state)
{
	const struct fake_step steps[] = {GREET("one"),          {FAKE_CLOSE, NULL, 0},
					  GREET("one"),          {FAKE_EXPECT, KEY_A, 0},
					  {FAKE_STALL, NULL, 0}, {FAKE_END, NULL, 0}};

	(void)state;
	open_fake(steps);
	linked_await_down(&linked);
	assert_int_equal(link_blamed(linked.link), 0);
	linked_await_up(&linked);
	assert_int_equal(linked_send(&linked, "GET a"), DW_OK);
	link_work(linked.link, linked_now());
	link_drop(linked.link, "a test");
	assert_int_equal(link_blamed(linked.link), 0);
	close_fake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(command_alone_is_blamed), cmocka_unit_test(one_by_one),
	    cmocka_unit_test(crash_blames_nobody),     cmocka_unit_test(last_words_blame),
	    cmocka_unit_test(other_ends_blame_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
