/* What may be expected after the server has lost what it had confirmed.
 *
 * The KEEPER of a shard is its owner at that moment, if its process lives and goes on. What it knew
 * (its engine had heard of it, and that was acknowledged in the inbox) it has to put right: it OWES
 * the timers that are not there, and what is there again although it had ended must not start. What
 * it did not know, what a client had written just now, is LOST: nobody has to bring it back,
 * somebody may. Without a keeper, and when it ends before it has put all right, what the server
 * says is the truth, whatever was confirmed.
 *
 * Until it is put right, what a client is told of the timer promises nothing. */
#include "sim/fleet/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The store, as it is ------------------------------------------------------------------- */

static const char *key_of(const struct town *town, uint32_t name, const char *end)
{
	static char key[40];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s",
		       town_shard(town, town->sim->model.names[name].id), end);
	return key;
}

static bool head_of(struct town *town, uint32_t name, dw_head *ret_head)
{
	struct alloc alloc = memory_alloc(&town->sim->table_account);
	dw_row *row = town_stored(town->sim, town->sim->model.names[name].id);
	bool found = row != NULL;

	if (found)
		*ret_head = row->head;
	rows_free(&alloc, row);
	return found;
}

static uint32_t index_of(const struct sim *sim, const struct generation *generation)
{
	return generation ? (uint32_t)(generation - sim->model.generations) : NONE;
}

static struct generation *generation_at(struct sim *sim, uint32_t at)
{
	return at == NONE ? NULL : &sim->model.generations[at];
}

/* ---- Before -------------------------------------------------------------------------------- */

static void look_at(struct town *town, uint32_t name, const struct process *keeper)
{
	struct remembered *was = &town->before[name];
	double score;

	was->stored = head_of(town, name, &was->head);
	was->unacked = keeper && twin_score(town->twin, key_of(town, name, "i"),
					    town->sim->model.names[name].id, &score);
	was->unheard = was->unacked && (score < 0 ? -score : score) > (double)keeper->known[name];
}

void lost_look(struct town *town, unsigned shard, const struct process *keeper)
{
	struct sim *sim = town->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++)
		if (town_shard(town, sim->model.names[i].id) == shard)
			look_at(town, i, keeper);
}

/* ---- After --------------------------------------------------------------------------------- */

/* free_again: it is stored, and that counts. */
static void free_again(struct sim *sim, struct generation *generation, const dw_head *head)
{
	model_lower(&sim->model.names[generation->name], generation->number);
	generation->fate = FATE_STORED;
	generation->lost = false;
	generation->reset = true;
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	if (generation->attempt > head->attempt)
		generation->attempt = head->attempt;
	generation->licensed = true;
}

static void lose(struct sim *sim, struct generation *generation)
{
	if (!generation || generation == model_stored(sim, generation->name))
		return;
	generation->lost = true;
	generation->lost_to = sim->model.names[generation->name].keeper;
	trace(sim, "is lost", sim->model.names[generation->name].id, (int64_t)generation->number,
	      (int64_t)generation->lost_to);
}

/* stored_now: the generation that the server has; NULL: none. */
static struct generation *stored_now(struct town *town, uint32_t name, dw_head *ret_head)
{
	struct sim *sim = town->sim;
	struct generation *generation;

	if (!head_of(town, name, ret_head))
		return NULL;
	generation = model_find(sim, name, ret_head->generation);
	if (!generation)
		broken(sim, "sim", "%s came back as something that never was",
		       sim->model.names[name].id);
	return generation;
}

/* lose_all: nobody has to bring back those from that number on, and somebody may. */
static void lose_all(struct sim *sim, const struct name *name, uint64_t from)
{
	for (uint32_t at = name->last; at != NONE; at = sim->model.generations[at].before) {
		struct generation *generation = &sim->model.generations[at];

		if (generation->number >= from &&
		    (generation->fate == FATE_STORED || generation->fate == FATE_REPLACED ||
		     generation->fate == FATE_CANCELLED))
			lose(sim, generation);
	}
}

