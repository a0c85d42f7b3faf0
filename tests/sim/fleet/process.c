#include "sim/fleet/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/fleet/fleet.h"
#include "sim/fleet/newer.h"
#include "store/redis/owner/quota.h"
#include "store/redis/store.h"

void process_init(struct process *process, struct fleet *fleet, unsigned number)
{
	struct sim *sim = fleet->sim;

	*process = (struct process){
	    .fleet = fleet, .instance = {.sim = sim, .number = number, .account = {.sim = sim}}};
	process->instance.open_at = sim->clocks.steady + (dw_usec)draw(sim, 100000);
}

void process_enter(struct process *process)
{
	process->fleet->at_work = process;
	process->instance.sim->at_work = &process->instance;
}

void process_leave(struct process *process)
{
	process->fleet->at_work = NULL;
	process->instance.sim->at_work = &process->instance.sim->nobody;
}

/* ---- Who is dead --------------------------------------------------------------------------- */

static const struct fleet *the_fleet;

void __wrap_identity_write(char *ret_text, size_t size);
bool __wrap_identity_is_dead(const char *text);

/* The linker sends the store's calls here (--wrap): a process is known by its nonce. */
void __wrap_identity_write(char *ret_text, size_t size)
{
	(void)snprintf(ret_text, size, "a process|%s", the_fleet->at_work->nonce);
}

bool __wrap_identity_is_dead(const char *text)
{
	const struct process *asking = the_fleet->at_work;

	for (unsigned i = 0; i < the_fleet->count; i++) {
		const struct process *process = &the_fleet->processes[i];
		bool lives = process == asking || process->instance.engine;

		if (lives && strcmp(process->nonce, text) == 0)
			return false;
	}
	trace(the_fleet->sim, "is dead", text, the_fleet->same_host, 0);
	return the_fleet->same_host;
}

/* ---- Who has a share ------------------------------------------------------------------------ */

void __real_quota_share(struct quota_member *, unsigned count, unsigned shards, dw_usec now);
void __wrap_quota_share(struct quota_member *, unsigned count, unsigned shards, dw_usec now);

