/* A process of the town: an engine with the real store, whose link is a wire. */
#include "sim/fleet/fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/store.h"

#define IDLE_TURNS_MAX 3000u

/* ---- At work ------------------------------------------------------------------------------- */

void process_enter(struct process *process)
{
	const struct context *context = &process->context;
	struct sim *sim = process->sim;

	sim->town->at_work = process;
	sim->engine = context->engine;
	sim->life = context->life;
	sim->dead = context->dead;
	sim->closing = context->closing;
	sim->close_until = context->close_until;
	sim->armed = context->armed;
	sim->woken = context->woken;
	sim->wake_at = context->wake_at;
	sim->stalled_until = context->stalled_until;
	sim->open_at = context->open_at;
	sim->idle_turns = context->idle_turns;
	sim->handled_any = context->handled_any;
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		sim->handled[i] = context->handled[i];
}

void process_leave(struct process *process)
{
	struct context *context = &process->context;
	struct sim *sim = process->sim;

	context->engine = sim->engine;
	context->life = sim->life;
	context->dead = sim->dead;
	context->closing = sim->closing;
	context->close_until = sim->close_until;
	context->armed = sim->armed;
	context->woken = sim->woken;
	context->wake_at = sim->wake_at;
	context->stalled_until = sim->stalled_until;
	context->open_at = sim->open_at;
	context->idle_turns = sim->idle_turns;
	context->handled_any = sim->handled_any;
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		context->handled[i] = sim->handled[i];
	sim->town->at_work = NULL;
	sim->engine = NULL;
	sim->life = 0;
	sim->dead = sim->closing = false;
}

static void wake_sim(struct sim *sim)
{
	if (sim->woken)
		return;
	sim->woken = true;
	sim->wake_at = sim->clocks.steady + (dw_usec)draw(sim, 30);
}

void process_wake(struct process *process)
{
	struct context *context = &process->context;

	if (process->sim->town->at_work == process) {
		wake_sim(process->sim);
	} else if (!context->woken) {
		context->woken = true;
		context->wake_at = process->sim->clocks.steady + (dw_usec)draw(process->sim, 30);
	}
}

static void wake(void *user)
{
	wake_sim(user);
}

static void wake_by_store(void *user)
{
	process_wake(user);
}

static void arm(void *user, dw_usec at)
{
	((struct sim *)user)->armed = at;
}

/* ---- Who is dead --------------------------------------------------------------------------- */

static const struct town *the_town;

void __wrap_identity_write(char *ret_text, size_t size);
bool __wrap_identity_is_dead(const char *text);

/* The linker sends the store's calls here (--wrap): a process is known by its nonce. */
void __wrap_identity_write(char *ret_text, size_t size)
{
	(void)snprintf(ret_text, size, "a process|%s", the_town->at_work->nonce);
}