/* without_keeper: what is stored is the truth. */
static void without_keeper(struct town *town, uint32_t number)
{
	struct sim *sim = town->sim;
	struct name *name = &sim->model.names[number];
	dw_head head = {0};
	struct generation *now = stored_now(town, number, &head);

	name->keeper = 0;
	name->owed = NONE;
	name->stored = index_of(sim, now);
	lose_all(sim, name, 0);
	if (now)
		free_again(sim, now, &head);
}

/* unheard: what the keeper did not know is lost. */
static void unheard(struct town *town, uint32_t number, const struct process *keeper,
		    struct generation *truth)
{
	struct sim *sim = town->sim;
	struct name *name = &sim->model.names[number];
	uint64_t known = keeper->known[number];
	dw_head head = {0};
	struct generation *now = stored_now(town, number, &head);

	name->stored = index_of(sim, now);
	name->owed = NONE;
	name->keeper = keeper->context.life;
	lose(sim, truth);
	/* And what it believes, or will when an answer that is on its way has come. */
	lose_all(sim, name, known);
	/* What is older than what it believes it will replace, or delete: unless it was purged, or
	 * the owner does not see the loss, because only a client's write was lost, and another
	 * client has written since. */
	if (now && (now->number >= known || now->purged || sim->town->before[number].unacked))
		free_again(sim, now, &head);
	else if (now && now->fate == FATE_STORED)
		now->fate = FATE_REPLACED;
}

static bool is_as_before(const struct remembered *was, bool stored, const dw_head *head)
{
	return was->stored == stored &&
	       (!stored ||
		(was->head.generation == head->generation && was->head.due == head->due &&
		 was->head.state == head->state && was->head.attempt == head->attempt));
}

static bool is_believed(const struct generation *generation, const struct process *keeper)
{
	return generation->number == keeper->known[generation->name] &&
	       generation->number > keeper->dead[generation->name];
}

static void with_keeper(struct town *town, uint32_t number, const struct process *keeper)
{
	struct sim *sim = town->sim;
	struct name *name = &sim->model.names[number];
	struct generation *truth = generation_at(sim, name->owed);
	dw_head head = {0};
	struct generation *now = stored_now(town, number, &head);

	if (!truth)
		truth = model_stored(sim, number);
	if (truth && truth->fate != FATE_STORED)
		truth = NULL;
	if (is_as_before(&town->before[number], now != NULL, &head) && !truth &&
	    !town->before[number].unheard)
		return;
	if (truth ? truth != now && (town->before[number].unacked || !is_believed(truth, keeper))
		  : town->before[number].unheard) {
		unheard(town, number, keeper, truth);
		return;
	}
	if (is_as_before(&town->before[number], now != NULL, &head))
		return;
	name->keeper = keeper->context.life;
	name->stored = index_of(sim, now);
	name->owed = truth == now ? NONE : index_of(sim, truth);
	if (truth && truth != now)
		truth->lost_to = name->keeper;
	/* Its letter is lost, and it lives; its value was taken away, and is there again, or an
	 * earlier one is; and nobody remembers what a purge has deleted. */
	if (now && !truth &&
	    (now->fate == FATE_DEAD || (name->torn && sim->model.generations[name->last].lost) ||
	     now->purged))
		free_again(sim, now, &head);
}

bool lost_may_repeat(const struct sim *sim, const struct generation *done)
{
	int status = sim->model.asked[done->asked].status;

	return done->made_at <= sim->model.names[done->name].befallen_at &&
	       (status == UNANSWERED || status == VOID || status == DW_EUNKNOWN);
}

/* ---- Dead letters: nobody brings them back ------------------------------------------------- */

struct looking {
	struct town *town;
	unsigned shard;
};