void __wrap_quota_share(struct quota_member *members, unsigned count, unsigned shards, dw_usec now)
{
	if (the_fleet->sim->bug == BUG_SHARE_YOUNG)
		now = usec_add(now, QUOTA_YOUNG);
	__real_quota_share(members, count, shards, now);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static void wake_by_store(void *user)
{
	instance_wake(user);
}

dw_store_env process_store_env(struct process *process)
{
	struct fleet *fleet = process->fleet;
	struct sim *sim = fleet->sim;
	struct alloc alloc = memory_alloc(&process->instance.account);
	struct clock clock = clocks_port(sim);

	return (dw_store_env){.size = sizeof(dw_store_env),
			      .role = sim->peers ? DW_PEER : DW_CLIENT,
			      .token = rng_next(&sim->rng) | 1,
			      .now = clock.wall,
			      .now_user = clock.user,
			      .resize = alloc.resize,
			      .resize_user = alloc.user,
			      .wake = wake_by_store,
			      .wake_user = &process->instance,
			      .name = "t",
			      .lease = fleet->server.lease,
			      .steady = clock.steady,
			      .steady_user = clock.user};
}

void process_name(struct process *process, const dw_store_env *env)
{
	(void)snprintf(process->nonce, sizeof process->nonce, "%016" PRIx64, env->token);
	the_fleet = process->fleet;
}

dw_store *process_connect(struct process *process, const dw_store_env *env)
{
	struct fleet *fleet = process->fleet;
	struct redis_store *store = NULL;

	process_name(process, env);
	connection_new(&process->commands, &fleet->network, &process->instance, false);
	connection_new(&process->subscriber, &fleet->network, &process->instance, true);
	if (redis_new(&store, env, &process->commands->link) != DW_OK ||
	    redis_shards(store, fleet->server.shard_count) != DW_OK)
		broken(fleet->sim, "sim", "the store does not open");
	redis_hear(store, &process->subscriber->link);
	return redis_base(store);
}

/* open_store: its allocations do not fail. */
static void open_store(struct process *process)
{
	dw_store_env env = process_store_env(process);

	process->exposure = (struct exposure){0};
	process->heard = (struct heard){0};
	process->met_newer_at = 0;
	observer_init(&process->observer, process, process_connect(process, &env));
}

static void on_event(dw *handle, const dw_event *event, void *user)
{
	struct sim *sim = sim_of(handle);

	if (!program_note(sim, event))
		return;
	apart_event(user, event);
	if (event->kind == DW_EVENT_OWNER_LOST && event->status != DW_ENEWER &&
	    !sim->at_work->closing && losses_must_stay(user))
		broken(sim, "S1", "an owner without a successor gave its ownership up");
	/* An owner that gives way to a newer version rebuilds nothing. */
	if (event->kind == DW_EVENT_OWNER_LOST)
		losses_keeper_ends(user, event->status != DW_ENEWER && !newer_is_there(user) &&
					     losses_in_time(user) && !foreign_disturbs(user) &&
					     !refused_disturbs(user));
	program_take(sim, event);
}

void process_open(struct process *process)
{
	struct fleet *fleet = process->fleet;
	struct sim *sim = fleet->sim;
	struct instance *instance = &process->instance;
	struct engine_env env = instance_env(instance);

	env.role = DW_CLIENT;
	env.standby = sim->peers || instance->number + 1 < fleet->count;
	env.is_peer = sim->peers;
	env.on_event = on_event;
	env.on_event_user = fleet;
	instance->open_at = DW_NEVER;
	instance->account.may_fail = false;
	process->leaves = false;
	instance_begin(instance, ++fleet->lives);
	if (engine_new(&instance->engine, &env) != DW_OK)
		broken(sim, "sim", "the engine does not open");
	open_store(process);
	engine_attach(instance->engine, &process->observer.store);
	program_begin(sim);
	instance->account.may_fail = true;
	faults_disturb(sim, sim->clocks.steady);
}

/* ---- Ending -------------------------------------------------------------------------------- */

/* ended: the calls of the process get no answer, and the timers that it owes are not rebuilt. */
static void ended(struct process *process)
{
	losses_keeper_ends(process->fleet, false);
	calls_process_ended(process->fleet->sim);
}

void process_kill(struct process *process)
{
	struct instance *instance = &process->instance;

	trace(instance->sim, "crash", "", instance->number, 0);
	instance->dead = true; /* nothing is sent any more */
	ended(process);
	process->observer.real->type->free(process->observer.real);
	instance_gone(instance, DW_SECONDS(20));
}

void process_end(struct process *process)
{
	trace(process->instance.sim, "close", "", process->instance.number, 0);
	losses_keeper_ends(process->fleet, false);
	instance_close(&process->instance);
}

static void closed(struct process *process)
{
	struct instance *instance = &process->instance;
	struct sim *sim = instance->sim;
	dw_store *store = &process->observer.store;
	int status = store->type->stop(store, 0);

	trace(sim, "closed", "", status, calls_unanswered(sim));
	engine_abandon(instance->engine);
	if (instance->dead) {
		process_kill(process);
		return;
	}
	if (calls_unanswered(sim) > 0)
		broken(sim, "once", "%u calls were never answered", calls_unanswered(sim));
	ended(process);
	store->type->free(store);
	instance_gone(instance, DW_SECONDS(20));
}

void process_free(struct process *process)
{
	if (!process->instance.engine)
		return;
	process_enter(process);
	process_kill(process);
	process_leave(process);
}

/* ---- A turn -------------------------------------------------------------------------------- */

dw_usec process_next(const struct process *process)
{
	const struct instance *instance = &process->instance;
	const struct clocks *clocks = &instance->sim->clocks;

	if (!instance->engine)
		return instance->open_at;
	return instance_next(instance,
			     process->clock_seen != clocks->set_count ? clocks->steady : DW_NEVER);
}

void process_turn(struct process *process)
{
	struct instance *instance = &process->instance;
	struct sim *sim = instance->sim;

	process->clock_seen = sim->clocks.set_count;
	instance_turn(instance);
	newer_check(process);
	trace(sim, "turn", "", instance->armed, instance->number);
	if (instance->dead) {
		process_kill(process);
		return;
	}
	instance_count_idle(instance);
	if (instance_may_end(instance))
		closed(process);
}
