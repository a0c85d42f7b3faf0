#include "sim/core/sim.h"

#define EPOCH DW_DAYS(20000)
#define MILLION 1000000

void clocks_init(struct sim *sim, dw_usec step_max)
{
	sim->clocks = (struct clocks){.anchor_wall = EPOCH, .step_max = step_max};
	sim->clocks.anchor_wall += (dw_usec)draw(sim, (uint64_t)DW_DAYS(1));
	sim->clocks.steady = sim->clocks.anchor_steady = DW_SECONDS(100);
	sim->clocks.wall_max = sim->clocks.anchor_wall;
}

dw_usec clocks_wall(const struct sim *sim)
{
	const struct clocks *clocks = &sim->clocks;
	dw_usec passed = clocks->steady - clocks->anchor_steady;

	return clocks->anchor_wall + passed + passed * clocks->drift_ppm / MILLION;
}

dw_usec clocks_steady_at(const struct sim *sim, dw_usec wall)
{
	dw_usec left = usec_sub(wall, clocks_wall(sim));
	dw_usec guess;

	if (wall == DW_NEVER)
		return DW_NEVER;
	if (left <= 0)
		return sim->clocks.steady;
	/* Like a timerfd, it fires a little late rather than early. */
	guess = usec_add(left, left / (sim->clocks.drift_ppm < 0 ? 1000 : left) + 1);
	return usec_add(sim->clocks.steady, guess);
}

void clocks_pass(struct sim *sim, dw_usec time)
{
	sim->clocks.steady += time;
	sim->clocks.wall_max = usec_max(sim->clocks.wall_max, clocks_wall(sim));
}

static void set(struct sim *sim, dw_usec wall, int64_t drift_ppm)
{
	sim->clocks.anchor_wall = wall;
	sim->clocks.anchor_steady = sim->clocks.steady;
	sim->clocks.drift_ppm = drift_ppm;
	sim->clocks.set_count++;
	sim->clocks.wall_max = usec_max(sim->clocks.wall_max, wall);
	trace(sim, "clock", "", wall, drift_ppm);
	faults_disturb(sim, sim->clocks.steady);
}

bool clocks_disturb(struct sim *sim)
{
	static const dw_usec steps[] = {DW_SECONDS(1), DW_HOURS(1), DW_MILLISECONDS(25), 700, 0};
	dw_usec step = steps[draw(sim, sizeof steps / sizeof *steps)];
	int64_t drift = (int64_t)draw(sim, 1001) - 500;

	step = usec_min(step, sim->clocks.step_max);
	if (chance(sim, 5000))
		step = -step;
	set(sim, usec_add(clocks_wall(sim), step), drift);
	return step != 0;
}

/* ---- As the engine sees it ----------------------------------------------------------------- */

static dw_usec wall(void *user)
{
	struct sim *sim = user;

	if (chance(sim, 1000))
		clocks_pass(sim, 1);
	return sim->bug == BUG_CLOCK_BACK ? sim->clocks.wall_max : clocks_wall(sim);
}

static dw_usec steady(void *user)
{
	const struct sim *sim = user;

	return sim->clocks.steady;
}

struct clock clocks_port(struct sim *sim)
{
	return (struct clock){.wall = wall, .steady = steady, .user = sim};
}
