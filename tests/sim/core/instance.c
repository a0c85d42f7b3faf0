#include "sim/core/sim.h"

#define IDLE_TURNS_MAX 3000u

/* ---- The loop's port ----------------------------------------------------------------------- */

static void arm(void *user, dw_usec at)
{
	((struct instance *)user)->armed = at;
}

static void wake_by_engine(void *user)
{
	instance_wake(user);
}

static void wake_within(struct instance *instance, uint64_t time_max)
{
	instance->woken = true;
	instance->wake_at = instance->sim->clocks.steady + (dw_usec)draw(instance->sim, time_max);
}

void instance_wake(struct instance *instance)
{
	if (!instance->woken)
		wake_within(instance, 30);
}

void instance_step_clock(struct sim *sim)
{
	if (clocks_disturb(sim) && sim->at_work->engine)
		wake_within(sim->at_work, 100);
}

/* ---- Opening and ending -------------------------------------------------------------------- */

struct engine_env instance_env(struct instance *instance)
{
	struct sim *sim = instance->sim;

	return (struct engine_env){.handle = (dw *)(void *)sim,
				   .alloc = memory_alloc(&instance->account),
				   .clock = clocks_port(sim),
				   .loop = {.arm = arm, .wake = wake_by_engine, .user = instance},
				   .seed = rng_next(&sim->rng),
				   .timers_max = sim->knobs.timers_max,
				   .data_max = 1024,
				   .hold = DW_MILLISECONDS(sim->knobs.hold_ms)};
}

void instance_begin(struct instance *instance, uint64_t life)
{
	instance->life = life;
	instance->woken = instance->dead = instance->closing = false;
	instance->armed = DW_NEVER;
	instance->stalled_until = 0;
	instance->idle_turns = 0;
	trace(instance->sim, "process", "", (int64_t)life, instance->number);
}

void instance_close(struct instance *instance)
{
	struct sim *sim = instance->sim;

	instance->closing = true;
	instance->close_until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(2));
	engine_begin_close(instance->engine);
}

bool instance_may_end(const struct instance *instance)
{
	return instance->closing && (engine_settled(instance->engine) ||
				     instance->sim->clocks.steady >= instance->close_until);
}

void instance_gone(struct instance *instance, dw_usec away_max)
{
	struct sim *sim = instance->sim;

	engine_free(instance->engine);
	instance->engine = NULL;
	instance->dead = instance->closing = false;
	if (instance->account.block_count != 0)
		broken(sim, "leak", "%zu blocks of a process are left",
		       instance->account.block_count);
	instance->open_at = sim->clocks.steady;
	if (!sim->faults.over)
		instance->open_at +=
		    (dw_usec)draw(sim, chance(sim, 1000) ? (uint64_t)away_max : 500000);
	faults_disturb(sim, instance->open_at);
}

/* ---- A turn -------------------------------------------------------------------------------- */

void instance_stall(struct instance *instance, dw_usec time)
{
	struct sim *sim = instance->sim;

	instance->stalled_until = sim->clocks.steady + time;
	trace(sim, "stall", "", instance->stalled_until, instance->number);
	faults_disturb(sim, instance->stalled_until);
}

dw_usec instance_next(const struct instance *instance, dw_usec early)
{
	dw_usec at = usec_min(clocks_steady_at(instance->sim, instance->armed), early);

	if (instance->woken)
		at = usec_min(at, instance->wake_at);
	if (instance->closing)
		at = usec_min(at, instance->close_until);
	return usec_max(at, instance->stalled_until);
}

void instance_turn(struct instance *instance)
{
	struct sim *sim = instance->sim;

	instance->woken = false;
	instance->armed = DW_NEVER;
	instance->turn_starts = 0;
	if (engine_turn(instance->engine) != DW_OK)
		broken(sim, "busy", "a turn was refused");
	clocks_pass(sim, 1 + (dw_usec)draw(sim, 10));
}

void instance_count_idle(struct instance *instance)
{
	instance->idle_turns = instance->turn_starts == 0 ? instance->idle_turns + 1 : 0;
	if (instance->idle_turns > IDLE_TURNS_MAX)
		broken(instance->sim, "livelock", "%u turns did nothing", IDLE_TURNS_MAX);
}
