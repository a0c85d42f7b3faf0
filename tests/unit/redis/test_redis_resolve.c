/* Which names are looked up. getaddrinfo() is this program's: it notes whom it is asked for. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "redis/resolve.h"
#include "support/cmocka.h"

static char asked[64];

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		struct addrinfo **ret_list)
{
	(void)port;
	(void)hints;
	(void)ret_list;
	(void)snprintf(asked, sizeof asked, "%s", host ? host : "(this host)");
	return EAI_NONAME;
}

/* looked_up: for whom a look-up of that name asks. */
static const char *looked_up(const char *host)
{
	struct alloc alloc = alloc_default();
	struct resolver *resolver = resolve_begin(&alloc, host, "6379");
	struct pollfd wait = {.events = POLLIN};
	struct resolve_result result;

	assert_non_null(resolver);
	wait.fd = resolve_descriptor(resolver);
	while (poll(&wait, 1, -1) != 1)
		assert_int_equal(errno, EINTR);
	assert_true(resolve_take(resolver, &result));
	assert_int_equal(result.error, EAI_NONAME);
	resolve_end(resolver);
	return asked;
}

static void localhost_is_asked_of_nobody(void **state)
{
	(void)state;
	assert_string_equal(looked_up("localhost"), "(this host)");
	assert_string_equal(looked_up("LocalHost"), "(this host)");
	assert_string_equal(looked_up("localhost.example"), "localhost.example");
	assert_string_equal(looked_up("redis"), "redis");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(localhost_is_asked_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
