/* A shard that stands still holds up no answer of the others. */
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

#define PATIENCE DW_SECONDS(600)

enum { SHARDS = 16, STANDS = 9 };

/* The calls of one handle: of an id in the shard that stands, and of ids in the others. */
struct calls {
	dw *d;
	int standing, others; /* how many were answered */
	int first;            /* status of the first answer in the shard that stands */
};

static struct redis_server server;

static void command(const char *text)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply = redisCommand(redis, text);

	assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
	freeReplyObject(reply);
	redisFree(redis);
}

/* refuse_shard takes the right to the keys of one shard away. */
static void refuse_shard(void)
{
	char text[1024];
	int size = snprintf(text, sizeof text, "ACL SETUSER default resetkeys");

	for (int i = 0; i < SHARDS; i++)
		if (i != STANDS)
			size += snprintf(text + size, sizeof text - (size_t)size,
					 " ~{standing:%02d}:*", i);
	command(text);
}

/* shard_of is CRC-16 (XMODEM) of the id. */
static unsigned shard_of(const char *id)
{
	unsigned crc = 0;

	for (; *id; id++) {
		crc ^= (unsigned)(unsigned char)*id << 8;
		for (int i = 0; i < 8; i++)
			crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
	}
	return crc % SHARDS;
}

static void answered(dw *d, const dw_result *result, void *user)
{
	struct calls *calls = user;

	(void)d;
	if (shard_of(result->id) != STANDS) {
		assert_int_equal(result->status, DW_OK);
		assert_int_equal(calls->standing, 0);
		calls->others++;
		return;
	}
	if (calls->standing++ == 0)
		calls->first = result->status;
}

/* put_some puts timers of the shard that stands, or of all others. It returns their number. */
static int put_some(struct calls *calls, bool stands)
{
	int count = 0;

	for (int i = 0; i < 200; i++) {
		char id[16];
		dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t"};

		(void)snprintf(id, sizeof id, "%d", i);
		timer.due = dw_now(calls->d) + DW_HOURS(1);
		if ((shard_of(id) == STANDS) != stands)
			continue;
		count++;
		assert_int_equal(dw_put(calls->d, &timer, answered, calls), DW_OK);
	}
	return count;
}

static void turn(struct calls *calls)
{
	struct pollfd readable = {.fd = dw_fd(calls->d), .events = POLLIN};

	(void)poll(&readable, 1, 20);
	assert_int_equal(dw_turn(calls->d), DW_OK);
}

/* The client has no session in the shard yet, and is refused one. So its puts there wait until
 * their patience ends. */
static void shard_without_rights_holds_up_no_other_put(void **state)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options, .store = url, .name = "standing"};
	struct calls calls = {0};
	dw *owner;
	int others, standing;

	(void)state;
	redis_server_start(&server, false, NULL);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(dw_open(&owner, &options, NULL), DW_OK);
	assert_int_equal(dw_close(owner, PATIENCE), DW_OK);
	options.role = DW_CLIENT;
	assert_int_equal(dw_open(&calls.d, &options, NULL), DW_OK);
	refuse_shard();
	standing = put_some(&calls, true);
	others = put_some(&calls, false);
	assert_true(standing > 0 && others > 0);
	while (calls.others < others)
		turn(&calls); /* answered() sees that no answer of the other shard comes before */
	while (calls.standing < standing)
		turn(&calls);
	assert_int_equal(calls.first, DW_ESTORE);
	assert_int_equal(dw_close(calls.d, PATIENCE), DW_OK);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shard_without_rights_holds_up_no_other_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