static void letter_found(void *user, const struct twin_field *field)
{
	const struct looking *looking = user;
	struct sim *sim = looking->town->sim;
	const char *colon = strrchr(field->key, ':');
	size_t size = strlen(field->name);
	struct generation *generation;

	if (!colon || strcmp(colon, ":d") != 0 || size + 1 >= field->name_size ||
	    town_shard(looking->town, field->name) != looking->shard)
		return;
	generation = model_find(sim, model_name(sim, field->name),
				strtoull(field->name + size + 1, NULL, 10));
	if (generation)
		generation->letter = true;
}

static void settle_letters(struct town *town, unsigned shard)
{
	struct looking looking = {town, shard};
	struct model *model = &town->sim->model;

	for (uint32_t i = 0; i < model->generation_count; i++)
		model->generations[i].letter = false;
	twin_dump(town->twin, letter_found, &looking);
	for (uint32_t i = 0; i < model->generation_count; i++) {
		struct generation *generation = &model->generations[i];

		if (town_shard(town, model->names[generation->name].id) != shard)
			continue;
		if (generation->letter)
			generation->fate = FATE_DEAD;
		else if (generation->fate == FATE_DEAD)
			generation->fate = FATE_BURIED;
	}
}

void lost_settle(struct town *town, unsigned shard, const struct process *keeper)
{
	struct sim *sim = town->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		if (town_shard(town, sim->model.names[i].id) != shard)
			continue;
		sim->model.names[i].befallen_at = sim->clocks.steady;
		if (keeper)
			with_keeper(town, i, keeper);
		else
			without_keeper(town, i);
	}
	settle_letters(town, shard);
	for (unsigned i = 0; i < PROCESSES; i++)
		town->processes[i].shaken[shard] |= !keeper;
	order_forget(sim);
	faults_disturb(sim, sim->clocks.steady);
}

/* ---- A value that somebody has taken away -------------------------------------------------- */

void lost_tear(struct town *town, uint32_t name, const struct process *keeper)
{
	look_at(town, name, keeper);
	town->sim->model.names[name].torn = true;
}

/* lost_torn: its owner brings it back if it hears of it before it wants to fire it. */
void lost_torn(struct town *town, uint32_t number, const struct process *keeper)
{
	struct sim *sim = town->sim;
	struct name *name = &sim->model.names[number];
	struct generation *truth = model_stored(sim, number);

	if (name->owed != NONE)
		truth = generation_at(sim, name->owed);
	name->stored = name->owed = NONE;
	name->keeper = keeper ? keeper->context.life : 0;
	lose(sim, truth);
	if (truth)
		truth->lost_to = 0;
}

/* ---- Putting it right ---------------------------------------------------------------------- */

static bool is_put_right(struct sim *sim, const struct name *name)
{
	return name->owed == NONE &&
	       (name->stored == NONE || sim->model.generations[name->stored].fate == FATE_STORED);
}

/* pushed_one: the generation that is pushed. Where the server was set back, a client that had asked
 * early may have been given the number of one that was lost: two writes of one id, whose callers
 * both had waited longer than other writers of the shard. The pushed one stands. */
static struct generation *pushed_one(struct sim *sim, uint32_t number, const dw_head *head)
{
	struct generation *generation = model_find(sim, number, head->generation);
	struct generation *older = generation ? generation_at(sim, generation->before) : NULL;

	/* A put that is done again gets the number that it has asked for again. */
	while (older && (older->number != head->generation || older->asked == generation->asked))
		older = generation_at(sim, older->before);
	if (!older || head->due == generation->due)
		return generation;
	generation->number--;
	generation->fate = FATE_REPLACED;
	return older;
}

