/* What a server says of itself: dw_facts() on a real one, with and without the rights to see it. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/facts.h"
#include "support/cmocka.h"
#include "support/redis_server.h"
#include "support/shortage.h"

#define PATIENCE DW_SECONDS(60)

struct seen {
	int answers;
	int status;
	size_t count;
	char version[32], policy[32], refused[128], server[256];
	dw_usec clock, latency;
	bool has_secret;
};

static struct redis_server server;

static void keep(char *room, size_t size, const dw_fact *fact, const char *name)
{
	if (strcmp(fact->name, name) == 0)
		(void)snprintf(room, size, "%s", fact->value); /* cut if long */
}

static void told(dw *d, int status, const dw_fact *facts, size_t count, void *user)
{
	struct seen *seen = user;
	char number[32] = "";

	(void)d;
	*seen = (struct seen){.answers = seen->answers + 1, .status = status, .count = count};
	assert_int_equal(status == DW_OK, facts != NULL);
	for (size_t i = 0; i < count; i++) {
		keep(seen->version, sizeof seen->version, &facts[i], "redis_version");
		keep(seen->policy, sizeof seen->policy, &facts[i], "config.maxmemory-policy");
		keep(seen->refused, sizeof seen->refused, &facts[i], "refused.CONFIG");
		keep(number, sizeof number, &facts[i], "clock_us");
		seen->clock = strtoll(number, NULL, 10);
		seen->has_secret |= strstr(facts[i].name, "pass") != NULL ||
				    strstr(facts[i].name, "auth") != NULL ||
				    strstr(facts[i].value, "secret") != NULL ||
				    strstr(facts[i].server, "secret") != NULL;
		(void)snprintf(seen->server, sizeof seen->server, "%s",
			       facts[i].server); /* cut if long */
	}
}

static dw *open_as(const char *user, struct shortage *shortage)
{
	char url[TEMP_SIZE + 64];
	dw_options options = {
	    .size = sizeof options, .store = url, .name = "facts", .role = DW_CLIENT};
	char message[DW_MESSAGE_SIZE] = "";
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s%s", user, server.path); /* it fits */
	if (shortage) {
		options.resize = shortage_resize;
		options.resize_user = shortage;
	}
	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static struct seen ask(dw *d)
{
	struct seen seen = {0};

	assert_int_equal(dw_facts(d, told, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 1);
	return seen;
}

static void server_tells_settings_and_its_clock(void **state)
{
	dw *d = open_as("", NULL);
	struct seen seen = ask(d);

	(void)state;
	assert_int_equal(seen.status, DW_OK);
	assert_true(seen.count > 20);
	assert_true(seen.version[0] >= '1' && seen.version[0] <= '9');
	assert_string_equal(seen.policy, "noeviction");
	assert_string_equal(seen.refused, "");
	assert_in_range(seen.clock + DW_SECONDS(60), 0, DW_SECONDS(120));
	assert_non_null(strstr(seen.server, server.path));
	assert_false(seen.has_secret);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void command(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void command(const char *format, ...)
{
	redisContext *redis = redisConnectUnix(server.path);
	va_list arguments;
	redisReply *reply;

	assert_non_null(redis);
	va_start(arguments, format);
	reply = redisvCommand(redis, format, arguments);
	va_end(arguments);
	assert_non_null(reply);
	assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
	freeReplyObject(reply);
	redisFree(redis);
}

static void refusal_is_a_fact(void **state)
{
	struct seen seen;
	dw *d;

	(void)state;
	command("CONFIG SET masterauth secret");
	command("ACL SETUSER app on >secret ~* &* +@all -config");
	d = open_as("app:secret@", NULL);
	seen = ask(d);
	assert_int_equal(seen.status, DW_OK);
	assert_non_null(strstr(seen.refused, "NOPERM"));
	assert_string_equal(seen.policy, "");
	assert_false(seen.has_secret);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void store_without_a_server_has_no_facts(void **state)
{
	dw_options options = {.size = sizeof options, .store = "memory:"};
	struct seen seen = {0};
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_facts(d, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_facts(d, told, &seen), DW_EINVAL);
	assert_string_equal(dw_last_error(d), "only a store in Redis has servers");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(seen.answers, 0);
}

/* Each allocation of the call fails once: a server has about 200 facts. The call answers DW_OK or
 * DW_ENOMEM, and the next one works. */
static void call_survives_every_allocation(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	dw *d = open_as("", &shortage);

	(void)state;
	for (size_t nth = 1; nth < 400; nth += shortage_step()) {
		struct seen seen = {0};
		int status;

		shortage_begin(&shortage, nth, false);
		status = dw_facts(d, told, &seen);
		if (status == DW_OK)
			(void)dw_sync(d, PATIENCE); /* of a lost connection it may fail */
		shortage_end(&shortage);
		assert_true(status == DW_OK || status == DW_ENOMEM);
		assert_int_equal(seen.answers, status == DW_OK);
		assert_true(seen.status == DW_OK || seen.status == DW_ENOMEM ||
			    seen.status == DW_ESTORE);
		assert_int_equal(ask(d).status, DW_OK);
	}
	assert_true(shortage_failed(&shortage));
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(shortage.blocks, 0);
}

static void server_that_is_away_has_no_facts(void **state)
{
	dw *d = open_as("", NULL);
	struct seen seen = {0};

	(void)state;
	redis_server_kill(&server);
	assert_int_equal(dw_facts(d, told, &seen), DW_OK);
	(void)dw_sync(d, PATIENCE);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.status, DW_ESTORE);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	redis_server_restart(&server);
}

static int begin(void **state)
{
	(void)state;
	redis_server_start(&server, false, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	redis_server_end(&server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(server_tells_settings_and_its_clock),
	    cmocka_unit_test(refusal_is_a_fact),
	    cmocka_unit_test(store_without_a_server_has_no_facts),
	    cmocka_unit_test(call_survives_every_allocation),
	    cmocka_unit_test(server_that_is_away_has_no_facts),
	};

	return cmocka_run_group_tests_name("redis_facts", tests, begin, end);
}
