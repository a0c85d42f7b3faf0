#include "sim/core/sim.h"

#include <string.h>

#include "timer/record.h"

#define ANSWER_LATE DW_MILLISECONDS(500)

struct asked *calls_new(struct sim *sim, enum asked_kind kind, struct name *name)
{
	struct asked *asked;

	if (sim->calls.count == CALLS_MAX)
		return NULL;
	asked = &sim->calls.asked[sim->calls.count++];
	*asked = (struct asked){.kind = kind,
				.name = name,
				.status = UNANSWERED,
				.at = sim->clocks.steady,
				.callback = true,
				.life = sim->at_work->life};
	return asked;
}

/* accepted_settle: only a held delivery may be settled. */
static void accepted_settle(struct sim *sim, const struct asked *asked)
{
	struct generation *generation = promises_find(asked->name, asked->generation);

	if (sim->view.is_lost(sim->view.user) && !(sim->several && generation && generation->held))
		return; /* the settle will be void, unless the lease is renewed */
	if (!generation || !generation->held || generation->life != sim->at_work->life) {
		broken(sim, "I4", "a stale token of %s was accepted", asked->name->id);
		return;
	}
	if (asked->verdict == DW_DONE)
		generation->may_settle = true;
	else
		generation->may_retry = true;
	generation->retry_floor = usec_min(generation->retry_floor, clocks_wall(sim));
}

/* accepted_cancel: the running delivery continues, but its retry is dropped. So the timer is done,
 * whatever the verdict. */
static void accepted_cancel(const struct sim *sim, const struct name *name)
{
	struct generation *generation = name->stored ? name->stored : name->loss.owed;

	if (generation && generation->life == sim->at_work->life)
		generation->may_settle = true;
	if (generation) /* also one that the policy of its rule is about to skip */
		generation->ending = true;
}

void calls_accepted(struct sim *sim, struct asked *asked, int status)
{
	if (status != DW_OK) {
		asked->status = status;
		return;
	}
	if (asked->kind == ASKED_SETTLE)
		accepted_settle(sim, asked);
	if (asked->kind == ASKED_PURGE)
		sim->calls.purging = true;
	if (asked->kind == ASKED_CANCEL)
		accepted_cancel(sim, asked->name);
	sim->calls.unanswered += asked->callback;
	if (!asked->name)
		return;
	asked->name->open += asked->callback;
	asked->name->unreported |= !asked->callback;
	order_touched(asked->name);
}

/* put_answered: when the store finds out late that it did the put, the answer may name a later
 * generation. */
static void put_answered(struct sim *sim, struct asked *asked, const dw_result *result)
{
	struct name *name = promises_name(sim, result->id);
	struct generation *generation = promises_made_by(name, asked, false);

	if (!generation)
		generation = promises_made_by(name, asked, true);
	/* It was refused, its reply was lost, and the timer that refused it has gone since. */
	if (!generation && name->had_newer && !name->newer)
		return;
	if (!generation) {
		broken(sim, "I2", "a confirmed put of %s was not stored", result->id);
		return;
	}
	if (result->generation == generation->number)
		losses_confirmed(sim, generation);
	if (generation->number > 0 && generation->promised && !generation->loss.lost)
		promises_raise(name, generation->number - 1);
}

static void cancel_answered(struct sim *sim, struct asked *asked, int status)
{
	struct name *name = asked->name;
	struct generation *generation = name->stored;

	if (status == DW_OK || status == DW_ENOENT)
		promises_raise(name, name->cancel_floor);
	if (status == DW_ELATE && generation && generation->life == sim->at_work->life)
		generation->dropped = sim->at_work->life;
}

/* move_answered: the confirmed generation was stored with the deadline asked for. The earlier ones
 * need not fire any more. */
static void move_answered(struct sim *sim, const struct asked *asked, const dw_result *result)
{
	struct generation *generation = asked->name->last;

	/* After a set-back two generations may have the same number. */
	while (generation &&
	       (!promises_is(generation, result->generation) || generation->moved_to != asked->due))
		generation = generation->before;
	if (!generation) {
		broken(sim, "I2", "a confirmed move of %s was not stored", result->id);
		return;
	}
	losses_confirmed(sim, generation);
	if (generation->promised && !generation->loss.lost)
		promises_raise(asked->name, generation->number - 1);
}

