#include "sim/core/sim.h"

#include <string.h>

#define BATCH_MAX 12u
#define BATCH_WAIT_MAX DW_SECONDS(2)

static const char *const topics[TOPIC_COUNT] = {"a", "b", "c", "d"};

/* called: a callback begins. False: the process is dead, and the callback has no effect. */
static bool called(struct sim *sim)
{
	if (sim->at_work->dead)
		return false;
	if (sim->program.in_call)
		broken(sim, "once", "a callback was called from inside a call");
	clocks_pass(sim, (dw_usec)draw(sim, chance(sim, 300) ? 20000 : 50));
	if (!sim->faults.over && chance(sim, sim->knobs.step))
		instance_step_clock(sim);
	if (!sim->faults.over && chance(sim, sim->knobs.crash_inside)) {
		trace(sim, "dies inside", "", 0, 0);
		sim->at_work->dead = true;
		return false;
	}
	return true;
}

/* go_on: the program may make any call from inside a callback. */
static void go_on(struct sim *sim, uint32_t likely)
{
	if (!sim->faults.over && sim->program.actions_left > 0 && chance(sim, likely))
		program_act(sim);
	if (!sim->at_work->closing && chance(sim, 100) &&
	    engine_turn(sim->at_work->engine) != DW_EBUSY)
		broken(sim, "busy", "a turn ran inside a callback");
}

/* ---- Callbacks ----------------------------------------------------------------------------- */

static void done(dw *handle, const dw_result *result, void *user)
{
	struct sim *sim = sim_of(handle);
	struct asked *asked = user;

	if (!called(sim))
		return;
	trace(sim, "answered", result->id, result->status, (int64_t)result->generation);
	calls_answered(sim, asked, result->status, result);
	go_on(sim, 1000);
}

static void listed(dw *handle, int status, const dw_info *timers, size_t count,
		   const dw_cursor *next, void *user)
{
	struct sim *sim = sim_of(handle);

	if (!called(sim))
		return;
	trace(sim, "listed", "", status, (int64_t)count);
	for (size_t i = 1; i < count; i++)
		if (timers[i].due < timers[i - 1].due)
			broken(sim, "list", "a page is not in order");
	if ((status == DW_OK) != (next != NULL))
		broken(sim, "list", "a page without a cursor");
	calls_answered(sim, user, status, NULL);
	go_on(sim, 1000);
}

static void told(dw *handle, int status, const dw_store_status *store, void *user)
{
	struct sim *sim = sim_of(handle);

	if (!called(sim))
		return;
	trace(sim, "status", "", status, store ? (int64_t)store->pending : -1);
	calls_answered(sim, user, status, NULL);
	go_on(sim, 1000);
}

bool program_note(struct sim *sim, const dw_event *event)
{
	if (sim->at_work->dead)
		return false;
	trace(sim, "event", event->id ? event->id : "", event->kind, event->status);
	return true;
}

void program_take(struct sim *sim, const dw_event *event)
{
	if (event->kind == DW_EVENT_HOLD_EXPIRED)
		delivery_expired(sim, event->id);
	if (event->kind == DW_EVENT_OWNER_LOST)
		deliveries_lost(sim);
	if (event->kind == DW_EVENT_OWNER_LOST || event->kind == DW_EVENT_OWNER)
		faults_disturb(sim, sim->clocks.steady);
	if (event->kind == DW_EVENT_CORRUPT && !promises_name(sim, event->id)->loss.half_deleted)
		broken(sim, "I11", "%s is corrupt", event->id);
	if (!sim->at_work->closing)
		go_on(sim, 300);
}

void program_event(dw *handle, const dw_event *event, void *user)
{
	struct sim *sim = sim_of(handle);

	(void)user;
	if (program_note(sim, event))
		program_take(sim, event);
}

static dw_verdict choose_verdict(struct sim *sim)
{
	uint64_t dice = draw(sim, 100);

	if (sim->faults.over || dice < 60)
		return DW_DONE;
	if (dice < 80)
		return DW_RETRY;
	return dice < 93 ? DW_HOLD : DW_HOLD_UNSTARTED;
}

/* note_start: a handler of the timer is called. */
static struct generation *note_start(struct sim *sim, const dw_firing *firing, bool batched)
{
	struct generation *generation;

	trace(sim, "start", firing->id, firing->due, firing->attempt);
	if (sim->at_work->closing)
		broken(sim, "close", "%s started while the handle is closed", firing->id);
	generation = delivery_started(sim, firing);
	if (generation && !generation->loss.rebuilt && !generation->loss.set_back)
		recurrence_started(sim, generation, firing, batched);
	return generation;
}

