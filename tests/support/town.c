#include "support/town.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "base/usec.h"
#include "port/clock.h"
#include "store/redis/store.h"
#include "store/store.h"
#include "support/cmocka.h"

#define PATIENCE DW_SECONDS(600) /* a loaded machine needs less */

static dw_usec steady(void)
{
	struct clock clock = clock_system();

	return clock.steady(NULL);
}

/* ---- Looking ------------------------------------------------------------------------------- */

bool town_has(const struct town *town, unsigned member, unsigned shard)
{
	const dw_store *store = town->members[member].ask.store;

	return store && store->type->lease(store, shard) != INT64_MIN;
}

int town_count(const struct town *town, unsigned member)
{
	int count = 0;

	for (unsigned i = 0; i < TOWN_SHARDS; i++)
		count += town_has(town, member, i);
	return count;
}

unsigned town_shard_of(const struct town *town, unsigned member)
{
	unsigned shard = 0;

	while (!town_has(town, member, shard))
		assert_true(++shard < TOWN_SHARDS);
	return shard;
}

const char *town_id(unsigned shard)
{
	static char id[16];

	for (unsigned i = 0;; i++) {
		(void)snprintf(id, sizeof id, "t%u", i);
		if (crc16_of(id) % TOWN_SHARDS == shard)
			return id;
	}
}

/* check_owners checks that at most one process may start timers of a shard. */
static void check_owners(const struct town *town)
{
	dw_usec now = steady();

	for (unsigned shard = 0; shard < TOWN_SHARDS; shard++) {
		int owners = 0;

		for (unsigned i = 0; i < TOWN_MEMBERS; i++) {
			const dw_store *store = town->members[i].ask.store;

			owners += store && store->type->lease(store, shard) > now;
		}
		assert_true(owners <= 1);
	}
}

/* ---- Turning ------------------------------------------------------------------------------- */

static void take_news(struct town_member *member)
{
	dw_store *store = member->ask.store;
	dw_shard_news news;

	while (store->type->take_shard(store, &news)) {
		member->gained += news.state == DW_SHARD_OWNED;
		member->lost += news.state == DW_SHARD_FOREIGN;
	}
}

/* give gives surplus shards away, one after the other. */
static void give(struct town *town, unsigned number)
{
	struct town_member *member = &town->members[number];
	dw_store *store = member->ask.store;

	if (member->give && ask_is_answered(&member->ask, member->give)) {
		assert_true(member->give->status == DW_OK || member->give->status == DW_EBUSY);
		ask_free(member->give);
		member->give = NULL;
	}
	if (town->keeps || member->give || store->type->surplus(store) == 0)
		return;
	do
		member->next = (member->next + 1) % TOWN_SHARDS;
	while (!town_has(town, number, member->next));
	member->give = ask_plain(DW_OP_GIVE);
	member->give->limit = member->next;
	ask_send(&member->ask, member->give);
}

void town_turn(struct town *town)
{
	struct pollfd readable[TOWN_MEMBERS];
	nfds_t count = 0;

	for (unsigned i = 0; i < TOWN_MEMBERS; i++) {
		struct town_member *member = &town->members[i];
		dw_store *store = member->ask.store;

		if (!store)
			continue;
		readable[count++] =
		    (struct pollfd){.fd = store->type->descriptor(store), .events = POLLIN};
		ask_turn(&member->ask);
		take_news(member);
		give(town, i);
	}
	(void)poll(readable, count, 5);
	check_owners(town);
}

void town_await(struct town *town, const int *counts)
{
	dw_usec end = usec_add(steady(), PATIENCE);
	bool is_so = false;

	while (!is_so) {
		if (steady() >= end)
			fail_msg("%d, %d, %d shards", town_count(town, 0), town_count(town, 1),
				 town_count(town, 2));
		town_turn(town);
		is_so = true;
		for (unsigned i = 0; counts[i] >= 0; i++)
			is_so = is_so && town_count(town, i) == counts[i];
	}
	town_turn(town); /* takes the news of the last shards */
}

int town_await_op(struct town *town, unsigned member, dw_op *op)
{
	dw_usec end = usec_add(steady(), PATIENCE);
	int status;

	while (!ask_is_answered(&town->members[member].ask, op)) {
		if (steady() >= end)
			fail_msg("no answer to an operation of kind %d", (int)op->kind);
		town_turn(town);
	}
	status = op->status;
	ask_free(op);
	return status;
}

int town_ask(struct town *town, unsigned member, dw_op *op)
{
	ask_send(&town->members[member].ask, op);
	return town_await_op(town, member, op);
}

/* ---- Joining and leaving ------------------------------------------------------------------- */

void town_open(struct town *town, dw_usec lease)
{
	*town = (struct town){.clock = DW_SECONDS(1700000000), .lease = lease};
	redis_server_start(&town->server, false, NULL);
	(void)snprintf(town->url, sizeof town->url, "unix://%s", town->server.path);
}

void town_close(struct town *town)
{
	for (unsigned i = 0; i < TOWN_MEMBERS; i++)
		town_leave(town, i);
	redis_server_end(&town->server);
}

void town_join_at(struct town *town, unsigned number, const char *url)
{
	struct town_member *member = &town->members[number];
	char message[DW_MESSAGE_SIZE];

	*member = (struct town_member){0};
	ask_init(&member->ask, DW_PEER, 100 + number, &town->clock);
	member->ask.env.name = "town";
	member->ask.env.lease = town->lease;
	if (redis_store_open(&member->ask.store, url, &member->ask.env, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(town_ask(town, number, ask_plain(DW_OP_OWN)), DW_OK);
}

void town_join(struct town *town, unsigned member)
{
	town_join_at(town, member, town->url);
}

static void drop_give(struct town_member *member)
{
	if (member->give)
		ask_free(member->give);
	member->give = NULL;
}

void town_leave(struct town *town, unsigned number)
{
	struct town_member *member = &town->members[number];

	ask_end(&member->ask);
	drop_give(member);
}

void town_kill(struct town *town, unsigned number)
{
	struct town_member *member = &town->members[number];
	dw_store *store = member->ask.store;

	if (member->give)
		(void)town_await_op(town, number, member->give);
	member->give = NULL;
	member->ask.store = NULL;
	store->type->free(store);
}

void town_command(struct town *town, const char *command)
{
	redisContext *redis = redisConnectUnix(town->server.path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, command);
	assert_true(reply && reply->type != REDIS_REPLY_ERROR);
	freeReplyObject(reply);
	redisFree(redis);
}
