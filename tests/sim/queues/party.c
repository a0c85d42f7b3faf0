/* One process: it opens, turns, dies or closes, and comes back. */
#include "sim/queues/queues.h"

void party_event(dw *handle, const dw_event *event, void *user)
{
	struct party *party = user;

	(void)handle;
	trace(party->all->sim, dw_event_name(event->kind), event->id ? event->id : "",
	      event->status, (int64_t)event->count);
}

void party_open(struct party *party)
{
	struct sim *sim = party->all->sim;
	struct instance *instance = party->instance;
	struct engine_env env = instance_env(instance);

	env.role = party->role;
	env.on_event = party_event;
	env.on_event_user = party;
	instance->open_at = DW_NEVER;
	if (engine_new(&instance->engine, &env) != DW_OK) {
		instance->engine = NULL;
		instance->open_at = sim->clocks.steady + 1000;
		return;
	}
	instance_begin(instance, instance->life + 1);
	party->token = rng_next(&sim->rng) | 1;
	if (party->role == DW_OWNER)
		(void)table_own(party->all->table, "owner", clocks_wall(sim)); /* it has memory */
	party->desk = desk_open(party);
	engine_attach(instance->engine, &party->desk->store);
}

void party_enter(struct party *party)
{
	party->all->sim->at_work = party->instance;
	party->all->fleet.at_work = &party->all->fleet.processes[party->instance->number];
}

bool party_runs(const struct party *party)
{
	return party->desk || party->store;
}

/* free_store: of what its store has not done nothing is done. */
static void free_store(struct party *party)
{
	if (party->desk)
		desk_free(party->desk);
	else if (party->store)
		party->store->type->free(party->store);
	party->desk = NULL;
	party->store = NULL;
}

static void gone(struct party *party)
{
	party->held_count = 0;
	party->takes = false;
	instance_gone(party->instance, DW_SECONDS(20));
}

void party_crash(struct party *party)
{
	trace(party->all->sim, "crash", "", party->instance->number, 0);
	party->instance->dead = true;
	free_store(party);
	gone(party);
}

static void closed(struct party *party)
{
	dw_store *store = party->desk ? &party->desk->store : party->store;

	(void)store->type->stop(store, 0); /* it does not fail */
	engine_abandon(party->instance->engine);
	free_store(party);
	gone(party);
}

void party_turn(struct party *party)
{
	struct instance *instance = party->instance;

	instance_turn(instance);
	trace(party->all->sim, "turn", "", instance->number, instance->armed);
	if (instance->dead)
		party_crash(party);
	else if (instance_may_end(instance))
		closed(party);
}

dw_usec party_next(const struct party *party)
{
	dw_usec at = party->instance->open_at;

	if (party_runs(party))
		at = instance_next(party->instance, DW_NEVER);
	return party->desk ? usec_min(at, desk_next(party->desk)) : at;
}

bool party_is_at_work(const struct party *party)
{
	return party->instance->engine && !party->instance->closing &&
	       party->instance->stalled_until <= party->all->sim->clocks.steady;
}

void party_free(struct party *party)
{
	party->instance->dead = true; /* the rest is only freed */
	free_store(party);
	if (party->instance->engine)
		engine_free(party->instance->engine);
	party->instance->engine = NULL;
	party->instance->dead = false;
}
