#include "sim/fleet/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/core/sim.h"
#include "store/redis/store.h"
#include "store/redis/wire/value.h"

static bool ends_with(struct bytes key, const char *end)
{
	size_t size = strlen(end);

	return key.size >= size && memcmp(key.at + key.size - size, end, size) == 0;
}

/* is_as_known: the stored value is what the owner takes it for; or an earlier one, to which the
 * server was set back, and which an owner that saw that would have replaced, too. */
static bool is_as_known(const char *stored, size_t size, const char *claimed)
{
	dw_head before, after;

	if (size < VALUE_HEAD_SIZE + VALUE_BODY_MIN ||
	    !value_head(stored, VALUE_HEAD_SIZE, &before) ||
	    !value_head(claimed, VALUE_HEAD_SIZE, &after))
		return false;
	if (before.generation < after.generation)
		return true;
	return before.generation == after.generation && before.state == DW_PENDING &&
	       before.attempt + 1 == after.attempt && before.due == after.due &&
	       before.retries == after.retries && before.crashes == after.crashes &&
	       before.open == after.open &&
	       memcmp(stored + VALUE_HEAD_SIZE + 2, claimed + VALUE_HEAD_SIZE + 2, 4) == 0;
}

/* note_known: the generation that is stored of a timer that the owner claims or settles without
 * reading it. claimed: the value that replaces it, or NULL. */
static void note_known(struct server *server, const char *key, const char *id, const char *claimed)
{
	size_t size;
	const char *value = keyspace_value(server->keyspace, key, id, &size);

	dw_head before = {0};

	if (value && size < 16)
		abort();
	if (value && size >= VALUE_HEAD_SIZE)
		(void)value_head(value, VALUE_HEAD_SIZE, &before); /* a damaged one has attempt 0 */
	server->known_attempt[server->known_count] = before.attempt;
	server->known[server->known_count++] =
	    value ? bytes_get((const unsigned char *)value + 8, 8) : 0;
	if (!server->is_strict || !value || !claimed || is_as_known(value, size, claimed))
		return;
	(void)fprintf(stderr, "the owner claims %s, and what is stored is not what it knows\n", id);
	abort();
}

/* watch: a command names each timer at most once. */
static void watch(void *user, const struct keyspace_command *command)
{
	const struct bytes *words = command->words;
	bool claims =
	    strcmp(command->script, "claim_known") == 0 && strcmp(words[0].at, "HSET") == 0;
	bool settles =
	    strcmp(command->script, "settle_known") == 0 && strcmp(words[0].at, "HDEL") == 0;

	bool renews =
	    strcmp(command->script, "next_known") == 0 && strcmp(words[0].at, "HSET") == 0;

	if ((!claims && !settles && !renews) || !ends_with(words[1], ":h"))
		return;
	for (int i = 2; i < command->count; i += settles ? 1 : 2)
		note_known(user, words[1].at, words[i].at, claims ? words[i + 1].at : NULL);
}

void server_init(struct server *server, struct sim *sim)
{
	struct alloc alloc = memory_alloc(&sim->table_account);

	server->sim = sim;
	server->keyspace = keyspace_new(&alloc);
	keyspace_watch(server->keyspace, watch, server);
	server->is_strict = sim->bug == BUG_NONE;
	server->wall_offset = clocks_wall(sim) - sim->clocks.steady;
	server->wall_offset += (dw_usec)draw(sim, DW_SECONDS(20)) - DW_SECONDS(10);
	server->drift_ppm = (int64_t)draw(sim, 1001) - 500;
}

void server_free(struct server *server)
{
	server_forget(server);
	keyspace_free(server->keyspace);
}

unsigned server_shard(const struct server *server, const char *id)
{
	return crc16_of(id) % server->shard_count;
}

const char *server_key(unsigned shard, const char *end)
{
	static char key[40];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s", shard, end);
	return key;
}

dw_usec server_now(const struct server *server)
{
	dw_usec steady = server->sim->clocks.steady;

	return steady + server->wall_offset + steady / 1000000 * server->drift_ppm;
}

void server_tick(const struct server *server)
{
	keyspace_set_time(server->keyspace, server_now(server));
}

dw_row *server_row(const struct server *server, const char *id)
{
	struct alloc alloc = memory_alloc(&server->sim->table_account);
	size_t size;
	const char *value =
	    keyspace_value(server->keyspace, server_key(server_shard(server, id), "h"), id, &size);

	return value ? value_row(&alloc, id, strlen(id), value, size) : NULL;
}

dw_row *server_ended(const struct server *server, const char *id)
{
	struct alloc alloc = memory_alloc(&server->sim->table_account);
	size_t size;
	const char *end =
	    keyspace_value(server->keyspace, server_key(server_shard(server, id), "E"), id, &size);

	return end ? row_new(&alloc, id, end, size) : NULL;
}

bool server_score(const struct server *server, const char *id, double *ret_score)
{
	return keyspace_score(server->keyspace, server_key(server_shard(server, id), "i"), id,
			      ret_score);
}

uint64_t server_fence(const struct server *server, unsigned shard)
{
	size_t size;
	const char *value =
	    keyspace_value(server->keyspace, server_key(shard, "m"), "fence", &size);

	return value ? strtoull(value, NULL, 10) : 0;
}

bool server_has_lease(const struct server *server, unsigned shard, const char *nonce)
{
	size_t size;
	const char *token;
	const char *colon;

	server_tick(server);
	token = keyspace_string(server->keyspace, server_key(shard, "l"), &size);
	colon = token ? strchr(token, ':') : NULL;
	return colon && strncmp(colon + 1, nonce, strlen(nonce)) == 0;
}

bool server_all_even(const struct server *server)
{
	for (unsigned i = 0; i < server->shard_count; i++)
		if (!keyspace_is_even(server->keyspace, server_key(i, "")))
			return false;
	return true;
}

struct reply *server_call(struct server *server, int count, const char *const *words,
			  const size_t *sizes)
{
	server->known_count = 0;
	return keyspace_call(server->keyspace, count, words, sizes);
}

void server_flush(struct server *server)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};

	trace(server->sim, "script flush", "", 0, 0);
	reply_free(keyspace_call(server->keyspace, 2, words, sizes));
}

void server_step_clock(struct server *server)
{
	dw_usec step = 1 + (dw_usec)draw(server->sim, (uint64_t)DW_SECONDS(40));

	if (!chance(server->sim, 3000))
		return;
	server->wall_offset -= step;
	trace(server->sim, "server's clock", "", -step, 0);
}

/* ---- Its data ------------------------------------------------------------------------------ */

void server_empty(struct server *server, unsigned shard)
{
	keyspace_empty(server->keyspace, server_key(shard, ""));
	ends_lost(server->sim);
	server->set_back[shard] = false;
}

void server_forget(struct server *server)
{
	if (server->past)
		keyspace_free(server->past);
	server->past = NULL;
}

void server_remember(struct server *server)
{
	server_forget(server);
	server->past = keyspace_copy(server->keyspace);
	server->past_at = server->sim->clocks.steady;
	trace(server->sim, "snapshot", "", 0, 0);
}

void server_set_back(struct server *server)
{
	keyspace_set_back(server->keyspace, server->past);
	ends_lost(server->sim);
	for (unsigned i = 0; i < server->shard_count; i++)
		server->set_back[i] = true;
	server_tick(server);
}
