#include "sim/fleet/peers.h"

#include <string.h>

#include "sim/fleet/effects.h"
#include "sim/fleet/fleet.h"
#include "store/redis/owner/member.h"
#include "store/redis/owner/quota.h"

#define REMEMBERED DW_SECONDS(12) /* a peer gives by a list that is up to 10 s old */

/* ---- Who has a share ------------------------------------------------------------------------ */

static bool record_of(const struct fleet *fleet, const char *nonce, dw_member_row *ret_row)
{
	char text[MEMBER_SIZE];
	const char *holder;
	size_t size;
	const char *value =
	    keyspace_value(fleet->server.keyspace, server_key(0, "O"), nonce, &size);

	if (!value || size >= sizeof text)
		return false;
	memcpy(text, value, size);
	text[size] = '\0';
	return member_read(text, ret_row, &holder);
}

/* note_life: another life of the process is the last one. */
static void note_life(struct listed *listed, const char *nonce)
{
	if (strcmp(listed->nonces[0], nonce) == 0)
		return;
	memmove(listed->nonces[1], listed->nonces[0],
		sizeof listed->nonces - sizeof listed->nonces[0]);
	memmove(&listed->settled_at[1], &listed->settled_at[0],
		sizeof listed->settled_at - sizeof listed->settled_at[0]);
	memcpy(listed->nonces[0], nonce, sizeof listed->nonces[0]);
	listed->settled_at[0] = 0;
}

static bool is_settled(const struct fleet *fleet, const char *nonce)
{
	dw_usec now = server_now(&fleet->server);
	dw_member_row row;

	return nonce[0] && record_of(fleet, nonce, &row) &&
	       (member_count(&row) > 0 || row.since > now ||
		usec_sub(now, row.since) >= QUOTA_YOUNG);
}

void peers_watch(struct fleet *fleet)
{
	for (unsigned i = 0; fleet->sim->peers && i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];
		struct listed *listed = &process->listed;

		note_life(listed, process->nonce);
		for (unsigned k = 0; k < LIVES_MAX; k++)
			if (is_settled(fleet, listed->nonces[k]))
				listed->settled_at[k] = fleet->sim->clocks.steady;
	}
}

static unsigned settled(const struct fleet *fleet)
{
	dw_usec now = fleet->sim->clocks.steady;
	unsigned count = 0;

	for (unsigned i = 0; i < fleet->count; i++)
		for (unsigned k = 0; k < LIVES_MAX; k++) {
			dw_usec at = fleet->processes[i].listed.settled_at[k];

			count += at > 0 && now < usec_add(at, REMEMBERED);
		}
	return count;
}

/* is_told: the list tells which shards the process has. */
static bool is_told(const struct fleet *fleet, const struct process *process)
{
	dw_member_row row;

	if (!record_of(fleet, process->nonce, &row))
		row = (dw_member_row){0};
	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (member_has(&row, i) != fleet_has_lease(process, i))
			return false;
	return true;
}

void peers_gives(struct fleet *fleet, const struct process *process)
{
	unsigned held;
	dw_member_row row;

	peers_watch(fleet);
	if (process->leaves || process->instance.closing)
		return; /* it gives all */
	if (!record_of(fleet, process->nonce, &row) || row.room < fleet->server.shard_count)
		return; /* it was refused a shard, and has no room for its share */
	if (server_now(&fleet->server) < usec_add(row.since, QUOTA_YOUNG + DW_SECONDS(2)))
		return; /* it may know a list of young ones only, which share the shards */
	for (unsigned i = 0; i < fleet->count; i++)
		if (!is_told(fleet, &fleet->processes[i]))
			return; /* something has just changed */
	held = member_count(&row);
	if (held > 0 && held * settled(fleet) <= fleet->server.shard_count)
		broken(fleet->sim, "A2", "a shard of %u is given for a peer that has just started",
		       held);
}

/* ---- What runs ------------------------------------------------------------------------------ */

/* runs: its delivery is not over. One that may start again has not begun to. */
static bool runs(const struct name *name, const struct process *process)
{
	const struct generation *stored = name->stored;

	return stored && stored->fate == FATE_STORED && stored->started && stored->claimed &&
	       !stored->licensed && stored->life == process->instance.life && !stored->loss.lost &&
	       !stored->loss.set_back && !stored->loss.rebuilt;
}

int peers_running(const struct fleet *fleet, const struct process *process)
{
	for (const struct name *name = fleet->sim->promises.first; name; name = name->next) {
		unsigned shard = server_shard(&fleet->server, name->id);

		if (runs(name, process) && fleet_has_lease(process, shard))
			return (int)shard;
	}
	return -1;
}

/* peers_released: a release with an era is one for another peer. */
void peers_released(const struct effect *effect)
{
	const struct fleet *fleet = effect->fleet;
	const struct name *name = fleet->sim->promises.first;

	if (effect->argc < 3 || effect->sizes[2] == 0 || !effect->caller)
		return;
	for (; name; name = name->next)
		if (server_shard(&fleet->server, name->id) == effect->shard &&
		    runs(name, effect->caller))
			broken(fleet->sim, "A3", "shard %u is given, and %s runs in it",
			       effect->shard, name->id);
}
