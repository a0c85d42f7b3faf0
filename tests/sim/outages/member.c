/* A process with a journal. */
#include <stdlib.h>

#include "sim/outages/outages.h"
#include "store/fallback/fallback.h"

static void hide(struct connection *connection, dw_usec until, bool nothing_left)
{
	if (!connection)
		return;
	connection_cut(connection, nothing_left);
	connection->up_at = usec_max(connection->up_at, until);
}

void member_hide(struct member *member, dw_usec until)
{
	bool nothing_left = chance(member->outages->sim, 5000);

	hide(member->process->commands, until, nothing_left);
	hide(member->process->subscriber, until, nothing_left);
}

static struct member *opening; /* fallback_open() tells its parts nothing of it */

static int open_redis(dw_store **ret_store, const char *where, const dw_store_env *env,
		      char *ret_message)
{
	dw_store_env own = *env;

	(void)where;
	(void)ret_message;
	*ret_store = process_connect(opening->process, &own);
	if (opening->process->commands)
		member_hide(opening, opening->outages->away_until);
	return DW_OK;
}

static int open_file(dw_store **ret_store, const char *where, const dw_store_env *env,
		     char *ret_message)
{
	(void)where;
	(void)env;
	(void)ret_message;
	*ret_store = file_open(&opening->file);
	return DW_OK;
}

static void happened(dw *handle, const dw_event *event, void *user)
{
	struct sim *sim = sim_of(handle);
	struct member *member = user;

	if (!sim->at_work->dead)
		trace(sim, "event", event->id ? event->id : "", event->kind, event->status);
	/* Redis had something else than the row expected, and the program is told so. */
	if (event->kind == DW_EVENT_REPLAYED && event->id)
		member->bans[strtoul(event->id + 1, NULL, 10)] = (struct ban){.settled = false};
	if (event->kind == DW_EVENT_OWNER && member->outages->owner != member) {
		member->outages->owner = member;
		member->outages->owners++;
	}
	if (event->kind == DW_EVENT_CORRUPT)
		broken(sim, "I11", "%s", event->message);
}

static bool may_own(const struct member *member)
{
	return member->process->instance.number + 1 < PROCESSES;
}

dw_store *member_journal(struct member *member, dw_store_env *env)
{
	struct outages *outages = member->outages;
	struct fallback_parts parts = {open_redis, "", open_file, "journal"};
	char message[DW_MESSAGE_SIZE] = "";
	dw_store *store = NULL;

	env->fires = may_own(member) && outages->policy == DW_OUTAGE_FIRE;
	opening = member;
	if (fallback_open(&store, &parts, env, message) != DW_OK)
		broken(outages->sim, "sim", "the journal does not open: %s", message);
	member->file.at_once = false;
	return store;
}

/* open_store: the blocks of all processes count as one, because a journal outlives its process. */
static dw_store *open_store(struct member *member)
{
	struct alloc alloc = memory_alloc(&member->outages->sim->table_account);
	dw_store_env env = process_store_env(member->process);

	env.resize_user = alloc.user;
	if (!member->outages->sim->peers)
		env.role = may_own(member) ? DW_STANDBY : DW_CLIENT;
	return member->outages->scene->open(member, &env);
}

void member_open(struct member *member)
{
	struct fleet *fleet = &member->outages->fleet;
	struct instance *instance = &member->process->instance;
	struct engine_env env = instance_env(instance);

	env.role = DW_CLIENT;
	env.standby = fleet->sim->peers || may_own(member);
	env.is_peer = fleet->sim->peers;
	env.alloc = memory_alloc(&fleet->sim->table_account);
	env.on_event = happened;
	env.on_event_user = member;
	env.hold = DW_MINUTES(30);
	member->is_closing = false;
	instance->open_at = DW_NEVER;
	instance_begin(instance, ++fleet->lives);
	if (engine_new(&instance->engine, &env) != DW_OK)
		broken(fleet->sim, "sim", "the engine does not open");
	planted_init(&member->planted, member, open_store(member));
	engine_attach(instance->engine, &member->planted.store);
	member_begin(member);
}

static void gone(struct member *member)
{
	dw_store *store = member->planted.real;

	engine_abandon(member->process->instance.engine);
	store->type->free(store);
	member_forget(member);
	instance_gone(&member->process->instance, DW_SECONDS(5));
}

void member_kill(struct member *member)
{
	struct instance *instance = &member->process->instance;
	dw_usec wall = clocks_wall(instance->sim);

	trace(instance->sim, "crash", "", instance->number, 0);
	instance->dead = true; /* nothing is sent any more */
	(void)member->planted.real->type->stop(member->planted.real, 0);
	gone(member);
	history_fault(member->outages->history, wall - DW_SECONDS(1),
		      wall + (instance->open_at - instance->sim->clocks.steady) +
			  member->outages->fleet.server.lease + DW_SECONDS(3));
}

void outages_fault(struct outages *outages, dw_usec length)
{
	dw_usec wall = clocks_wall(outages->sim);

	history_fault(outages->history, wall - DW_SECONDS(1),
		      wall + length + outages->fleet.server.lease + DW_SECONDS(5));
}

void member_stall(struct member *member)
{
	struct sim *sim = member->outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 2000) ? DW_SECONDS(8) : DW_SECONDS(1));

	instance_stall(&member->process->instance, length);
	outages_fault(member->outages, length);
}

void member_end(struct member *member)
{
	trace(member->outages->sim, "close", "", member->process->instance.number, 0);
	member->is_closing = true;
	instance_close(&member->process->instance);
}

/* closed: what is under way ends as in a fault: a handler that holds has no verdict. */
static void closed(struct member *member)
{
	struct instance *instance = &member->process->instance;
	dw_usec wall = clocks_wall(instance->sim);

	(void)member->planted.real->type->stop(member->planted.real, 0);
	gone(member);
	history_fault(member->outages->history, wall - DW_SECONDS(1),
		      wall + member->outages->fleet.server.lease + DW_SECONDS(3));
}

dw_usec member_next(const struct member *member)
{
	const struct instance *instance = &member->process->instance;

	return instance->engine ? instance_next(instance, DW_NEVER) : instance->open_at;
}

void member_turn(struct member *member)
{
	struct instance *instance = &member->process->instance;

	instance_turn(instance);
	trace(instance->sim, "turn", "", instance->armed, instance->number);
	if (instance->dead) {
		member_kill(member);
		return;
	}
	instance_count_idle(instance);
	if (instance_may_end(instance))
		closed(member);
}
