/* Delivers timers to lines on stdout or to commands.
 *
 * With one command for all topics there is no backlog. While the largest number of commands runs,
 * the library is paused, which keeps the order.
 *
 * With a file each topic has its own jobs, and a backlog for deliveries that wait for one of them.
 * So a slow topic does not delay the others. If a backlog becomes too long, the handler of its
 * topic is removed for a while. Further timers of the topic then wait in the store. */
#include "cli/run/run_fire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/run/run_core.h"
#include "cli/run/run_exec.h"
#include "cli/run/run_stop.h"
#include "cli/session.h"
#include "durawheel/metrics.h"

/* The limits for the data in the backlog of one topic, and in all backlogs together. */
enum { TOPIC_BYTES_MAX = 4 * 1024 * 1024, BYTES_MAX = 32 * 1024 * 1024 };

static size_t batch_size(const struct runner *runner)
{
	size_t size = 1;

	for (size_t i = 0; i < runner->recipes.count; i++)
		if (runner->recipes.all[i]->batch.max > size)
			size = runner->recipes.all[i]->batch.max;
	return size;
}

/* held returns the number of deliveries without a verdict. *ret_bytes is the size of the data in
 * backlogs. */
static size_t held(const struct runner *runner, size_t *ret_bytes)
{
	return runner->outbox.count + runner->jobs.held +
	       recipes_waiting(&runner->recipes, ret_bytes);
}

/* regulate pauses deliveries while no more lines or commands can be accepted, and resumes them
 * later. */
static void regulate(struct runner *runner)
{
	size_t bytes;
	bool full = outbox_is_full(&runner->outbox) ||
		    held(runner, &bytes) + batch_size(runner) > DW_HOLDS_MAX || bytes > BYTES_MAX ||
		    (!runner->recipes.of_file && runner->way.words &&
		     !jobs_may_start(&runner->jobs, &runner->way));

	if (full == runner->paused)
		return;
	runner->paused = full;
	(void)(full ? dw_pause(runner->d)
		    : dw_resume(runner->d)); /* cannot fail on our own handle */
}

void run_fire_settle(const dw_token *token, dw_verdict verdict, void *user)
{
	struct runner *runner = user;
	int status = dw_settle(runner->d, token, verdict, -1, NULL, NULL);

	if (status != DW_OK)
		warn("%s is delivered and not settled: %s", token->id, why(runner->d, status));
}

void run_fire_drain(struct runner *runner)
{
	if (outbox_drain(&runner->outbox, run_fire_settle, runner) == OUTBOX_FAILED)
		run_stop_for_stdout(runner, errno);
}

/* ---- A timer is due ------------------------------------------------------------------------ */

static dw_verdict print(struct runner *runner, const dw_firing *firing)
{
	if (!line_of_firing(&runner->line, firing)) {
		run_stop(runner, complain(EXIT_FAILED, "out of memory"));
		return DW_HOLD;
	}
	switch (outbox_put(&runner->outbox, firing->token, DW_DONE, &runner->line, false)) {
	case OUTBOX_WRITTEN:
		return DW_DONE;
	case OUTBOX_WAITING:
		return DW_HOLD;
	default:
		run_stop_for_stdout(runner, errno);
		return DW_HOLD; /* closing the handle returns the timer to the store */
	}
}

/* execute starts the command. It returns DW_HOLD_UNSTARTED if the machine has no room for a command
 * now: that is no fault of the timers, so they wait and use up no retry. */
static dw_verdict execute(struct runner *runner, struct job_way *way, const dw_firing *firings,
			  size_t count, bool is_batch)
{
	int error = run_exec_start(&runner->jobs, way, firings, count, is_batch);
	char text[EXEC_WHY_SIZE];

	if (error == 0)
		return DW_HOLD;
	(void)snprintf(text, sizeof text, "cannot start the command: %s", strerror(error));
	warn("%s: %s; it is tried again later", is_batch ? firings->topic : firings->id, text);
	if (jobs_await_room(&runner->jobs, error))
		return DW_HOLD_UNSTARTED;
	for (size_t i = 0; i < count; i++)
		(void)dw_set_why(runner->d, firings[i].token, text); /* fails if it has ended */
	return DW_RETRY;
}

/* judge decides whether a topic is full. The backlog of a topic may have half of the deliveries
 * that can still be held. A full topic becomes open again only when its backlog is below half of
 * that limit. This margin matters, because the claimed timers of a full topic return to the
 * store. */
static void judge(const struct runner *runner, struct recipe *recipe)
{
	size_t bytes, used = held(runner, &bytes) + batch_size(runner);
	size_t share = used < DW_HOLDS_MAX ? (DW_HOLDS_MAX - used) / 2 : 0;
	size_t bytes_max = TOPIC_BYTES_MAX;

	if (recipe->is_full) {
		share /= 2;
		bytes_max /= 2;
	}
	recipe->is_full = recipe->backlog.count > share || recipe->backlog.bytes > bytes_max;
}