static dw_usec choose_delay(struct sim *sim)
{
	return (dw_usec)draw(sim, chance(sim, 5000) ? 1000 : 3000000);
}

static dw_verdict fired(dw *handle, const dw_firing *firing, void *user)
{
	struct sim *sim = sim_of(handle);
	struct generation *generation;
	dw_verdict verdict;
	dw_usec retry_in = -1;

	(void)user;
	if (sim->at_work->dead)
		return DW_DONE;
	if (++sim->at_work->turn_starts > 256)
		broken(sim, "bounded", "more than 256 starts in a turn");
	generation = note_start(sim, firing, false);
	if (!called(sim))
		return DW_DONE;
	verdict = choose_verdict(sim);
	go_on(sim, 3000);
	if (verdict == DW_RETRY && chance(sim, 8000)) {
		retry_in = choose_delay(sim);
		if (engine_retry_in(sim->at_work->engine, retry_in) != DW_OK)
			broken(sim, "retry", "dw_retry_in was refused inside a handler");
	}
	delivery_verdict(sim, generation, verdict, retry_in);
	trace(sim, "verdict", firing->id, verdict, retry_in);
	return verdict;
}

/* fired_batch: all start at one moment. Each has a verdict of its own. */
static void fired_batch(dw *handle, dw_batch *batch, void *user)
{
	struct sim *sim = sim_of(handle);
	struct generation *generations[BATCH_MAX];

	(void)user;
	if (sim->at_work->dead)
		return;
	if (batch->count == 0 || batch->count > BATCH_MAX || sim->at_work->turn_starts >= 256)
		broken(sim, "bounded", "a batch of %zu", batch->count);
	sim->at_work->turn_starts += (uint32_t)batch->count;
	for (size_t i = 0; i < batch->count; i++)
		generations[i] = note_start(sim, &batch->firings[i], true);
	if (!called(sim))
		return;
	go_on(sim, 3000);
	if (engine_retry_in(sim->at_work->engine, 1) != DW_EINVAL)
		broken(sim, "retry", "dw_retry_in was accepted inside a batch");
	for (size_t i = 0; i < batch->count; i++) {
		batch->verdicts[i] = choose_verdict(sim);
		if (batch->verdicts[i] == DW_RETRY && chance(sim, 8000))
			batch->retry_in[i] = choose_delay(sim);
		delivery_verdict(sim, generations[i], batch->verdicts[i], batch->retry_in[i]);
		trace(sim, "verdict", batch->firings[i].id, batch->verdicts[i], batch->retry_in[i]);
	}
}

/* ---- Calls --------------------------------------------------------------------------------- */

static struct name *any_name(struct sim *sim)
{
	return &sim->promises.names[draw(sim, sim->knobs.id_count)];
}

static struct name *next_name(struct sim *sim, const struct name *name)
{
	return &sim->promises.names[(name->number + 1) % sim->knobs.id_count];
}

static dw_usec any_delay(struct sim *sim)
{
	static const dw_usec limits[] = {1,
					 DW_MILLISECONDS(8),
					 DW_MILLISECONDS(200),
					 DW_SECONDS(3),
					 DW_SECONDS(30),
					 DW_MINUTES(20)};
	uint64_t which = draw(sim, 40);
	dw_usec delay;

	if (which == 39)
		return (dw_usec)draw(sim, (uint64_t)DW_HOURS(1)) * -1;
	delay = (dw_usec)draw(sim, (uint64_t)limits[which / 7]);
	return sim->knobs.delay_max ? delay % sim->knobs.delay_max : delay;
}

/* any_due: a random deadline, the last one again, or an edge of a level of the wheel. */
static dw_usec any_due(struct sim *sim)
{
	dw_usec due = usec_add(clocks_wall(sim), any_delay(sim));

	if (sim->program.last_due != 0 && chance(sim, 2500))
		return sim->program.last_due;
	if (chance(sim, 700))
		due += (1 << 18) - due % (1 << 18);
	else if (chance(sim, 700))
		due += 1024 - due % 1024;
	sim->program.last_due = due;
	return due;
}

