/* What a process asks for, and what its handler says. Every timer has a number of its own, and is
 * put once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/outages/outages.h"

#define DELAY_MAX DW_SECONDS(12)

/* One call that has no answer. */
struct asking {
	struct member *member;
	uint64_t life;
	enum history_kind kind; /* of its answer */
	uint32_t number;
	bool was_stored; /* when it was asked */
};

static struct instance *instance_of(struct member *member)
{
	return &member->process->instance;
}

static void note(struct member *member, struct history_event event)
{
	event.process = (unsigned)instance_of(member)->life;
	event.at = clocks_wall(member->outages->sim);
	history_add(member->outages->history, &event);
}

static void write_id(uint32_t number, char *ret_id)
{
	(void)snprintf(ret_id, 8, "t%03u", number); /* it fits */
}

/* called: a callback begins. False: the process is dead, and the callback has no effect. */
static bool called(struct member *member)
{
	struct sim *sim = member->outages->sim;

	if (instance_of(member)->dead)
		return false;
	clocks_pass(sim, (dw_usec)draw(sim, 50));
	if (!sim->faults.over && chance(sim, sim->knobs.crash_inside)) {
		trace(sim, "dies inside", "", 0, 0);
		instance_of(member)->dead = true;
	}
	return !instance_of(member)->dead;
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void settled(struct member *member, const dw_result *result, uint32_t number)
{
	if (result->status == DW_OK && result->level >= DW_STORED)
		note(member, (struct history_event){.kind = HISTORY_SETTLED,
						    .number = number,
						    .is_safe = result->level == DW_REPLICATED,
						    .generation = result->generation});
	if (result->status == DW_OK && result->level == DW_JOURNALED)
		member->bans[number] = (struct ban){.settled = true,
						    .owner = member->outages->owners,
						    .cancelled = member->bans[number].cancelled};
}

/* check_cancel: a client that cancels for sure must not come after a start by an owner that lives,
 * and has the claim still. A move would have made another timer of it. */
static void check_cancel(const struct member *member, uint32_t number)
{
	struct member *owner = member->outages->starts[number].by;

	if (owner && owner != member && !member->outages->moved[number] &&
	    member->outages->starts[number].life == instance_of(owner)->life &&
	    instance_of(owner)->engine && !instance_of(owner)->dead && !owner->is_closing)
		broken(member->outages->sim, "J16", "t%03u was started, and then cancelled",
		       number);
}

static void cancelled(const struct asking *asking, const dw_result *result)
{
	if (result->status == DW_OK && result->level == DW_STORED &&
	    asking->member->outages->scene->has_journals)
		check_cancel(asking->member, asking->number);
	/* What another process has only in its journal, Redis may get after the cancel. */
	if (result->level == DW_JOURNALED && asking->was_stored)
		asking->member->bans[asking->number].cancelled = true;
}

static void answered(dw *handle, const dw_result *result, void *user)
{
	struct asking *asking = user;
	struct asking told = *asking;
	struct member *member = told.member;

	(void)handle;
	free(asking);
	member->outages->open_calls--;
	if (told.kind == HISTORY_MOVE_ANSWERED)
		member->moving[told.number] = false;
	if (!called(member))
		return;
	trace(member->outages->sim, "answered", result->id, result->status, result->level);
	if (told.kind == HISTORY_SETTLED) {
		settled(member, result, told.number);
		return;
	}
	if (told.kind == HISTORY_PUT_ANSWERED && result->level >= DW_STORED)
		member->outages->stored[told.number] = true;
	if (told.kind == HISTORY_MOVE_ANSWERED && result->status == DW_OK)
		member->outages->move_done[told.number] = true;
	if (told.kind == HISTORY_CANCEL_ANSWERED)
		cancelled(&told, result);
	note(member, (struct history_event){
			 .kind = told.kind,
			 .number = told.number,
			 .generation = result->level == DW_JOURNALED ? 0 : result->generation,
			 .status = result->status,
			 .is_safe = result->status == DW_OK && result->level == DW_REPLICATED});
}

static struct done ask(struct member *member, enum history_kind kind, uint32_t number)
{
	struct asking *asking = malloc(sizeof *asking);

	if (!asking)
		abort();
	*asking = (struct asking){member, instance_of(member)->life, kind, number,
				  member->outages->stored[number]};
	member->outages->open_calls++;
	return (struct done){answered, asking};
}

/* accept: a call that was refused is not answered. */
static void accept(struct member *member, int status, struct done done)
{
	if (status == DW_OK)
		return;
	member->outages->open_calls--;
	broken(member->outages->sim, "call", "refused: %d", status);
	free(done.user);
}

/* ---- The handler --------------------------------------------------------------------------- */

/* check_bans: what was settled here may start here only if another owner has started it since, or
 * has heard of a move. What becomes of it then is that owner's. */
static void check_bans(struct member *member, uint32_t number)
{
	struct outages *outages = member->outages;
	const struct ban *ban = &member->bans[number];

	bool is_heard = outages->moved[number] && ban->owner != outages->owners;

	if (ban->settled && outages->starts[number].by == member && !is_heard &&
	    !outages->move_done[number])
		broken(outages->sim, "J4", "t%03u started where it was settled", number);
	if (ban->cancelled)
		broken(outages->sim, "J3", "t%03u started where it was cancelled", number);
	member->bans[number].settled = false;
	outages->starts[number] = (struct start){member, instance_of(member)->life};
}

static dw_verdict fired(dw *handle, const dw_firing *firing, void *user)
{
	struct member *member = user;
	struct sim *sim = member->outages->sim;
	uint32_t number = (uint32_t)strtoul(firing->id + 1, NULL, 10);

	(void)handle;
	if (instance_of(member)->dead)
		return DW_DONE;
	trace(sim, "start", firing->id, firing->due, firing->attempt);
	instance_of(member)->turn_starts++;
	sim->promises.start_count++;
	note(member, (struct history_event){.kind = HISTORY_START,
					    .number = number,
					    .due = firing->due,
					    .generation = firing->token->generation,
					    .attempt = firing->attempt});
	check_bans(member, number);
	if (!member->outages->scene->may_start(member, firing->id))
		broken(sim, "I6", "%s started without the lease", firing->id);
	if (!called(member) || member->held_count == HELD_MAX || chance(sim, 6000))
		return DW_DONE;
	member->held[member->held_count++] = *firing->token;
	return DW_HOLD;
}

/* ---- Calls --------------------------------------------------------------------------------- */

static dw_usec any_due(struct sim *sim)
{
	dw_usec most = chance(sim, 3000) ? DW_MILLISECONDS(300) : DELAY_MAX;

	return clocks_wall(sim) + (dw_usec)draw(sim, (uint64_t)most);
}

static void put(struct member *member)
{
	struct outages *outages = member->outages;
	uint32_t number = outages->put_count;
	char id[16];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "t"};
	struct done done;

	if (outages->puts_left == 0)
		return;
	outages->puts_left--;
	outages->put_count++;
	write_id(number, id);
	timer.due = any_due(outages->sim);
	trace(outages->sim, "put", id, timer.due, instance_of(member)->number);
	note(member,
	     (struct history_event){.kind = HISTORY_PUT, .number = number, .due = timer.due});
	done = ask(member, HISTORY_PUT_ANSWERED, number);
	accept(member, engine_put(instance_of(member)->engine, &timer, done), done);
}