static int handle_all(struct runner *, bool tells);

/* execute_later starts the command, or appends the deliveries to the backlog. If the backlog is not
 * empty, it always appends them, to keep the order. */
static dw_verdict execute_later(struct runner *runner, struct recipe *recipe,
				const dw_firing *firings, size_t count, bool is_batch)
{
	dw_verdict verdict = DW_HOLD_UNSTARTED;

	if (!recipe->backlog.first && jobs_may_start(&runner->jobs, recipe->way))
		verdict = execute(runner, recipe->way, firings, count, is_batch);
	if (verdict != DW_HOLD_UNSTARTED)
		return verdict;
	if (!backlog_put(&recipe->backlog, firings, count, is_batch)) {
		warn("%s: out of memory; it is tried again later", firings->id);
		return DW_RETRY;
	}
	judge(runner, recipe);
	if (runner->recipes.of_file && recipe->is_full)
		(void)handle_all(runner, false);
	return DW_HOLD_UNSTARTED;
}

static dw_verdict run_fires(dw *d, const dw_firing *firing, void *user)
{
	struct runner *runner = user;
	struct recipe *recipe = recipes_for(&runner->recipes, firing->topic);
	dw_verdict verdict;

	(void)d;
	if (runner->recipes.of_file && strcmp(recipe->topic, "*") == 0)
		recipes_note_other(&runner->recipes, firing->topic);
	progress_clear(&runner->loading); /* stdout may be the same terminal */
	verdict = recipe->way->words ? execute_later(runner, recipe, firing, 1, false)
				     : print(runner, firing);
	regulate(runner);
	return verdict;
}

static void run_fires_batch(dw *d, dw_batch *batch, void *user)
{
	struct runner *runner = user;
	struct recipe *recipe = recipes_for(&runner->recipes, batch->topic);
	bool executes = recipe->way->words != NULL;
	dw_verdict verdict = DW_HOLD;

	(void)d;
	progress_clear(&runner->loading);
	if (executes)
		verdict = execute_later(runner, recipe, batch->firings, batch->count, true);
	for (size_t i = 0; i < batch->count; i++)
		batch->verdicts[i] =
		    executes || runner->stop ? verdict : print(runner, &batch->firings[i]);
	regulate(runner);
}

/* ---- A command has ended ------------------------------------------------------------------- */

/* item_over writes the line of a timer whose command has ended, and settles the timer. */
static void item_over(struct runner *runner, struct job_item *item, int exit, dw_verdict verdict)
{
	enum outbox_state state = OUTBOX_FAILED;

	if (!line_add_exit(&item->line, exit))
		errno = ENOMEM;
	else if (!runner->mute)
		state = outbox_put(&runner->outbox, &item->token, verdict, &item->line, true);
	if (state == OUTBOX_FAILED)
		run_stop_for_stdout(runner, errno);
	if (state != OUTBOX_WAITING)
		run_fire_settle(&item->token, verdict, runner);
}

/* run_fire_over does not settle timers whose command we have stopped. They return to the store when
 * the handle is closed. */
void run_fire_over(struct exec_job *job, void *user)
{
	struct runner *runner = user;
	dw_verdict verdict = run_exec_verdict(job);

	if (job->end == JOB_STOPPED)
		return;
	run_exec_tell(job);
	if (verdict != DW_DONE)
		run_exec_say(job, runner->d);
	for (size_t i = 0; i < job->count; i++)
		item_over(runner, &job->items[i],
			  job->end == JOB_OVERDUE ? JOB_OVERDUE_EXIT : job->status, verdict);
}

/* ---- What waits ---------------------------------------------------------------------------- */

/* begin tells the library that these deliveries start only now. It drops deliveries that may not
 * start any more, because the timer has ended or the lease is over. */
static void begin(struct runner *runner, struct backlog_entry *entry)
{
	dw_usec now = session_now();
	size_t count = 0;

	for (size_t i = 0; i < entry->count; i++) {
		dw_firing *firing = &entry->firings[i];

		if (dw_start(runner->d, firing->token) == DW_OK) {
			firing->now = now;
			entry->firings[count++] = *firing;
		} else {
			run_fire_settle(firing->token, DW_RETRY, runner);
		}
	}
	entry->count = count;
}

/* deliver starts an entry of a backlog now. The recipe may have changed since the entry began to
 * wait. Returns false if the machine has no room for the command, so that the entry waits on. */
static bool deliver(struct runner *runner, struct recipe *recipe, struct backlog_entry *entry)
{
	dw_verdict verdict = DW_HOLD;

	if (recipe->is_served && !entry->is_begun)
		begin(runner, entry);
	entry->is_begun = true;
	if (!recipe->is_served)
		verdict = DW_RETRY;
	else if (recipe->way->words && entry->count > 0)
		verdict =
		    execute(runner, recipe->way, entry->firings, entry->count, entry->is_batch);
	if (verdict == DW_HOLD_UNSTARTED)
		return false;
	for (size_t i = 0; i < entry->count; i++) {
		dw_verdict own = verdict;

		if (recipe->is_served && !recipe->way->words && !runner->stop)
			own = print(runner, &entry->firings[i]);
		if (own != DW_HOLD)
			run_fire_settle(entry->firings[i].token, own, runner);
	}
	return true;
}