static void put(struct sim *sim)
{
	struct name *name = chance(sim, 200) ? NULL : any_name(sim);
	struct asked *asked = calls_new(sim, ASKED_PUT, name);
	uint64_t number;
	dw_timer timer = {.size = sizeof timer};
	dw_rule rule;
	int status;

	if (!asked)
		return;
	number = calls_number(sim, asked);
	asked->topic = (uint32_t)draw(sim, TOPIC_COUNT);
	asked->due = any_due(sim);
	if (chance(sim, sim->knobs.recurring))
		asked->rule = recurrence_draw(sim);
	else if (chance(sim, 1000))
		asked->late_after = 1 + (dw_usec)draw(sim, chance(sim, 5000) ? 500 : DW_SECONDS(5));
	asked->callback = !chance(sim, 1000);
	timer.id = name ? name->id : NULL;
	timer.topic = topics[asked->topic];
	timer.due = asked->due;
	timer.data = &number;
	timer.data_size = sizeof number;
	timer.late_after_us = asked->late_after;
	timer.flags = chance(sim, 2000) ? (number % 4 < 2 ? DW_ONCE : DW_NEW) : 0;
	rule = recurrence_rule(&asked->rule);
	timer.rule = asked->rule.every > 0 ? &rule : NULL;
	asked->keeps = number % 2 == 0 && !timer.rule;
	timer.keep_us = asked->keeps ? DW_DAYS(90) : 0;
	trace(sim, "put", timer.id ? timer.id : "", timer.due, (int64_t)number);
	status = engine_put(sim->at_work->engine, &timer,
			    (struct done){.fn = asked->callback ? done : NULL, .user = asked});
	calls_accepted(sim, asked, status);
}

static void cancel(struct sim *sim)
{
	struct name *name = any_name(sim);
	struct asked *asked = calls_new(sim, ASKED_CANCEL, name);

	if (!asked)
		return;
	trace(sim, "cancel", name->id, 0, 0);
	calls_accepted(
	    sim, asked,
	    engine_cancel(sim->at_work->engine, name->id, 0, (struct done){done, asked}));
}

static void move(struct sim *sim)
{
	struct name *name = any_name(sim);
	struct asked *asked = calls_new(sim, ASKED_MOVE, name);
	const char *id = name->id;

	if (!asked)
		return;
	asked->due = any_due(sim);
	trace(sim, "move", id, asked->due, 0);
	calls_accepted(
	    sim, asked,
	    engine_move(sim->at_work->engine, id, asked->due, (struct done){done, asked}));
}

/* revive requeues or drops a dead letter. */
static void revive(struct sim *sim)
{
	struct name *name = any_name(sim);
	bool drops = chance(sim, 2000);
	struct done told_of = {.fn = done};
	struct asked *asked;
	const char *id;

	for (uint32_t i = 0; i < sim->knobs.id_count && !promises_dead(name); i++)
		name = next_name(sim, name);
	asked = calls_new(sim, drops ? ASKED_LIST : ASKED_REQUEUE, name);
	if (!asked)
		return;
	told_of.user = asked;
	id = name->id;
	asked->due = any_due(sim);
	trace(sim, drops ? "drop" : "requeue", id, asked->due, 0);
	calls_accepted(sim, asked,
		       drops
			   ? engine_dead_drop(sim->at_work->engine, id, 0, told_of)
			   : engine_dead_requeue(sim->at_work->engine, id, 0, asked->due, told_of));
}

static void purge(struct sim *sim)
{
	struct asked *asked = sim->calls.purging ? NULL : calls_new(sim, ASKED_PURGE, NULL);

	if (!asked)
		return;
	trace(sim, "purge", "", 0, 0);
	calls_accepted(sim, asked, engine_purge(sim->at_work->engine, (struct done){done, asked}));
}

/* settle a held delivery or, with a wrong token, another one. */
static void settle(struct sim *sim)
{
	struct name *name = any_name(sim);
	struct generation *generation = name->stored;
	struct asked *asked;
	dw_token token = {.attempt = 1};
	dw_usec retry_in = (dw_usec)draw(sim, 100000) - 1;
	int status;

	for (uint32_t i = 0; i < sim->knobs.id_count && (!generation || !generation->held); i++) {
		name = next_name(sim, name);
		generation = name->stored;
	}
	asked = generation ? calls_new(sim, ASKED_SETTLE, name) : NULL;
	if (!asked)
		return;
	token.generation = generation->number;
	token.attempt = generation->attempt - chance(sim, 1000);
	memcpy(token.id, name->id, sizeof name->id);
	asked->generation = generation->number;
	asked->verdict = chance(sim, 3000) ? DW_RETRY : DW_DONE;
	trace(sim, "settle", token.id, asked->verdict, token.attempt);
	status = engine_settle(sim->at_work->engine, &token, asked->verdict, retry_in,
			       (struct done){done, asked});
	if (status == DW_OK && token.attempt != generation->attempt &&
	    !sim->view.is_lost(sim->view.user))
		broken(sim, "I4", "a settle of an earlier attempt of %s was accepted", token.id);
	calls_accepted(sim, asked, status);
}

