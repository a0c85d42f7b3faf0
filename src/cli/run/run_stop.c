#include "cli/run/run_stop.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/run/run_core.h"
#include "durawheel/members.h"
#include "cli/session.h"
#include "cli/run/supervisor.h"
#include "cli/out/text.h"

#define PATIENCE_DEFAULT DW_SECONDS(10)
#define PATIENCE_MAX DW_MINUTES(10)
/* How long run waits for commands after SIGKILL. */
#define KILL_PATIENCE DW_SECONDS(1)
/* A second signal ends the commands at once. But a terminal, timeout(1) or a supervisor may send
 * the same signal both to us and to our process group. We then get a second copy a moment later. So
 * a signal does not count if it follows the first within this time. */
#define SAME_SIGNAL DW_MILLISECONDS(200)

int run_stop_read(const struct options *options, dw_usec *ret_patience)
{
	int code;

	*ret_patience = PATIENCE_DEFAULT;
	if (!options->value[OPT_STOP_PATIENCE])
		return EXIT_DONE;
	code = options_duration(options, OPT_STOP_PATIENCE, ret_patience);
	if (code == EXIT_DONE && *ret_patience > PATIENCE_MAX)
		code = complain(EXIT_USAGE, "--stop-patience %s: write at most 10m",
				options->value[OPT_STOP_PATIENCE]);
	return code;
}

/* remove_handlers makes the claimed timers return to the store. It cannot fail. */
static void remove_handlers(struct runner *runner)
{
	for (size_t i = 0; i < runner->recipes.other_count; i++)
		(void)dw_on(runner->d, runner->recipes.others[i].topic, NULL, NULL);
	for (size_t i = 0; i < runner->recipes.count; i++) {
		(void)dw_on(runner->d, runner->recipes.all[i]->topic, NULL, NULL);
		runner->recipes.all[i]->has_handler = false;
	}
}

void run_stop(struct runner *runner, int code)
{
	char patience[TEXT_SPAN_SIZE];

	if (runner->stop)
		return;
	runner->stop = true;
	runner->code = code;
	runner->stopped = session_steady();
	runner->patient_until = runner->stopped + runner->stop_patience;
	service_stopping(&runner->service,
			 runner->stop_patience + 2 * SUPERVISOR_GRACE + SESSION_PATIENCE);
	remove_handlers(runner);
	(void)dw_leave(runner->d); /* an owner refuses, and keeps its shards */
	text_span(runner->stop_patience, 2, patience);
	if (runner->jobs.count > 0)
		(void)complain(EXIT_DONE, "stopping: waiting for %zu running, at most %s",
			       runner->jobs.count, patience);
}

void run_stop_for_stdout(struct runner *runner, int error)
{
	runner->mute = true;
	if (!runner->stop)
		run_stop(runner,
			 complain(EXIT_FAILED, "cannot write to stdout: %s", strerror(error)));
}

/* hurry ends the commands that still run. The second call gives up waiting for them. */
static void hurry(struct runner *runner)
{
	runner->over = runner->hurried;
	runner->hurried = true;
	if (!runner->over && runner->jobs.count > 0)
		warn("ending %zu running: they are delivered again", runner->jobs.count);
	jobs_stop(&runner->jobs);
	runner->patient_until = session_steady() + SUPERVISOR_GRACE + KILL_PATIENCE;
}

/* is_another returns true if this is a second signal and not a copy of the first. `run` may have
 * stopped for another reason, for example because the reader of stdout has ended. Ctrl-C ends the
 * reader and signals us, so the signal may arrive after that. */
static bool is_another(const struct runner *runner, uint32_t signal)
{
	return (runner->signal != 0 && runner->signal != signal) ||
	       session_steady() - runner->stopped >= SAME_SIGNAL;
}

void run_stop_for_signal(struct runner *runner, uint32_t signal)
{
	if (!runner->stop) {
		runner->signal = signal;
		run_stop(runner, EXIT_DONE);
	} else if (!runner->hurried && is_another(runner, signal)) {
		hurry(runner);
	}
}

void run_stop_watch(struct runner *runner)
{
	if (runner->stop && session_steady() >= runner->patient_until)
		hurry(runner);
}

bool run_stop_is_over(const struct runner *runner)
{
	return runner->stop && (runner->jobs.count == 0 || runner->over);
}
