#include "contract/contract.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

/* One server for all cases; each has a namespace of its own. */
static struct redis_server server;
static unsigned place_count;
static const char *url_of_server;

static void *make_place(void)
{
	char *name = malloc(16);

	assert_non_null(name);
	(void)snprintf(name, 16, "case%u", ++place_count);
	return name;
}

static long long size_of(redisContext *redis, const char *command)
{
	redisReply *reply = redisCommand(redis, command);
	long long size;

	assert_true(reply && reply->type == REDIS_REPLY_INTEGER);
	size = reply->integer;
	freeReplyObject(reply);
	return size;
}

/* free_even_place: after each case, each shard has as many members of the index as values.
 * Otherwise a scan of a topic would read all timers, and be right for that reason. */
static void free_even_place(void *place)
{
	redisContext *redis = redisConnectUnix(server.path);
	char members[64], values[64];

	assert_true(redis && !redis->err);
	for (unsigned i = 0; i < 16; i++) {
		(void)snprintf(members, sizeof members, "ZCARD {%s:%02u}:k", (char *)place, i);
		(void)snprintf(values, sizeof values, "HLEN {%s:%02u}:h", (char *)place, i);
		assert_int_equal(size_of(redis, members), size_of(redis, values));
	}
	redisFree(redis);
	free(place);
}

static void fill(void *place, bool full)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;

	(void)place;
	assert_true(redis && !redis->err);
	reply = redisCommand(redis, "CONFIG SET maxmemory-policy noeviction maxmemory %d", full);
	assert_true(reply && reply->type == REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redisFree(redis);
}

static void free_place(void *place)
{
	fill(place, false); /* a case that has failed leaves it full */
	free_even_place(place);
}

static int open_store(void *place, const dw_store_env *env, dw_store **ret_store)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_store_env named = *env;
	int status;

	named.name = place;
	status = redis_store_open(ret_store, url_of_server, &named, message);
	if (status != DW_OK)
		print_message("%s\n", message);
	return status;
}

/* run: the suite over url. */
static int run(const char *title, const char *url)
{
	struct contract_kind kind = {.name = title,
				     .shared = true,
				     .served = true,
				     .make_place = make_place,
				     .free_place = free_place,
				     .open = open_store,
				     .fill = fill};

	url_of_server = url;
	return contract_run(&kind);
}

/* On a unix socket and over TCP, with each of the settings that decide what a confirmation is. */
int main(void)
{
	static const char *const always[] = {"--appendonly", "yes", "--appendfsync", "always",
					     NULL};
	static const char *const everysec[] = {"--appendonly", "yes", "--appendfsync", "everysec",
					       NULL};
	char url[TEMP_SIZE + 16];
	int failed;

	redis_server_start(&server, true, always);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	failed = run("redis, unix socket, appendfsync always", url);
	redis_server_end(&server);

	redis_server_start(&server, true, everysec);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	failed += run("redis, TCP, appendfsync everysec", url);
	redis_server_end(&server);
	return failed;
}
