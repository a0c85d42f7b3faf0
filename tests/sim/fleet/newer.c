#include "sim/fleet/newer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/fleet.h"
#include "store/redis/wire/value.h"
#include "support/newer.h"

#define GIVES_WAY DW_SECONDS(8) /* by then an owner has given way to a newer version */

/* ---- What the client writes ---------------------------------------------------------------- */

static void command(struct fleet *fleet, const char *const *words, const size_t *sizes, int count)
{
	server_tick(&fleet->server);
	reply_free(keyspace_call(fleet->server.keyspace, count, words, sizes));
}

static void write_field(struct fleet *fleet, const char *word, const char *key, const char *first,
			const char *second)
{
	const char *words[] = {word, key, first, second};
	size_t sizes[] = {strlen(word), strlen(key), strlen(first), second ? strlen(second) : 0};

	command(fleet, words, sizes, second ? 4 : 3);
}

static void write_value(struct fleet *fleet, const char *key, const char *id, const dw_head *head)
{
	unsigned char value[NEWER_VALUE_MAX];
	const char *words[] = {"HSET", key, id, (const char *)value};
	size_t sizes[] = {4, strlen(key), strlen(id), newer_value(head, id, "a", value)};

	command(fleet, words, sizes, 4);
}

/* meta: a number of the shard; 0: it has none. */
static uint64_t meta(struct fleet *fleet, unsigned shard, const char *field)
{
	size_t size;
	const char *value =
	    keyspace_value(fleet->server.keyspace, server_key(shard, "m"), field, &size);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* next_version: as the scripts give it. */
static uint64_t next_version(struct fleet *fleet, unsigned shard)
{
	uint64_t last = meta(fleet, shard, "ver");
	uint64_t now = (uint64_t)server_now(&fleet->server);
	uint64_t least = now > last ? now : last + 1;
	unsigned count = fleet->server.shard_count;

	return least + (shard + count - least % count) % count;
}

/* news: the inbox and the shard's wake channel tell the owner. */
static void news(struct fleet *fleet, unsigned shard, const char *id, uint64_t version, bool open)
{
	char number[32];

	(void)snprintf(number, sizeof number, "%" PRIu64, version);
	write_field(fleet, "HSET", server_key(shard, "m"), "ver", number);
	(void)snprintf(number, sizeof number, "%s%" PRIu64, open ? "-" : "", version);
	write_field(fleet, "ZADD", server_key(shard, "i"), number, id);
	(void)snprintf(number, sizeof number, "%u", shard);
	write_field(fleet, "PUBLISH", server_key(shard, "wake"), number, NULL);
}

/* is_open: an earlier claim may still start. */
static bool is_open(struct fleet *fleet, const char *id)
{
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	dw_row *row = server_row(&fleet->server, id);
	double score = 0;
	bool open = row && (row->head.state != DW_PENDING || row->head.open);

	if (!row)
		open = server_score(&fleet->server, id, &score) && score < 0;
	rows_free(&alloc, row);
	return open;
}

static void store(struct fleet *fleet, struct name *name)
{
	unsigned shard = server_shard(&fleet->server, name->id);
	dw_head head = {.due = clocks_wall(fleet->sim)};
	char score[24];

	if (meta(fleet, shard, "shards") == 0)
		return; /* no process has owned it yet */
	head.generation = next_version(fleet, shard);
	if (head.generation <= promises_last_number(name))
		return; /* the server was set back, and an owner may know that this one has ended */
	head.open = is_open(fleet, name->id);
	trace(fleet->sim, "newer", name->id, (int64_t)head.generation, head.open);
	(void)snprintf(score, sizeof score, "%" PRId64, value_score(head.due));
	write_field(fleet, "ZADD", server_key(shard, "z"), score, name->id);
	write_value(fleet, server_key(shard, "h"), name->id, &head);
	if (chance(fleet->sim, 5000))
		write_field(fleet, "HSET", server_key(shard, "m"), "format", "3");
	news(fleet, shard, name->id, head.generation, false);
	operation_newer(fleet->sim, name, &head);
	faults_disturb(fleet->sim, fleet->sim->clocks.steady);
}

static void cancel(struct fleet *fleet, struct name *name)
{
	unsigned shard = server_shard(&fleet->server, name->id);

	if (!name->newer)
		return;
	compare_all(fleet->sim);
	trace(fleet->sim, "newer goes", name->id, (int64_t)name->newer, 0);
	news(fleet, shard, name->id, next_version(fleet, shard), is_open(fleet, name->id));
	write_field(fleet, "ZREM", server_key(shard, "z"), name->id, NULL);
	write_field(fleet, "HDEL", server_key(shard, "h"), name->id, NULL);
	name->newer = 0;
}

void newer_end(struct fleet *fleet)
{
	for (struct name *name = fleet->sim->promises.first; name; name = name->next)
		cancel(fleet, name);
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (meta(fleet, i, "format") > 0)
			write_field(fleet, "HDEL", server_key(i, "m"), "format", NULL);
	faults_disturb(fleet->sim, fleet->sim->clocks.steady);
}

bool newer_is_there(struct fleet *fleet)
{
	for (const struct name *name = fleet->sim->promises.first; name; name = name->next)
		if (name->newer)
			return true;
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (meta(fleet, i, "format") > 0)
			return true;
	return false;
}

void newer_act(struct fleet *fleet, uint32_t likely)
{
	struct sim *sim = fleet->sim;

	if (likely == 0)
		return;
	if (!newer_is_there(fleet)) {
		if (chance(sim, likely))
			store(fleet, &sim->promises.names[draw(sim, sim->knobs.id_count)]);
	} else if (chance(sim, 50)) {
		store(fleet, &sim->promises.names[draw(sim, sim->knobs.id_count)]);
	} else if (chance(sim, 50)) {
		newer_end(fleet);
	}
}

void newer_look(struct fleet *fleet, struct name *name)
{
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	dw_row *row = server_row(&fleet->server, name->id);

	name->newer = row && row->status == DW_ENEWER ? row->head.generation : 0;
	rows_free(&alloc, row);
}

/* ---- What the owner does ------------------------------------------------------------------- */

void newer_met(struct process *process, const dw_row *row)
{
	if (row->status == DW_ENEWER && process->met_newer_at == 0)
		process->met_newer_at = process->instance.sim->clocks.steady;
}

/* first_met: since then it has had the time to confirm that nothing is lost. */
static dw_usec first_met(const struct process *process)
{
	return usec_max(process->met_newer_at, process->instance.sim->faults.disturbed_until);
}

/* Without memory it meets the timer again later, and lost timers are restored before. */
void newer_check(struct process *process)
{
	const struct instance *instance = &process->instance;

	if (!engine_is_owner(instance->engine) || instance->closing)
		process->met_newer_at = 0;
	if (process->met_newer_at != 0 &&
	    first_met(process) + GIVES_WAY < instance->sim->clocks.steady &&
	    instance->sim->knobs.memory == 0 && !instance->sim->losses)
		broken(instance->sim, "newer", "process %u owns what a newer version has stored",
		       instance->number);
}
