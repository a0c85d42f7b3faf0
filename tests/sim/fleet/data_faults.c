/* What befalls the server's data: it is emptied, it comes back as it was a while ago, a session in
 * it ends, keys in it are torn. Before and after, the model looks at what that does to it. */
#include "sim/fleet/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MAX DW_SECONDS(2)

static char *key_of(unsigned shard, const char *end)
{
	static char key[40];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s", shard, end);
	return key;
}

/* fence: the last one given in the shard. */
static uint64_t fence(struct town *town, unsigned shard)
{
	size_t size;
	const char *value = twin_value(town->twin, key_of(shard, "m"), "fence", &size);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* ---- Who has to put it right --------------------------------------------------------------- */

/* A reign that the server does not know of any more goes on until its process hears of it, at most
 * until its lease would have ended. */
bool hand_is_in_grace(const struct process *process, unsigned shard)
{
	return process->sim->clocks.steady < process->grace[shard];
}

/* keeper_of: the owner of the shard, whose memory is whole; NULL: nobody. */
static struct process *keeper_of(struct town *town, unsigned shard)
{
	struct process *by_grace = NULL;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		if (!process->context.engine || process->context.closing ||
		    !engine_is_owner(process->context.engine))
			continue;
		if (town_has_lease(process, shard))
			return process;
		if (hand_is_in_grace(process, shard))
			by_grace = process;
	}
	return by_grace;
}

static void give_grace(struct town *town, unsigned shard)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		if (town_has_lease(process, shard))
			process->grace[shard] = town->sim->clocks.steady + town->lease;
	}
}

/* hand_forget: the server does not come back as it was before something else befell it. */
void hand_forget(struct town *town)
{
	if (town->past)
		twin_free(town->past);
	town->past = NULL;
}

/* step_clock: it is another machine's that takes over, or it was wrong before. */
static void step_clock(struct town *town)
{
	dw_usec step = 1 + (dw_usec)draw(town->sim, (uint64_t)DW_SECONDS(40));

	if (!chance(town->sim, 3000))
		return;
	town->wall_offset -= step;
	trace(town->sim, "server's clock", "", -step, 0);
}

/* ---- Emptied ------------------------------------------------------------------------------- */

static void empty_shard(struct town *town, unsigned shard)
{
	struct process *keeper = keeper_of(town, shard);

	trace(town->sim, "emptied", "", shard, keeper ? (int)keeper->number : -1);
	give_grace(town, shard);
	lost_look(town, shard, keeper);
	twin_empty(town->twin, key_of(shard, ""));
	town->set_back[shard] = false;
	lost_settle(town, shard, keeper);
}

/* dawdle: the owner may hear of it late, and another process be faster. */
static void dawdle(struct town *town)
{
	struct process *process = keeper_of(town, 0);

	if (!process || !chance(town->sim, 5000))
		return;
	process->context.stalled_until =
	    usec_max(process->context.stalled_until,
		     town->sim->clocks.steady + (dw_usec)draw(town->sim, (uint64_t)town->lease));
	trace(town->sim, "dawdles", "", process->context.stalled_until, process->number);
	faults_disturb(town->sim, process->context.stalled_until);
}

static void empty(struct town *town)
{
	unsigned only = (unsigned)draw(town->sim, 2 * town->shard_count);

	hand_forget(town);
	dawdle(town);
	for (unsigned i = 0; i < town->shard_count; i++)
		if (only >= town->shard_count || only == i)
			empty_shard(town, i);
	step_clock(town);
	faults_disturb(town->sim, town->sim->clocks.steady);
}

/* ---- Set back ------------------------------------------------------------------------------ */

static void remember(struct town *town)
{
	hand_forget(town);
	town->past = twin_copy(town->twin);
	town->past_at = town->sim->clocks.steady;
	trace(town->sim, "remember", "", 0, 0);
}

static void set_back(struct town *town)
{
	struct sim *sim = town->sim;
	struct process *keepers[SHARDS_MAX_SIM];
	uint64_t fences[SHARDS_MAX_SIM];

	if (!town->past || sim->clocks.steady > town->past_at + AGE_MAX)
		return;
	trace(sim, "set back", "", sim->clocks.steady - town->past_at, 0);
	for (unsigned i = 0; i < town->shard_count; i++) {
		keepers[i] = keeper_of(town, i);
		give_grace(town, i);
		lost_look(town, i, keepers[i]);
		fences[i] = fence(town, i);
	}
	twin_set_back(town->twin, town->past);
	for (unsigned i = 0; i < town->shard_count; i++)
		town->set_back[i] = true;
	server_time(town);
	for (unsigned i = 0; i < town->shard_count; i++) {
		/* An ownership that began since is set back, too: nobody has been the owner. */
		if (fence(town, i) != fences[i] && keepers[i] && !town_has_lease(keepers[i], i)) {
			keepers[i]->is_beaten = true; /* it loses all with one */
			keepers[i] = NULL;
		}
		lost_settle(town, i, keepers[i]);
	}
	step_clock(town);
	town_restart(town);
	server_drop_requests(town);
}

/* ---- Ended, torn --------------------------------------------------------------------------- */

static void command(struct town *town, const char *word, const char *key, const char *first,
		    const char *second)
{
	const char *words[] = {word, key, first, second};
	size_t sizes[] = {strlen(word), strlen(key), first ? strlen(first) : 0,
			  second ? strlen(second) : 0};

	reply_free(twin_call(town->twin, second ? 4 : first ? 3 : 2, words, sizes));
}

static void end_session(struct town *town)
{
	const struct process *process = &town->processes[draw(town->sim, PROCESSES)];
	char end[32];

	(void)snprintf(end, sizeof end, "s:%s", process->nonce);
	hand_forget(town);
	trace(town->sim, "session ends", "", process->number, 0);
	command(town, "DEL", key_of((unsigned)draw(town->sim, town->shard_count), end), NULL, NULL);
}

/* Tears of both kinds in one shard hide each other from the renewals, which count. */
static void tear(struct town *town)
{
	struct sim *sim = town->sim;
	uint32_t name = (uint32_t)draw(sim, sim->knobs.id_count);
	const char *id = sim->model.names[name].id;
	unsigned shard = town_shard(town, id);
	struct process *keeper = keeper_of(town, shard);
	bool place = draw(sim, 2) == 0;

	trace(sim, "torn", id, place, 0);
	faults_disturb(sim, sim->clocks.steady + DW_SECONDS(60));
	if (place) {
		command(town, "ZREM", key_of(shard, "z"), id, NULL);
		return;
	}
	lost_tear(town, name, keeper);
	if (model_stored(sim, name))
		command(town, "HDEL", key_of(shard, "h"), id, NULL);
	else
		command(town, "ZADD", key_of(shard, "z"), "7", id);
	lost_torn(town, name, keeper);
}

bool hand_all_even(struct town *town)
{
	for (unsigned i = 0; i < town->shard_count; i++)
		if (!twin_is_even(town->twin, key_of(i, "")))
			return false;
	return true;
}

/* ---- Chances ------------------------------------------------------------------------------- */

void hand_act(struct town *town)
{
	struct sim *sim = town->sim;
	const struct town_knobs *knobs = &town->knobs;

	if (chance(sim, knobs->empty))
		empty(town);
	if (knobs->set_back > 0 && chance(sim, 50))
		remember(town);
	if (chance(sim, knobs->set_back))
		set_back(town);
	if (chance(sim, knobs->session))
		end_session(town);
	if (chance(sim, knobs->tear))
		tear(town);
}
