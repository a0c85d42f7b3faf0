#include "support/redis_link.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "port/clock.h"
#include "support/cmocka.h"

#define PATIENCE DW_SECONDS(60)

dw_usec linked_now(void)
{
	struct clock clock = clock_system();

	return clock.steady(clock.user);
}

static void on_log(dw_log_level level, const char *line, void *user)
{
	struct linked *linked = user;
	size_t size = strlen(linked->log);

	(void)level;
	(void)snprintf(linked->log + size, sizeof linked->log - size, "%s\n", line);
}

char *linked_url(char *ret_url, size_t size, const char *path, unsigned port)
{
	if (port)
		(void)snprintf(ret_url, size, "redis://127.0.0.1:%u", port);
	else
		(void)snprintf(ret_url, size, "unix://%s", path);
	return ret_url;
}

void linked_open(struct linked *linked, const char *url, const struct socket_options *options)
{
	struct socket_options own = {.name = "durawheel-test", .seed = 1};
	char message[DW_MESSAGE_SIZE];

	memset(linked, 0, sizeof *linked);
	linked->alloc = alloc_default();
	if (options)
		own = *options;
	if (!own.alloc.resize)
		own.alloc = linked->alloc;
	if (redis_url_read(&linked->url, url, &linked->alloc, message) != DW_OK)
		fail_msg("%s: %s", url, message);
	if (linked->url.host_count > 0)
		assert_int_equal(redis_url_aim(&linked->url, linked->url.hosts[0].host,
					       linked->url.hosts[0].port, &linked->alloc),
				 DW_OK);
	own.url = &linked->url;
	own.log = on_log;
	own.log_user = linked;
	assert_int_equal(socket_link_new(&linked->link, &own), DW_OK);
}

void linked_close(struct linked *linked)
{
	link_free(linked->link);
	redis_url_free(&linked->url, &linked->alloc);
}

void linked_step(struct linked *linked)
{
	struct pollfd ready = {.fd = link_descriptor(linked->link), .events = POLLIN};
	dw_usec left = usec_sub(link_due(linked->link), linked_now());
	dw_usec most = usec_max(0, usec_min(left, DW_MILLISECONDS(900)));
	struct timespec timeout = {.tv_nsec = most * 1000};

	(void)ppoll(&ready, 1, &timeout, NULL);
	link_work(linked->link, linked_now());
	linked->works++;
}

void linked_await_up(struct linked *linked)
{
	dw_usec end = usec_add(linked_now(), PATIENCE);
	bool fatal;

	while (link_connection(linked->link) == 0) {
		linked_step(linked);
		if (linked_now() > end)
			fail_msg("not up: %s", link_trouble(linked->link, &fatal));
	}
	assert_string_equal(link_trouble(linked->link, &fatal), "");
	assert_false(fatal);
}

void linked_await_down(struct linked *linked)
{
	dw_usec end = usec_add(linked_now(), PATIENCE);

	while (link_connection(linked->link) != 0) {
		linked_step(linked);
		assert_true(linked_now() < end);
	}
}

void linked_await_trouble(struct linked *linked, const char *words, bool *ret_fatal)
{
	dw_usec end = usec_add(linked_now(), PATIENCE);
	bool fatal = false;

	while (!strstr(link_trouble(linked->link, &fatal), words)) {
		linked_step(linked);
		if (linked_now() > end)
			fail_msg("\"%s\" does not say \"%s\"", link_trouble(linked->link, &fatal),
				 words);
	}
	if (ret_fatal)
		*ret_fatal = fatal;
}

int linked_send(struct linked *linked, const char *command)
{
	const char *words[16];
	size_t sizes[16];
	const char *at = command;
	int count = 0;

	do {
		assert_true(count < 16);
		words[count] = at;
		sizes[count] = strcspn(at, " ");
		at += sizes[count++];
	} while (*at++ == ' ');
	return link_send(linked->link, count, words, sizes, linked_now());
}

struct reply *linked_await_reply(struct linked *linked)
{
	dw_usec end = usec_add(linked_now(), PATIENCE);
	struct reply *reply = link_take(linked->link);

	while (!reply) {
		linked_step(linked);
		reply = link_take(linked->link);
		assert_true(linked_now() < end);
	}
	return reply;
}

struct reply *linked_ask(struct linked *linked, const char *command)
{
	assert_int_equal(linked_send(linked, command), DW_OK);
	return linked_await_reply(linked);
}