/* lost_pushed: an owner that was ousted brings back all that it has not itself seen to end. */
void lost_pushed(struct sim *sim, const char *id, const dw_head *head, const struct process *caller,
		 bool ousted)
{
	uint32_t number = model_name(sim, id);
	struct name *name = &sim->model.names[number];
	struct generation *generation = pushed_one(sim, number, head);
	struct generation *before = model_stored(sim, number);

	if (!generation) {
		broken(sim, "I10", "%s was written again and never was there", id);
		return;
	}
	if (before && before != generation && before->fate == FATE_STORED) {
		if (before->made_at > generation->made_at &&
		    !sim->town->set_back[town_shard(sim->town, id)])
			broken(sim, "I2", "%s was put since, and an older one is written over it",
			       id);
		before->fate = FATE_REPLACED;
	}
	/* Settled, and its owner has not heard that yet: it settles it again, or ends before; or
	 * another owner has settled it, where a set-back had given the lease back. */
	if (!ousted && caller && generation->fate == FATE_SETTLED &&
	    generation->number > caller->dead[number]) {
		generation->fate = FATE_STORED;
		if (generation->attempt > head->attempt)
			generation->attempt = head->attempt;
	}
	if (generation->lost || generation->lost_to || generation->purged ||
	    (ousted && caller &&
	     generation->number > caller->dead[number])) { /* whatever others have done meanwhile */
		if (ousted && generation->fate != FATE_STORED &&
		    generation->attempt > head->attempt)
			generation->attempt = head->attempt; /* and started */
		model_lower(name, generation->number);
		generation->lost = false;
		generation->lost_to = 0;
		generation->fate = FATE_STORED;
		generation->licensed = true;
	}
	generation->pushed = true;
	if (!generation->reset && head->due != generation->due &&
	    head->due != generation->due_before)
		broken(sim, "I11", "%s was written again with another deadline", id);
	generation->due = head->due;
	generation->claimed = head->state == DW_CLAIMED;
	name->stored = index_of(sim, generation);
	if (name->owed != NONE && sim->model.generations[name->owed].number <= generation->number)
		name->owed = NONE;
	if (is_put_right(sim, name))
		name->keeper = 0;
}

/* is_below an earlier one, because the server was set back before a client has made it. */
static bool is_below(const struct sim *sim, const struct generation *generation)
{
	uint32_t at = generation->before;

	while (at != NONE && sim->model.generations[at].number < generation->number)
		at = sim->model.generations[at].before;
	return at != NONE;
}

void lost_deleted(struct sim *sim, const char *id)
{
	struct name *name = &sim->model.names[model_name(sim, id)];
	struct generation *generation = model_stored(sim, model_name(sim, id));

	if (generation && generation->fate == FATE_STORED && !generation->reset &&
	    !generation->pushed && !generation->lost &&
	    generation->made_at < name->befallen_at && /* not a client's since */
	    !is_below(sim, generation))
		broken(sim, "I2", "%s was deleted again and lives", id);
	if (generation && generation->fate == FATE_STORED)
		generation->fate = FATE_CANCELLED;
	name->stored = NONE;
	if (is_put_right(sim, name))
		name->keeper = 0;
}

void lost_mended(struct sim *sim, const char *id)
{
	sim->model.names[model_name(sim, id)].keeper = 0;
}

/* lost_changed: a client has changed it before that. */
void lost_changed(struct sim *sim, struct name *name, bool deleted)
{
	struct generation *owed = generation_at(sim, name->owed);

	name->owed = NONE;
	if (deleted)
		lose(sim, owed);
	else if (owed)
		owed->fate = FATE_REPLACED;
}

void lost_ended(struct sim *sim, const struct name *name)
{
	for (uint32_t at = name->last; at != NONE; at = sim->model.generations[at].before)
		if (sim->model.generations[at].lost &&
		    sim->model.generations[at].fate == FATE_STORED)
			sim->model.generations[at].fate = FATE_CANCELLED;
}

