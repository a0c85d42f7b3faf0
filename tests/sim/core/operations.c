#include "sim/core/sim.h"

static void end(struct name *name, enum fate fate)
{
	struct generation *generation = name->stored;

	/* A settled generation stays settled, even if a set-back brought it back. */
	if (generation && !(generation->fate == FATE_SETTLED && fate == FATE_REPLACED))
		generation->fate = fate;
	name->stored = NULL;
}

/* client_changes: a client replaces a timer. While the owner has not rebuilt lost data, it may
 * start the timer; then the change promises nothing. */
static void client_changes(struct sim *sim, struct name *name, const dw_op *op, dw_role role)
{
	uint64_t last = promises_last_number(name);

	if (role == DW_CLIENT && !op->head.open && !name->loss.keeper)
		promises_raise(name, last < op->head.generation ? last : op->head.generation - 1);
	if (name->loss.at) /* a set-back also makes generations smaller */
		promises_lower(name, op->head.generation);
	if (name->loss.owed)
		losses_changed(sim, name, false);
}

static void check_growth(struct sim *sim, const struct name *name, const dw_op *op)
{
	if (op->head.generation <= promises_last_number(name) && !name->loss.at)
		broken(sim, "generation", "of %s does not grow", op->id);
}

/* take_over: when the server is set back and the put is done again, it makes the same generation.
 * Its owner may have started that one. */
static void take_over(struct generation *generation, const struct generation *before)
{
	generation->life = before->life;
	generation->held = before->held;
	generation->may_settle = before->may_settle;
	generation->may_retry = before->may_retry;
	generation->retry_floor = before->retry_floor;
	generation->floor_clock = before->floor_clock;
	generation->licensed = true;
	generation->loss.set_back = true;
}

static void put_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	const struct asked *asked = calls_of_body(sim, op->body, op->body_size);
	struct name *name = promises_name(sim, op->id);
	const struct generation *again = promises_find(name, op->head.generation);
	const struct generation *done;
	struct generation *made;

	if (!asked) {
		broken(sim, "I11", "a put of %s differs from its call", op->id);
		return;
	}
	if (asked->rule.every > 0 && again && again == name->stored && again->asked == asked)
		return; /* the same rule was put before: it keeps its occurrence */
	check_growth(sim, name, op);
	done = sim->several ? promises_made_by(name, asked, false) : NULL;
	if (done && !losses_may_repeat(done))
		broken(sim, "I9", "a put of %s was done twice", op->id);
	client_changes(sim, name, op, role);
	end(name, FATE_REPLACED);
	made = promises_add(sim,
			    (struct generation){.number = op->head.generation,
						.name = name,
						.asked = asked,
						.due = op->head.due,
						.promised = role == DW_OWNER && !name->loss.keeper,
						.claimed = op->head.state == DW_CLAIMED});
	if (made && again && again->asked == asked)
		take_over(made, again);
	if (made && asked->rule.every > 0)
		recurrence_put(sim, op, made);
	else if (made && op->head.due != asked->due)
		broken(sim, "I11", "a put of %s has another deadline", op->id);
}

/* goes_on: a move or requeue makes the next generation, with the data and the attempts of the old
 * one. */
static void goes_on(struct sim *sim, const dw_op *op, dw_role role, struct generation *old)
{
	struct name *name = promises_name(sim, op->id);

	if (!old) {
		broken(sim, "I3", "%s was moved or requeued, but did not exist", op->id);
		return;
	}
	check_growth(sim, name, op);
	client_changes(sim, name, op, role);
	if ((op->head.attempt < old->attempt && !name->loss.keeper) || op->head.retries != 0)
		broken(sim, "move", "of %s: attempt %u, retries %u", op->id, op->head.attempt,
		       op->head.retries);
	old->fate = old->fate == FATE_DEAD ? FATE_DROPPED : FATE_REPLACED;
	(void)promises_add(
	    sim, (struct generation){.number = op->head.generation,
				     .name = name,
				     .asked = old->asked,
				     .due = op->head.due,
				     .moved_to = op->head.due,
				     .occurrence = old->occurrence,
				     .missed = old->missed,
				     .attempt = name->loss.keeper ? op->head.attempt : old->attempt,
				     .promised = role == DW_OWNER && !name->loss.keeper});
}

