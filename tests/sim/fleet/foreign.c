#include "sim/fleet/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fleet/fleet.h"

void foreign_begin(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct foreign *foreign = &fleet->foreign;

	foreign->shard = (unsigned)draw(sim, fleet->server.shard_count);
	foreign->until =
	    sim->clocks.steady + (dw_usec)draw(sim, chance(sim, 3000) ? 12000000 : 1000000);
	trace(sim, "foreign key", "", foreign->until, (int)foreign->shard);
	faults_disturb(sim, foreign->until);
}

bool foreign_disturbs(const struct fleet *fleet)
{
	return fleet->sim->clocks.steady < fleet->foreign.until + 2 * fleet->server.lease;
}

/* shard_of: of the command's first key; -1: it has none in a shard. */
static int shard_of(const struct packet *packet, const char *script)
{
	const char *key = script ? packet->words[3] : packet->count > 1 ? packet->words[1] : "";
	const char *colon = key[0] == '{' ? strchr(key, ':') : NULL;

	return colon ? (int)strtol(colon + 1, NULL, 10) : -1;
}

static struct reply *types(struct fleet *fleet)
{
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	struct reply *reply = reply_new(&alloc);

	/* This memory is endless. */
	(void)reply_items(reply, reply, KEYS_OF_SHARD);
	for (unsigned i = 0; i < KEYS_OF_SHARD; i++)
		(void)reply_bytes(reply, &reply->items[i], REPLY_BULK,
				  i == KEY_META ? "string" : "none", i == KEY_META ? 6 : 4);
	return reply;
}

struct reply *foreign_reply(struct fleet *fleet, const struct packet *packet, const char *script)
{
	static const char words[] =
	    "WRONGTYPE Operation against a key holding the wrong kind of value";
	struct alloc alloc = memory_alloc(&fleet->sim->table_account);
	struct reply *reply;

	if (fleet->sim->clocks.steady >= fleet->foreign.until ||
	    shard_of(packet, script) != (int)fleet->foreign.shard)
		return NULL;
	if (script && strcmp(script, "types") == 0)
		return types(fleet);
	if (!script && strcmp(packet->words[0], "HGET") != 0)
		return NULL; /* of another key */
	reply = reply_new(&alloc);
	(void)reply_bytes(reply, reply, REPLY_ERROR, words, sizeof words - 1);
	trace(fleet->sim, "wrong type", script ? script : "", 0, (int)fleet->foreign.shard);
	return reply;
}