/* lost_confirmed: the keeper's own call, whose answer was on its way: it knows that one, too. */
void lost_confirmed(struct sim *sim, struct generation *generation)
{
	struct name *name = &sim->model.names[generation->name];

	if (!generation->lost || generation->lost_to != sim->life || !sim->engine ||
	    !engine_is_owner(sim->engine) || name->last != index_of(sim, generation))
		return;
	if (generation->fate != FATE_STORED)
		return; /* a client had ended it before the loss, and the keeper may know that */
	generation->lost = false;
	name->keeper = sim->life;
	name->owed = index_of(sim, generation);
}

/* ---- The end of a keeper ------------------------------------------------------------------- */

/* process_of: the one that has that life. */
static struct process *process_of(struct town *town, uint64_t life)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];
		bool at_work = town->at_work == process;

		if (life == (at_work ? town->sim->life : process->context.life))
			return process;
	}
	return NULL;
}

/* lost_keeper_ends: its process ends, or has lost the ownership; in_time: its lease was not over,
 * so that it has had to put all right before. */
void lost_keeper_ends(struct sim *sim, bool in_time)
{
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct name *name = &sim->model.names[i];

		if (!name->keeper || name->keeper != sim->life)
			continue;
		if (in_time && name->owed != NONE)
			broken(sim, "I2", "%s was lost, and its owner has gone without a word",
			       name->id);
		without_keeper(sim->town, i);
	}
	for (uint32_t i = 0; i < sim->model.generation_count; i++)
		if (sim->model.generations[i].lost_to == sim->life)
			sim->model.generations[i].lost_to = 0;
}

/* lost_taken_over: by a process, after its keeper's lease was over, or while a lease that was set
 * back ended sooner than its keeper thought: its keeper will only step down. */
void lost_taken_over(struct town *town, unsigned shard)
{
	struct sim *sim = town->sim;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		if (!town_has_lease(process, shard) &&
		    (sim->clocks.steady >= process->leased || town->set_back[shard]))
			process->is_beaten = true;
	}
	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		const struct name *name = &sim->model.names[i];
		const struct process *keeper = name->keeper ? process_of(town, name->keeper) : NULL;

		if (keeper && keeper->is_beaten && !town_has_lease(keeper, shard) &&
		    town_shard(town, name->id) == shard)
			without_keeper(town, i);
	}
}

/* lost_renumbered: what clients have written into an emptied shard got new numbers above those that
 * its owner knows. */
void lost_renumbered(struct town *town, unsigned shard)
{
	struct sim *sim = town->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct generation *stored = model_stored(sim, i);
		dw_head head;

		if (!stored || town_shard(town, sim->model.names[i].id) != shard ||
		    !head_of(town, i, &head) || head.generation <= stored->number)
			continue;
		trace(sim, "renumbered", sim->model.names[i].id, (int64_t)stored->number,
		      (int64_t)head.generation);
		stored->was = stored->number;
		stored->number = head.generation;
		hand_forget(town);
	}
}

/* is_replaced: what is owed, by a later one. */
static bool is_replaced(const struct sim *sim, const struct name *name)
{
	return name->stored != NONE && sim->model.generations[name->stored].number >
					   sim->model.generations[name->owed].number;
}

/* lost_all_pushed: the engine has written again all that it knew of the shard. */
void lost_all_pushed(struct process *process, dw_store *real)
{
	struct sim *sim = process->sim;

	for (uint32_t i = 0; i < sim->model.name_count; i++)
		if (real->type->is_lost(real, sim->model.names[i].id))
			process->shaken[town_shard(sim->town, sim->model.names[i].id)] = false;

	for (uint32_t i = 0; i < sim->model.name_count; i++) {
		struct name *name = &sim->model.names[i];

		if (!name->keeper || name->keeper != sim->life ||
		    name->befallen_at > process->told_at || !real->type->is_lost(real, name->id))
			continue;
		if (name->owed != NONE && !is_replaced(sim, name))
			broken(sim, "I2", "%s was lost, and is not written again", name->id);
		if (is_put_right(sim, name))
			name->keeper = 0;
	}
}