static void purge_answered(struct sim *sim, int status)
{
	sim->calls.purging = false;
	sim->calls.purged_at = sim->clocks.steady;
	if (status != DW_OK)
		return;
	for (struct name *name = sim->promises.first; name; name = name->next)
		promises_raise(name, name->purge_floor);
}

static void settle_answered(struct sim *sim, const struct asked *asked)
{
	struct generation *generation = promises_find(asked->name, asked->generation);

	/* Its value was deleted before: there was nothing to settle, and it does not come back. */
	if (asked->verdict == DW_DONE && generation->loss.lost && asked->name->loss.half_deleted) {
		generation->loss.lost = false;
		generation->fate = FATE_SETTLED;
	}
	if (asked->verdict == DW_DONE && generation->fate != FATE_SETTLED &&
	    !generation->loss.set_back)
		broken(sim, "I4", "a confirmed settle of %s was not done", asked->name->id);
}

/* check_works: a call that could be answered has not failed. */
static void check_works(struct sim *sim, const struct asked *asked, int status)
{
	bool is_of_one = asked->name && asked->kind != ASKED_LIST; /* a drop looks at all shards */

	dw_usec time = sim->clocks.steady - asked->at;
	bool failed = status == DW_ESTORE || status == DW_EUNKNOWN;

	if ((!failed && time < ANSWER_LATE) || !is_of_one || !sim->view.must_work ||
	    !sim->view.must_work(sim->view.user, asked->name->id, asked->at))
		return;
	broken(sim, "S1", "a call about %s was answered %d after %lld us, and its shard works",
	       asked->name->id, status, (long long)time);
}

void calls_answered(struct sim *sim, struct asked *asked, int status, const dw_result *result)
{
	if (asked->life != sim->at_work->life || asked->status != UNANSWERED) {
		broken(sim, "once", "a call was answered twice (%d, %d)", asked->status, status);
		return;
	}
	if (sim->program.in_call)
		broken(sim, "once", "a call was answered from inside a call");
	check_works(sim, asked, status);
	asked->status = status;
	sim->calls.unanswered--;
	if (asked->name) {
		asked->name->open--;
		asked->name->touched_at = sim->clocks.steady;
	}
	if (result && status == DW_OK && result->level != DW_STORED)
		broken(sim, "level", "the level of a confirmation is %d", (int)result->level);
	if (asked->kind == ASKED_PUT && status == DW_OK)
		put_answered(sim, asked, result);
	if (asked->kind == ASKED_CANCEL)
		cancel_answered(sim, asked, status);
	if ((asked->kind == ASKED_MOVE || asked->kind == ASKED_REQUEUE) && status == DW_OK)
		move_answered(sim, asked, result);
	if (asked->kind == ASKED_PURGE)
		purge_answered(sim, status);
	if (asked->kind == ASKED_SETTLE && status == DW_OK)
		settle_answered(sim, asked);
}

void calls_process_ended(struct sim *sim)
{
	struct calls *calls = &sim->calls;

	for (uint32_t i = 0; i < calls->count; i++) {
		struct asked *asked = &calls->asked[i];

		if (asked->status != UNANSWERED || asked->life != sim->at_work->life)
			continue;
		asked->status = VOID;
		calls->unanswered -= asked->callback;
		if (asked->kind == ASKED_PURGE)
			calls->purging = false;
		if (asked->name)
			asked->name->open -= asked->callback;
	}
	for (struct name *name = sim->promises.first; name; name = name->next)
		name->unreported &= sim->several;
	order_forget(sim);
}

unsigned calls_unanswered(const struct sim *sim)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < sim->calls.count; i++) {
		const struct asked *asked = &sim->calls.asked[i];

		count += asked->status == UNANSWERED && asked->callback &&
			 asked->life == sim->at_work->life;
	}
	return count;
}

uint64_t calls_number(const struct sim *sim, const struct asked *asked)
{
	return (uint64_t)(asked - sim->calls.asked);
}

const struct asked *calls_of_data(const struct sim *sim, const void *data, size_t size)
{
	uint64_t number;

	if (size != sizeof number)
		return NULL;
	memcpy(&number, data, sizeof number);
	return number < sim->calls.count ? &sim->calls.asked[number] : NULL;
}

const struct asked *calls_of_body(const struct sim *sim, const void *body, size_t size)
{
	struct record record;

	if (record_decode(body, size, &record) != DW_OK)
		return NULL;
	return calls_of_data(sim, record.data, record.data_size);
}