static void requeue_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	const struct name *name = promises_name(sim, op->id);
	struct generation *dead = promises_dead(name);

	if ((op->status == DW_ENOENT) != (dead == NULL))
		broken(sim, "dead", "a requeue of %s was answered %d", op->id, op->status);
	if (op->status == DW_OK && name->stored)
		broken(sim, "dead", "a requeue of %s has replaced a timer", op->id);
	if (op->status == DW_OK)
		goes_on(sim, op, role, dead);
}

static void drop_all_dead(struct name *name)
{
	for (struct generation *dead; (dead = promises_dead(name));)
		dead->fate = FATE_DROPPED;
}

static void drop_applied(struct sim *sim, const dw_op *op)
{
	struct name *name = promises_name(sim, op->id);

	if ((op->status == DW_ENOENT) != !promises_dead(name))
		broken(sim, "dead", "a drop of %s was answered %d", op->id, op->status);
	drop_all_dead(name);
}

void operation_purged(struct sim *sim, struct name *name)
{
	drop_all_dead(name);
	name->newer = 0; /* there was no mark */
	name->kept.of = NULL;
	for (struct generation *each = name->last; each; each = each->before)
		each->purged = true;
	end(name, FATE_CANCELLED);
	if (name->loss.owed)
		losses_changed(sim, name, true);
	if (!name->loss.keeper || name->loss.keeper == sim->at_work->life)
		name->purge_floor = promises_last_number(name);
}

/* late_but_gone: a client's cancel of an open timer deletes it and promises nothing. */
static bool late_but_gone(struct sim *sim, const dw_op *op)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	dw_row *row = sim->view.stored(sim->view.user, op->id);
	bool gone = !row;

	rows_free(&alloc, row);
	return gone;
}

void operation_newer(struct sim *sim, struct name *name, const dw_head *head)
{
	const dw_op put = {.head = *head};

	client_changes(sim, name, &put, DW_CLIENT);
	end(name, FATE_REPLACED);
	name->newer = head->generation;
	name->had_newer = true;
}

static void cancel_applied(struct sim *sim, const dw_op *op, dw_role role)
{
	struct name *name = promises_name(sim, op->id);
	bool half_deleted =
	    name->loss.half_deleted && !name->stored && name->last && name->last->loss.lost;

	if (op->status == DW_OK || (op->status == DW_ELATE && late_but_gone(sim, op))) {
		end(name, FATE_CANCELLED);
		if (role == DW_CLIENT)
			losses_ended(name);
	}
	if (op->status != DW_ENOENT && name->loss.owed && !name->stored)
		losses_changed(sim, name, true);
	/* When the value was deleted, a client cannot know whether the timer is claimed. */
	if ((op->status != DW_OK && op->status != DW_ENOENT) || name->loss.keeper ||
	    (half_deleted && role == DW_CLIENT))
		return;
	name->cancel_floor = promises_last_number(name);
	if (role == DW_CLIENT)
		promises_raise(name, name->cancel_floor);
}

static void retry_applied(struct sim *sim, struct generation *generation, const dw_op *op,
			  const dw_head *wanted)
{
	bool verdict = (op->flags & DW_OP_VERDICT) != 0;
	/* If the lease was set back too, two owners may have started the timer. */
	bool by_two = generation->loss.set_back || generation->loss.rebuilt;

	if (verdict && !generation->may_retry && !generation->licensed && !by_two)
		broken(sim, "I5", "%s is delivered again, but nobody asked for that", op->id);
	if (verdict && wanted->due < generation->retry_floor && !by_two &&
	    generation->floor_clock == sim->clocks.set_count)
		broken(sim, "I1", "%s is delivered again before the time asked for", op->id);
	if (!verdict && wanted->due != generation->due && !generation->unstarted)
		broken(sim, "I1", "a claim of %s was given back with another deadline", op->id);
	if (wanted->due != generation->due) /* otherwise the retry is repeated */
		generation->due_before = generation->due;
	generation->due = wanted->due;
	generation->claimed = false;
	generation->licensed = generation->licensed || verdict || generation->unstarted;
	generation->retried = generation->retried || verdict;
	generation->may_retry = false;
}

/* next_applied: the delivery is over, perhaps with a dead letter, and the timer waits for its next
 * occurrence. */
static void next_applied(struct sim *sim, const dw_op *op, const dw_head *wanted,
			 struct generation *old)
{
	struct name *name = old->name;
	struct generation *made;