/* start begins the work of a held delivery that waits for that. */
static void start(struct sim *sim)
{
	struct name *name = any_name(sim);
	struct generation *generation = name->stored;
	dw_token token = {.attempt = 0};
	int status;

	for (uint32_t i = 0; i < sim->knobs.id_count && (!generation || !generation->unstarted);
	     i++) {
		name = next_name(sim, name);
		generation = name->stored;
	}
	if (!generation || !generation->unstarted)
		return;
	token.generation = generation->number;
	token.attempt = generation->attempt;
	memcpy(token.id, name->id, sizeof name->id);
	sim->program.in_start = true;
	status = engine_started(sim->at_work->engine, &token);
	sim->program.in_start = false;
	trace(sim, "begin", token.id, status, token.attempt);
	if (status == DW_OK && !sim->view.may_start(sim->view.user, token.id))
		broken(sim, "I6", "the work of %s began without the lease", token.id);
	generation->unstarted &= status != DW_OK;
}

static void look(struct sim *sim)
{
	struct asked *asked = calls_new(sim, ASKED_LIST, NULL);
	uint64_t which = draw(sim, 3);
	int status;

	if (!asked)
		return;
	trace(sim, "look", "", (int64_t)which, 0);
	if (which == 0)
		status = engine_get(sim->at_work->engine, any_name(sim)->id,
				    (struct lister){listed, asked});
	else if (which == 1)
		status =
		    engine_list(sim->at_work->engine,
				&(dw_select){.size = sizeof(dw_select),
					     .topic = chance(sim, 5000) ? "a" : NULL},
				NULL, 1 + (size_t)draw(sim, 20), (struct lister){listed, asked});
	else
		status = engine_status(sim->at_work->engine, told, asked);
	calls_accepted(sim, asked, status);
}

static int register_batch(struct sim *sim, const char *name)
{
	dw_batch_options options = {.size = sizeof options,
				    .max = 1 + (size_t)draw(sim, BATCH_MAX),
				    .wait_us = (dw_usec)draw(sim, BATCH_WAIT_MAX)};

	if (chance(sim, 3000))
		options.wait_us = 0;
	return engine_on_batch(sim->at_work->engine, name, &options, fired_batch, NULL);
}

static void set_handler(struct sim *sim, uint32_t topic, bool on)
{
	const char *name = topic == TOPIC_COUNT ? "*" : topics[topic];
	bool batched = on && topic < TOPIC_COUNT && chance(sim, 4000);
	int status = batched ? register_batch(sim, name)
			     : engine_on(sim->at_work->engine, name, on ? fired : NULL, NULL);

	trace(sim, batched ? "on batch" : "on", name, on, status);
	if (status != DW_OK)
		return;
	*(topic == TOPIC_COUNT ? &sim->at_work->handled_any : &sim->at_work->handled[topic]) = on;
	if (topic < TOPIC_COUNT)
		sim->at_work->batched[topic] = batched;
	order_forget(sim); /* timers without a handler were given back */
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		if (i == topic || topic == TOPIC_COUNT)
			sim->at_work->handled_at[i] = sim->clocks.steady;
}

void program_register_all(struct sim *sim)
{
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		if (!sim->at_work->handled[i])
			set_handler(sim, i, true);
}

void program_begin(struct sim *sim)
{
	memset(sim->at_work->handled, 0, sizeof sim->at_work->handled);
	memset(sim->at_work->batched, 0, sizeof sim->at_work->batched);
	sim->at_work->handled_any = false;
	for (uint32_t i = 0; i < TOPIC_COUNT; i++)
		if (sim->faults.over || chance(sim, 8500))
			set_handler(sim, i, true);
}

void program_pass(struct sim *sim)
{
	if (sim->program.actions_left > 0)
		sim->program.actions_left--;
}

void program_act(struct sim *sim)
{
	uint64_t dice = draw(sim, 1000);

	program_pass(sim);
	if (sim->at_work->closing)
		return;
	sim->program.in_call = true;
	if (dice < 500)
		put(sim);
	else if (dice < 630)
		cancel(sim);
	else if (dice < 760)
		move(sim);
	else if (dice < 800)
		revive(sim);
	else if (dice < 880)
		settle(sim);
	else if (dice < 900)
		start(sim);
	else if (dice < 950)
		look(sim);
	else if (dice < 990)
		set_handler(sim, (uint32_t)draw(sim, TOPIC_COUNT), chance(sim, 8000));
	else if (dice < 993)
		purge(sim);
	else
		set_handler(sim, TOPIC_COUNT, chance(sim, 3000));
	sim->program.in_call = false;
}
