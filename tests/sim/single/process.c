#include "sim/single/single.h"

void single_open(struct single *single)
{
	struct sim *sim = single->sim;
	struct instance *instance = &single->instance;
	struct engine_env env = instance_env(instance);

	env.role = single->second_owner.owns ? DW_CLIENT : DW_OWNER;
	env.standby = single->second_owner.owns;
	env.on_event = program_event;
	instance->open_at = DW_NEVER;
	if (engine_new(&instance->engine, &env) != DW_OK) {
		instance->engine = NULL;
		instance->open_at = sim->clocks.steady + 1000;
		return;
	}
	instance_begin(instance, instance->life + 1);
	single->disk = disk_open(single);
	engine_attach(instance->engine, &single->disk->store);
	program_begin(sim);
	faults_disturb(sim, sim->clocks.steady);
}

static void gone(struct single *single)
{
	single->disk = NULL;
	instance_gone(&single->instance, DW_SECONDS(60));
}

void single_crash(struct single *single)
{
	struct sim *sim = single->sim;

	single->instance.dead = false;
	trace(sim, "crash", "", 0, 0);
	disk_crash(single->disk);
	calls_process_ended(sim);
	disk_free(single->disk);
	gone(single);
}

void single_close(struct single *single)
{
	trace(single->sim, "close", "", 0, 0);
	instance_close(&single->instance);
}

static void closed(struct single *single)
{
	struct sim *sim = single->sim;
	dw_store *store = &single->disk->store;
	int status = store->type->stop(store, 0);

	trace(sim, "closed", "", status, calls_unanswered(sim));
	engine_abandon(single->instance.engine);
	if (single->instance.dead) {
		single_crash(single);
		return;
	}
	if (calls_unanswered(sim) > 0)
		broken(sim, "once", "%u calls were never answered", calls_unanswered(sim));
	if (status != DW_OK)
		disk_crash(single->disk); /* its thread runs on for a while */
	calls_process_ended(sim);
	store->type->free(store);
	gone(single);
}

void single_turn(struct single *single)
{
	struct instance *instance = &single->instance;

	instance_turn(instance);
	trace(single->sim, "turn", "", instance->armed, instance->turn_starts);
	if (instance->dead) {
		single_crash(single);
		return;
	}
	watch_armed(single);
	instance_count_idle(instance);
	if (instance_may_end(instance))
		closed(single);
}