static void start_waiting(struct runner *runner, struct recipe *recipe)
{
	while (recipe->backlog.first && !runner->stop &&
	       (jobs_may_start(&runner->jobs, recipe->way) || !recipe->is_served)) {
		struct backlog_entry *entry = backlog_take(&recipe->backlog);

		if (deliver(runner, recipe, entry))
			free(entry);
		else
			backlog_put_back(&recipe->backlog, entry);
	}
}

/* is_of_each returns true for a recipe that gathers batches for all topics. A batch contains only
 * one topic, so each topic gets its own handler when its first timer is due. */
static bool is_of_each(const struct recipe *recipe)
{
	return recipe->batch.max > 0 && strcmp(recipe->topic, "*") == 0;
}

/* handle_one registers or removes the handler of one recipe. Returns the status of dw_on(). */
static int handle_one(struct runner *runner, struct recipe *recipe, bool wanted)
{
	int status;

	if (is_of_each(recipe) ||
	    (recipe->has_handler == wanted && !(wanted && recipe->is_changed)))
		return DW_OK;
	if (wanted && recipe->batch.max > 0)
		status =
		    dw_on_batch(runner->d, recipe->topic, &recipe->batch, run_fires_batch, runner);
	else
		status = dw_on(runner->d, recipe->topic, wanted ? run_fires : NULL, runner);
	if (status != DW_OK)
		return status;
	recipe->has_handler = wanted;
	recipe->is_changed = false;
	return DW_OK;
}

static bool has_full_topic(const struct recipes *recipes)
{
	for (size_t i = 0; i < recipes->count; i++)
		if (recipes->all[i]->is_full && recipes->all[i]->is_served &&
		    strcmp(recipes->all[i]->topic, "*") != 0)
			return true;
	return false;
}

/* handle_others gives each topic of "*" its own handler while another topic is full. The handler of
 * "*" must be removed then, because it would get the timers of the full topic. */
static void handle_others(struct runner *runner, bool wanted)
{
	for (size_t i = 0; i < runner->recipes.other_count; i++) {
		struct other_topic *other = &runner->recipes.others[i];
		const struct recipe *own = recipes_find(&runner->recipes, other->topic);
		bool is_own = own && own->is_served;

		if (!is_own && other->has_handler != wanted)
			(void)dw_on(runner->d, other->topic, wanted ? run_fires : NULL,
				    runner); /* if out of memory, the topic waits */
		other->has_handler = wanted && !is_own;
	}
}

/* handle_all registers or removes all handlers. Returns EXIT_DONE, or the exit code of the last
 * failure. It complains only if `tells`. */
static int handle_all(struct runner *runner, bool tells)
{
	const char *option = runner->recipes.of_file ? "topic" : "--topic";
	bool has_full = has_full_topic(&runner->recipes);
	int code = EXIT_DONE;

	if (has_full) {
		const struct recipe *any = recipes_find(&runner->recipes, "*");

		handle_others(runner, any && any->is_served && !any->is_full);
	}
	for (size_t i = 0; i < runner->recipes.count; i++) {
		struct recipe *recipe = runner->recipes.all[i];
		bool wanted = recipe->is_served && !recipe->is_full &&
			      !(has_full && strcmp(recipe->topic, "*") == 0);
		int status = handle_one(runner, recipe, wanted);

		if (status != DW_OK && tells)
			code = complain(exit_of(status), "%s %.300s: %s", option, recipe->topic,
					why(runner->d, status));
	}
	if (!has_full)
		handle_others(runner, false);
	return code;
}

int run_fire_handle(struct runner *runner)
{
	return handle_all(runner, true);
}

bool run_fire_knows(struct runner *runner, const char *topic)
{
	struct recipe *recipe = recipes_for(&runner->recipes, topic);

	if (recipe && is_of_each(recipe) && !runner->stop) {
		recipe = recipes_copy(&runner->recipes, recipe, topic);
		return recipe && handle_one(runner, recipe, true) == DW_OK;
	}
	if (!runner->recipes.of_file || !recipe)
		return false;
	if (strcmp(recipe->topic, "*") == 0)
		recipes_note_other(&runner->recipes, topic);
	return true;
}

void run_fire_next(struct runner *runner)
{
	for (size_t i = 0; i < runner->recipes.count; i++) {
		start_waiting(runner, runner->recipes.all[i]);
		if (runner->recipes.of_file)
			judge(runner, runner->recipes.all[i]);
	}
	if (runner->recipes.of_file && !runner->stop)
		(void)handle_all(runner, false);
	regulate(runner);
}