bool __wrap_identity_is_dead(const char *text)
{
	const struct process *asking = the_town->at_work;

	for (unsigned i = 0; i < PROCESSES; i++) {
		const struct process *process = &the_town->processes[i];
		bool lives = process == asking || process->context.engine;

		if (lives && strcmp(process->nonce, text) == 0)
			return false;
	}
	trace(asking->sim, "is dead", text, the_town->same_host, 0);
	return the_town->same_host;
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* open_store: the memory is enough for it. */
static void open_store(struct process *process)
{
	struct sim *sim = process->sim;
	struct town *town = sim->town;
	struct alloc alloc = memory_alloc(&process->account);
	struct clock clock = clocks_port(sim);
	dw_store_env env = {.size = sizeof env,
			    .role = DW_CLIENT,
			    .token = rng_next(&sim->rng) | 1,
			    .now = clock.wall,
			    .now_user = clock.user,
			    .resize = alloc.resize,
			    .resize_user = alloc.user,
			    .wake = wake_by_store,
			    .wake_user = process,
			    .name = "t",
			    .lease = town->lease,
			    .steady = clock.steady,
			    .steady_user = clock.user};
	struct redis_store *store = NULL;

	(void)snprintf(process->nonce, sizeof process->nonce, "%016" PRIx64, env.token);
	the_town = town;
	process->wire = wire_new(process, false);
	process->ear = wire_new(process, true);
	process->losses = 0;
	process->leased = 0;
	process->is_beaten = false;
	memset(process->shaken, 0, sizeof process->shaken);
	memset(process->grace, 0, sizeof process->grace);
	memset(process->dead, 0, sizeof process->dead);
	memset(process->known, 0, sizeof process->known);
	if (redis_new(&store, &env, &process->wire->link) != DW_OK ||
	    redis_shards(store, town->shard_count) != DW_OK)
		broken(sim, "sim", "the store does not open");
	redis_hear(store, &process->ear->link);
	spy_init(&process->spy, process, redis_base(store));
}

void process_open(struct process *process)
{
	struct sim *sim = process->sim;
	struct engine_env env = {.handle = (dw *)(void *)sim,
				 .alloc = memory_alloc(&process->account),
				 .clock = clocks_port(sim),
				 .loop = {.arm = arm, .wake = wake, .user = sim},
				 .role = DW_CLIENT,
				 .standby = process->number + 1 < PROCESSES,
				 .seed = rng_next(&sim->rng),
				 .timers_max = sim->knobs.timers_max,
				 .data_max = 1024,
				 .hold = DW_MILLISECONDS(sim->knobs.hold_ms),
				 .on_event = program_event};

	sim->open_at = DW_NEVER;
	process->account.may_fail = false;
	sim->life = ++sim->town->lives;
	sim->woken = sim->dead = sim->closing = false;
	sim->armed = DW_NEVER;
	sim->stalled_until = 0;
	sim->idle_turns = 0;
	trace(sim, "process", "", (int64_t)sim->life, process->number);
	if (engine_new(&sim->engine, &env) != DW_OK)
		broken(sim, "sim", "the engine does not open");
	open_store(process);
	engine_attach(sim->engine, &process->spy.store);
	program_begin(sim);
	process->account.may_fail = true;
	faults_disturb(sim, sim->clocks.steady);
}

/* ---- Ending -------------------------------------------------------------------------------- */

static void gone(struct process *process)
{
	struct sim *sim = process->sim;

	engine_free(sim->engine);
	sim->engine = NULL;
	sim->dead = sim->closing = false;
	if (process->account.block_count != 0)
		broken(sim, "leak", "%zu blocks of a process are left",
		       process->account.block_count);
	sim->open_at = sim->clocks.steady;
	if (!sim->faults.over)
		sim->open_at += (dw_usec)draw(sim, chance(sim, 1000) ? 20000000 : 500000);
	faults_disturb(sim, sim->open_at);
}

void process_kill(struct process *process)
{
	struct sim *sim = process->sim;

	trace(sim, "crash", "", process->number, 0);
	sim->dead = true; /* nothing is sent any more */
	model_process_ended(sim);
	process->spy.real->type->free(process->spy.real);
	gone(process);
}

void process_end(struct process *process)
{
	struct sim *sim = process->sim;

	trace(sim, "close", "", process->number, 0);
	lost_keeper_ends(sim, false);
	sim->closing = true;
	sim->close_until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(2));
	engine_begin_close(sim->engine);
}

/* unanswered: calls of this process. */
static unsigned unanswered(const struct sim *sim)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < sim->model.asked_count; i++) {
		const struct asked *asked = &sim->model.asked[i];

		count += asked->status == UNANSWERED && asked->callback && asked->life == sim->life;
	}
	return count;
}

static void closed(struct process *process)
{
	struct sim *sim = process->sim;
	int status = process->spy.store.type->stop(&process->spy.store, 0);

	trace(sim, "closed", "", status, unanswered(sim));
	engine_abandon(sim->engine);
	if (sim->dead) {
		process_kill(process);
		return;
	}
	if (unanswered(sim) > 0)
		broken(sim, "once", "%u calls were never answered", unanswered(sim));
	model_process_ended(sim);
	process->spy.store.type->free(&process->spy.store);
	gone(process);
}

void process_free(struct process *process)
{
	if (!process->context.engine)
		return;
	process_enter(process);
	process_kill(process);
	process_leave(process);
}

/* ---- A turn -------------------------------------------------------------------------------- */

dw_usec process_next(const struct process *process)
{
	const struct context *context = &process->context;
	dw_usec at;

	if (!context->engine)
		return context->open_at;
	at = clocks_steady_at(process->sim, context->armed);
	if (context->woken)
		at = usec_min(at, context->wake_at);
	if (process->clock_seen != process->sim->clocks.set_count)
		at = usec_min(at, process->sim->clocks.steady);
	if (context->closing)
		at = usec_min(at, context->close_until);
	return usec_max(at, context->stalled_until);
}

void process_turn(struct process *process)
{
	struct sim *sim = process->sim;
	uint64_t starts = sim->start_count;

	sim->woken = false;
	sim->armed = DW_NEVER;
	sim->turn_starts = 0;
	process->clock_seen = sim->clocks.set_count;
	if (engine_turn(sim->engine) != DW_OK)
		broken(sim, "busy", "a turn was refused");
	clocks_pass(sim, 1 + (dw_usec)draw(sim, 10));
	trace(sim, "turn", "", sim->armed, process->number);
	if (sim->dead) {
		process_kill(process);
		return;
	}
	sim->idle_turns = starts == sim->start_count ? sim->idle_turns + 1 : 0;
	if (sim->idle_turns > IDLE_TURNS_MAX)
		broken(sim, "livelock", "%u turns did nothing", IDLE_TURNS_MAX);
	if (sim->closing && (engine_settled(sim->engine) || sim->clocks.steady >= sim->close_until))
		closed(process);
}
