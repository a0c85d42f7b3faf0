#include "sim/fleet/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/core/sim.h"
#include "store/redis/store.h"
#include "store/redis/value.h"

/* note_known: a command names each timer at most once. */
static void note_known(void *user, const char *value, size_t size)
{
	struct server *server = user;

	if (value && size < 16)
		abort();
	server->known[server->known_count++] =
	    value ? bytes_get((const unsigned char *)value + 8, 8) : 0;
}

void server_init(struct server *server, struct sim *sim)
{
	struct alloc alloc = memory_alloc(&sim->table_account);

	server->sim = sim;
	server->model = model_new(&alloc);
	model_watch_known(server->model, note_known, server);
	if (sim->bug == BUG_NONE)
		model_be_strict(server->model);
	server->wall_offset = clocks_wall(sim) - sim->clocks.steady;
	server->wall_offset += (dw_usec)draw(sim, DW_SECONDS(20)) - DW_SECONDS(10);
	server->drift_ppm = (int64_t)draw(sim, 1001) - 500;
}

void server_free(struct server *server)
{
	server_forget(server);
	model_free(server->model);
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
	model_set_time(server->model, server_now(server));
}

dw_row *server_row(const struct server *server, const char *id)
{
	struct alloc alloc = memory_alloc(&server->sim->table_account);
	size_t size;
	const char *value =
	    model_value(server->model, server_key(server_shard(server, id), "h"), id, &size);

	return value ? value_row(&alloc, id, strlen(id), value, size) : NULL;
}

dw_row *server_ended(const struct server *server, const char *id)
{
	struct alloc alloc = memory_alloc(&server->sim->table_account);
	size_t size;
	const char *end =
	    model_value(server->model, server_key(server_shard(server, id), "E"), id, &size);

	return end ? row_new(&alloc, id, end, size) : NULL;
}

bool server_score(const struct server *server, const char *id, double *ret_score)
{
	return model_score(server->model, server_key(server_shard(server, id), "i"), id, ret_score);
}

uint64_t server_fence(const struct server *server, unsigned shard)
{
	size_t size;
	const char *value = model_value(server->model, server_key(shard, "m"), "fence", &size);

	return value ? strtoull(value, NULL, 10) : 0;
}

bool server_has_lease(const struct server *server, unsigned shard, const char *nonce)
{
	size_t size;
	const char *token;
	const char *colon;

	server_tick(server);
	token = model_lease(server->model, server_key(shard, "l"), &size);
	colon = token ? strchr(token, ':') : NULL;
	return colon && strncmp(colon + 1, nonce, strlen(nonce)) == 0;
}

bool server_all_even(const struct server *server)
{
	for (unsigned i = 0; i < server->shard_count; i++)
		if (!model_is_even(server->model, server_key(i, "")))
			return false;
	return true;
}

struct reply *server_call(struct server *server, int count, const char *const *words,
			  const size_t *sizes)
{
	server->known_count = 0;
	return model_call(server->model, count, words, sizes);
}

void server_flush(struct server *server)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};

	trace(server->sim, "script flush", "", 0, 0);
	reply_free(model_call(server->model, 2, words, sizes));
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
	model_empty(server->model, server_key(shard, ""));
	ends_lost(server->sim);
	server->set_back[shard] = false;
}

void server_forget(struct server *server)
{
	if (server->past)
		model_free(server->past);
	server->past = NULL;
}

void server_remember(struct server *server)
{
	server_forget(server);
	server->past = model_copy(server->model);
	server->past_at = server->sim->clocks.steady;
	trace(server->sim, "snapshot", "", 0, 0);
}

void server_set_back(struct server *server)
{
	model_set_back(server->model, server->past);
	ends_lost(server->sim);
	for (unsigned i = 0; i < server->shard_count; i++)
		server->set_back[i] = true;
	server_tick(server);
}