	check_growth(sim, name, op);
	if (op->head.attempt != 0 || op->head.retries != 0 || op->head.state != DW_PENDING)
		broken(sim, "R1", "the next occurrence of %s has begun before it came", op->id);
	if (!op->reason && old->started && old->attempt == wanted->attempt && !old->may_settle)
		broken(sim, "I2", "%s was renewed, but nobody asked for that", op->id);
	end(name, op->reason ? FATE_DEAD : FATE_SETTLED);
	made = promises_add(sim, (struct generation){.number = op->head.generation,
						     .name = name,
						     .asked = old->asked,
						     .due = op->head.due,
						     .promised = true});
	if (made)
		recurrence_renewed(sim, op, wanted, made);
}

/* delivery_applied: the owner's operations name one generation, which must be the stored one. */
static void delivery_applied(struct sim *sim, const dw_op *op, const dw_head *wanted)
{
	struct name *name = promises_name(sim, op->id);
	struct generation *generation = promises_find(name, wanted->generation);

	if (!generation || generation != name->stored) {
		broken(sim, op->kind == DW_OP_CLAIM ? "I3" : "I4",
		       "operation %d of a stale generation of %s was done", (int)op->kind, op->id);
		return;
	}
	if (op->kind == DW_OP_CLAIM) {
		generation->claimed = true;
	} else if (op->kind == DW_OP_RETRY) {
		retry_applied(sim, generation, op, wanted);
	} else if (op->kind == DW_OP_NEXT) {
		next_applied(sim, op, wanted, generation);
	} else if (op->kind == DW_OP_BURY) {
		recurrence_settled(sim, generation);
		end(name, FATE_DEAD);
		if (op->reason == DW_REASON_LATE && generation->asked->late_after == 0)
			broken(sim, "I2", "%s was dead-lettered as late", op->id);
	} else {
		/* A rebuilt timer may have been started and settled before it was lost. */
		if (!generation->may_settle && !generation->loss.rebuilt && !generation->ending &&
		    !recurrence_is_over(sim, generation))
			broken(sim, "I2", "%s was settled, but nobody asked for that", op->id);
		recurrence_settled(sim, generation);
		end(name, FATE_SETTLED);
	}
}

/* leaves_newer: no call changes what a newer version stored, and that is the answer. */
static bool leaves_newer(struct sim *sim, const dw_op *op)
{
	bool changes = op->kind == DW_OP_PUT || op->kind == DW_OP_MOVE || op->kind == DW_OP_CANCEL;

	if (!changes || !promises_name(sim, op->id)->newer)
		return op->status == DW_ENEWER;
	if (op->status != DW_ENEWER && op->status != DW_EEXIST)
		broken(sim, "newer",
		       "a change of %s, which a newer version stored, was answered %d", op->id,
		       op->status);
	return true;
}

static void judge(struct sim *sim, const dw_op *op, const dw_head *wanted, dw_role role)
{
	if (leaves_newer(sim, op))
		return;
	if (op->kind == DW_OP_CANCEL)
		cancel_applied(sim, op, role);
	if (op->kind == DW_OP_REQUEUE)
		requeue_applied(sim, op, role);
	if (op->kind == DW_OP_DROP)
		drop_applied(sim, op);
	if (op->status != DW_OK)
		return;
	if (op->kind == DW_OP_PUT)
		put_applied(sim, op, role);
	if (op->kind == DW_OP_MOVE)
		goes_on(sim, op, role, promises_name(sim, op->id)->stored);
	if (op->kind == DW_OP_PURGE)
		for (struct name *name = sim->promises.first; name; name = name->next)
			operation_purged(sim, name);
	if (op->kind == DW_OP_CLAIM || op->kind == DW_OP_SETTLE || op->kind == DW_OP_RETRY ||
	    op->kind == DW_OP_BURY || op->kind == DW_OP_NEXT)
		delivery_applied(sim, op, wanted);
}

/* is_of_timer: it may change what is stored under its id. */
static bool is_of_timer(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_PUT:
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
	case DW_OP_REQUEUE:
		return true;
	default:
		return false;
	}
}

void operation_applied(struct sim *sim, const dw_op *op, const dw_head *wanted, dw_role role)
{
	struct name *name = is_of_timer(op) ? promises_name(sim, op->id) : NULL;
	const struct generation *was = name ? name->stored : NULL;

	judge(sim, op, wanted, role);
	if (name && !sim->trace.broken[0])
		ends_applied(sim, op, name, was);
}