/* any_number: mostly one of the last. */
static uint32_t any_number(struct outages *outages)
{
	uint32_t count = outages->put_count;
	uint32_t back = (uint32_t)draw(outages->sim, count < 40 ? count : 40);

	return count - 1 - back;
}

static void cancel(struct member *member)
{
	uint32_t number = any_number(member->outages);
	struct done done = ask(member, HISTORY_CANCEL_ANSWERED, number);
	char id[16];

	write_id(number, id);
	trace(member->outages->sim, "cancel", id, instance_of(member)->number, 0);
	note(member, (struct history_event){.kind = HISTORY_CANCEL, .number = number});
	accept(member, engine_cancel(instance_of(member)->engine, id, 0, done), done);
}

static void move(struct member *member)
{
	uint32_t number = any_number(member->outages);
	dw_usec due = any_due(member->outages->sim);
	struct done done;
	char id[16];

	if (member->moving[number])
		return;
	done = ask(member, HISTORY_MOVE_ANSWERED, number);
	member->moving[number] = true;
	write_id(number, id);
	member->outages->moved[number] = true;
	trace(member->outages->sim, "move", id, due, instance_of(member)->number);
	note(member, (struct history_event){.kind = HISTORY_MOVE, .number = number, .due = due});
	accept(member, engine_move(instance_of(member)->engine, id, due, done), done);
}

static void settle(struct member *member)
{
	unsigned which = (unsigned)draw(member->outages->sim, member->held_count);
	dw_token token = member->held[which];
	uint32_t number = (uint32_t)strtoul(token.id + 1, NULL, 10);
	struct done done = ask(member, HISTORY_SETTLED, number);
	int status;

	member->held[which] = member->held[--member->held_count];
	trace(member->outages->sim, "settle", token.id, token.attempt, instance_of(member)->number);
	status = engine_settle(instance_of(member)->engine, &token, DW_DONE, 0, done);
	if (status == DW_ESTALE) { /* the ownership was lost, or a client has replaced it */
		member->outages->open_calls--;
		free(done.user);
		return;
	}
	accept(member, status, done);
}

void member_act(struct member *member)
{
	uint64_t dice = draw(member->outages->sim, 100);

	if (instance_of(member)->closing)
		return;
	if (member->held_count > 0 && (dice < 30 || member->outages->sim->faults.over))
		settle(member);
	else if (dice < 70 || member->outages->put_count == 0)
		put(member);
	else if (dice < 88)
		cancel(member);
	else
		move(member);
}

void member_begin(struct member *member)
{
	int status = engine_on(instance_of(member)->engine, "t", fired, member);

	(void)status; /* a client has no handler */
}

void member_forget(struct member *member)
{
	member->held_count = 0;
	memset(member->moving, 0, sizeof member->moving);
}
