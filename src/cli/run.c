/* durawheel run: owns the store. For each due timer it writes a line or runs a command.
 *
 * Without --exec a timer is settled once its line is written. Lines that stdout does not take at
 * once wait in the outbox, and their deliveries are held. With --exec a delivery is held while its
 * command runs. Then the line is written, which says how the command ended, and the timer is
 * settled or retried.
 *
 * If there is no room for another line or command, the library is paused. So the order is kept, and
 * a reader that stops for an hour costs an hour. (A retry would count against the timer and change
 * the order.)
 *
 * If stdout fails, the handlers are removed at once, so that claimed timers return to the store. A
 * timer whose command has run is settled even if its line was not written.
 *
 * Holds have no time-out: we notice the end of every command, and have time-outs of our own. */
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/errors.h"
#include "cli/http.h"
#include "cli/jobs.h"
#include "cli/line.h"
#include "cli/outage.h"
#include "cli/outbox.h"
#include "cli/run_batch.h"
#include "cli/run_exec.h"
#include "cli/run_idle.h"
#include "cli/run_loading.h"
#include "cli/service.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/supervisor.h"

enum { TORN_PATIENCE_MS = 1000, IDLE_AGAIN_MS = 20 };

/* STOP_PATIENCE: how long a stopping run waits for its commands before it ends them. KILL_PATIENCE:
 * how long it waits after SIGKILL. */
#define STOP_PATIENCE DW_SECONDS(10)
#define KILL_PATIENCE DW_SECONDS(1)
/* A second signal ends the commands at once. But a terminal, timeout(1) or a supervisor may send
 * one signal both to us and to our group: the second copy arrives a moment later. A signal so soon
 * after the first therefore does not count. */
#define SAME_SIGNAL DW_MILLISECONDS(200)

struct runner {
	dw *d;
	struct run_idle idle;
	bool until_idle;
	struct outbox outbox;
	struct jobs jobs;       /* used with --exec */
	dw_batch_options batch; /* max 0: without --batch */
	struct line line;
	struct outage outage;
	struct progress loading; /* shown on a terminal until every timer is loaded */
	struct http *http;       /* of --http, or NULL */
	struct service service;
	int signal_fd;
	bool paused;
	bool mute;   /* stdout has failed */
	bool loaded; /* "running" was printed; later loads are printed only if they find timers */
	bool stop;
	bool hurried;    /* the commands were told to end */
	bool over;       /* no command is waited for any longer */
	dw_usec stopped; /* steady: when stop was set */
	uint32_t signal; /* the signal that stopped us; 0: none */
	dw_usec patient_until;
	int code;
};

static dw_verdict run_fires(dw *, const dw_firing *, void *user);
static void run_fires_batch(dw *, dw_batch *, void *user);

static int handle_topic(struct runner *runner, const char *topic, bool fires)
{
	if (fires && runner->batch.max > 0)
		return dw_on_batch(runner->d, topic, &runner->batch, run_fires_batch, runner);
	return dw_on(runner->d, topic, fires ? run_fires : NULL, runner);
}

/* handle registers the handler of every topic, or removes it. */
static int handle(struct runner *runner, bool fires)
{
	for (size_t i = 0; i < runner->idle.topic_count; i++) {
		int status = handle_topic(runner, runner->idle.topics[i], fires);

		if (status != DW_OK)
			return complain(exit_of(status), "--topic %.300s: %s",
					runner->idle.topics[i], why(runner->d, status));
	}
	return EXIT_DONE;
}

/* stop ends the run. Timers that were not delivered go back to the store. */
static void stop(struct runner *runner, int code)
{
	if (runner->stop)
		return;
	runner->stop = true;
	runner->code = code;
	runner->stopped = session_steady();
	runner->patient_until = runner->stopped + STOP_PATIENCE;
	service_stopping(&runner->service, STOP_PATIENCE + 2 * SUPERVISOR_GRACE + SESSION_PATIENCE);
	(void)handle(runner, false); /* removing handlers cannot fail */
	if (runner->jobs.count > 0)
		(void)complain(code, "stopping: waiting for %zu running, at most %d s",
			       runner->jobs.count, (int)(STOP_PATIENCE / DW_SECONDS(1)));
}

static void stop_for_stdout(struct runner *runner, int error)
{
	runner->mute = true;
	if (!runner->stop)
		stop(runner, complain(EXIT_FAILED, "cannot write to stdout: %s", strerror(error)));
}

/* hurry ends the commands that still run. The second call gives up waiting for their end. */
static void hurry(struct runner *runner)
{
	runner->over = runner->hurried;
	runner->hurried = true;
	if (!runner->over)
		(void)complain(EXIT_FAILED, "ending %zu running: they are delivered again",
			       runner->jobs.count);
	jobs_stop(&runner->jobs);
	runner->patient_until = session_steady() + SUPERVISOR_GRACE + KILL_PATIENCE;
}

/* regulate pauses firing while there is no room for more lines or commands, and resumes it
 * after. */
static void regulate(struct runner *runner)
{
	bool executes = runner->jobs.command != NULL;
	size_t next = runner->batch.max > 0 ? runner->batch.max : 1;
	bool full = outbox_is_full(&runner->outbox) ||
		    runner->outbox.count + runner->jobs.held + next > DW_HOLDS_MAX ||
		    (executes && runner->jobs.count >= runner->jobs.max);

	if (full == runner->paused)
		return;
	runner->paused = full;
	(void)(full ? dw_pause(runner->d)
		    : dw_resume(runner->d)); /* cannot fail on our own handle */
}

static void settle(const dw_token *token, dw_verdict verdict, void *user)
{
	struct runner *runner = user;
	int status = dw_settle(runner->d, token, verdict, -1, NULL, NULL);

	if (status != DW_OK)
		(void)complain(EXIT_FAILED, "%s is delivered and not settled: %s", token->id,
			       why(runner->d, status));
}

static void drain(struct runner *runner)
{
	if (outbox_drain(&runner->outbox, settle, runner) == OUTBOX_FAILED)
		stop_for_stdout(runner, errno);
}

/* ---- Firing ------------------------------------------------------------------------------ */

static dw_verdict print(struct runner *runner, const dw_firing *firing)
{
	if (!line_of_firing(&runner->line, firing)) {
		stop(runner, complain(EXIT_FAILED, "out of memory"));
		return DW_HOLD;
	}
	switch (outbox_put(&runner->outbox, firing->token, DW_DONE, &runner->line)) {
	case OUTBOX_WRITTEN:
		return DW_DONE;
	case OUTBOX_WAITING:
		return DW_HOLD;
	default:
		stop_for_stdout(runner, errno);
		return DW_HOLD; /* never settled: closing gives it back */
	}
}

static dw_verdict execute(struct runner *runner, const dw_firing *firings, size_t count)
{
	bool is_batch = runner->batch.max > 0;
	int error = run_exec_start(&runner->jobs, firings, count, is_batch);

	if (error == 0)
		return DW_HOLD;
	(void)complain(EXIT_FAILED, "%s: cannot start the command: %s; it is tried again later",
		       is_batch ? firings->topic : firings->id, strerror(error));
	return DW_RETRY;
}

static dw_verdict run_fires(dw *d, const dw_firing *firing, void *user)
{
	struct runner *runner = user;
	dw_verdict verdict;

	(void)d;
	progress_clear(&runner->loading); /* stdout may be on the same terminal */
	verdict = runner->jobs.command ? execute(runner, firing, 1) : print(runner, firing);
	regulate(runner);
	return verdict;
}

static void run_fires_batch(dw *d, dw_batch *batch, void *user)
{
	struct runner *runner = user;
	bool executes = runner->jobs.command != NULL;
	dw_verdict verdict = DW_HOLD;

	(void)d;
	progress_clear(&runner->loading);
	if (executes)
		verdict = execute(runner, batch->firings, batch->count);
	for (size_t i = 0; i < batch->count; i++)
		batch->verdicts[i] =
		    executes || runner->stop ? verdict : print(runner, &batch->firings[i]);
	regulate(runner);
}

/* item_over writes the line of a timer whose command has ended, and settles the timer. */
static void item_over(struct runner *runner, struct job_item *item, int exit, dw_verdict verdict)
{
	enum outbox_state state = OUTBOX_FAILED;

	if (!line_add_exit(&item->line, exit))
		errno = ENOMEM;
	else if (!runner->mute)
		state = outbox_put(&runner->outbox, &item->token, verdict, &item->line);
	if (state == OUTBOX_FAILED)
		stop_for_stdout(runner, errno);
	if (state != OUTBOX_WAITING)
		settle(&item->token, verdict, runner);
}

/* job_over: timers whose command we have stopped are given back when the handle is closed. */
static void job_over(struct exec_job *job, void *user)
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

/* ---- Loading and losing ------------------------------------------------------------------ */

static void run_event(dw *d, const dw_event *event, void *user)
{
	struct runner *runner = user;

	progress_clear(&runner->loading);
	switch (event->kind) {
	case DW_EVENT_RECOVERED:
		run_loading_end(&runner->loading);
		if (!runner->loaded || event->count > 0)
			(void)complain(EXIT_DONE, "running, %" PRIu64 " timers loaded",
				       event->count);
		runner->loaded = true;
		return;
	case DW_EVENT_OWNER:
		runner->loaded = false;
		(void)complain(EXIT_DONE, "%s", event->message);
		run_loading_begin(&runner->loading, d);
		return;
	case DW_EVENT_OWNER_LOST:
		run_loading_end(&runner->loading);
		(void)complain(EXIT_FAILED, "%s: standing by", event->message);
		return;
	default:
		if (!outage_is_logged(&runner->outage, event))
			(void)complain(EXIT_FAILED, "%s", event->message);
	}
}

/* is_over: were we told to stop, and do we wait for no more commands? */
static bool is_over(const struct runner *runner)
{
	return runner->stop && (runner->jobs.count == 0 || runner->over);
}

/* ---- The loop ---------------------------------------------------------------------------- */

/* wait_ms: the time-out for poll(), rounded up so that it does not wake too early. */
static int wait_ms(const struct runner *runner)
{
	dw_usec wake = jobs_wake(&runner->jobs);
	dw_usec told = service_wake(&runner->service);
	dw_usec left;

	wake = told < wake ? told : wake;
	if (runner->stop && runner->patient_until < wake)
		wake = runner->patient_until;
	if (runner->until_idle && run_idle_is_quiet(&runner->idle, runner->d))
		return IDLE_AGAIN_MS;
	if (wake == DW_NEVER)
		return -1;
	left = (wake - session_steady() + 999) / 1000;
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* is_another: is this a second signal, and not a copy of the first? The run may also have stopped
 * for another reason, for example because the reader of stdout has ended. Ctrl-C may cause both,
 * with the signal after the reader's end. */
static bool is_another(const struct runner *runner, uint32_t signal)
{
	return (runner->signal != 0 && runner->signal != signal) ||
	       session_steady() - runner->stopped >= SAME_SIGNAL;
}

static void stop_for_signal(struct runner *runner, uint32_t signal)
{
	if (!runner->stop) {
		runner->signal = signal;
		stop(runner, EXIT_DONE);
	} else if (!runner->hurried && is_another(runner, signal)) {
		hurry(runner);
	}
}

static void take_signals(struct runner *runner)
{
	struct signalfd_siginfo signal;

	while (read(runner->signal_fd, &signal, sizeof signal) == (ssize_t)sizeof signal) {
		if (signal.ssi_signo == SIGCHLD)
			jobs_reap(&runner->jobs);
		else
			stop_for_signal(runner, signal.ssi_signo);
	}
}

/* watch does the work that depends on time. */
static void watch(struct runner *runner)
{
	jobs_tick(&runner->jobs);
	service_pass(&runner->service, runner->d);
	if (runner->stop && session_steady() >= runner->patient_until)
		hurry(runner);
}

/* step waits for events and handles them. */
static void step(struct runner *runner)
{
	bool writes = runner->outbox.first && !runner->mute;
	struct pollfd fds[] = {
	    {.fd = runner->signal_fd, .events = POLLIN},
	    {.fd = runner->mute ? -1 : runner->outbox.sink.fd, .events = writes ? POLLOUT : 0},
	    {.fd = dw_fd(runner->d), .events = POLLIN},
	    {.fd = runner->http ? http_fd(runner->http) : -1, .events = POLLIN},
	};

	/* poll() refuses a list that is longer than the limit of open files. */
	if (poll(fds, runner->http ? 4 : 3, wait_ms(runner)) < 0 && errno != EINTR) {
		runner->over = true;
		stop(runner, complain(EXIT_FAILED, "cannot wait: %s", strerror(errno)));
		return;
	}
	if (fds[0].revents)
		take_signals(runner);
	if (fds[1].revents & POLLOUT)
		drain(runner);
	else if (fds[1].revents)
		stop_for_stdout(runner, EPIPE);
	watch(runner);
	regulate(runner);
	run_loading_show(&runner->loading, runner->d);
	if (fds[2].revents && !is_over(runner))
		(void)dw_turn(runner->d); /* dw_turn() fails only inside a callback */
	if (fds[3].revents)
		http_turn(runner->http);
}

/* finish_torn writes the rest of a partly written line, so that the next program on the same stdout
 * begins on a new line. The lines after it are not written. */
static void finish_torn(struct runner *runner)
{
	struct pollfd writable = {.fd = runner->outbox.sink.fd, .events = POLLOUT};

	while (runner->outbox.first && runner->code == EXIT_DONE) {
		if (poll(&writable, 1, TORN_PATIENCE_MS) == 0) {
			runner->code = complain(EXIT_FAILED, "a line on stdout is cut: its reader "
							     "does not read");
			return;
		}
		if (outbox_drain(&runner->outbox, settle, runner) == OUTBOX_FAILED)
			runner->code =
			    complain(EXIT_FAILED, "a line on stdout is cut: %s", strerror(errno));
	}
}

static int run(struct runner *runner, bool owns)
{
	/* A timer whose command has run is settled even if its line was not written. */
	outbox_settle_fn unwritten = runner->jobs.command ? settle : NULL;
	int code = handle(runner, true);

	if (code != EXIT_DONE)
		return code;
	if (owns)
		run_loading_begin(&runner->loading, runner->d);
	(void)dw_turn(runner->d); /* the first turn arms the descriptor */
	while (!is_over(runner) &&
	       !(runner->until_idle && run_idle_is_idle(&runner->idle, runner->d)))
		step(runner);
	if (runner->until_idle)
		run_idle_tell_damaged(runner->d);
	run_loading_end(&runner->loading);
	outbox_cut(&runner->outbox, unwritten, runner);
	finish_torn(runner);
	outbox_drop(&runner->outbox, unwritten, runner);
	return runner->code;
}

/* ---- Beginning --------------------------------------------------------------------------- */

static int open_jobs(struct runner *runner)
{
	int error;

	if (!runner->jobs.command)
		return EXIT_DONE;
	runner->jobs.over = job_over;
	runner->jobs.user = runner;
	error = jobs_open(&runner->jobs);
	return error == 0 ? EXIT_DONE
			  : complain(EXIT_FAILED, "cannot run commands: %s", strerror(error));
}

int command_run(const struct options *options)
{
	static const char *const every = "*";
	struct runner runner = {
	    .idle = {.topics = options->topic_count ? options->topics : &every,
		     .topic_count = options->topic_count ? options->topic_count : 1},
	    .until_idle = options->value[OPT_UNTIL_IDLE] != NULL,
	};
	dw_options base = {
	    .role = options->value[OPT_STANDBY] ? DW_STANDBY : DW_OWNER,
	    .hold_us = DW_NEVER,
	    .on_event = run_event,
	    .on_event_user = &runner,
	    .on_log = outage_log_line,
	    .on_log_user = &runner.outage,
	};
	int code = run_exec_read(options, &runner.jobs);

	if (code == EXIT_DONE)
		code = run_batch_read(options, &runner.batch);
	if (code == EXIT_DONE)
		code = outage_read(options, &base);
	if (code != EXIT_DONE)
		return code;
	outage_init(&runner.outage);
	service_open(&runner.service);
	runner.signal_fd = signals_open(SIGCHLD);
	if (runner.signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	code = open_jobs(&runner);
	if (code == EXIT_DONE)
		code = session_open(options, base, &runner.d);
	if (code == EXIT_DONE && base.role == DW_STANDBY)
		(void)complain(code, "standing by");
	if (code == EXIT_DONE) {
		outbox_open(&runner.outbox);
		if (options->value[OPT_HTTP])
			code = http_open(&runner.http, options, runner.d);
		if (code == EXIT_DONE)
			code = run(&runner, base.role == DW_OWNER);
		http_close(runner.http);
		code = session_close(runner.d, code);
		outbox_close(&runner.outbox);
		line_free(&runner.line);
	}
	jobs_close(&runner.jobs);
	service_close(&runner.service);
	(void)close(runner.signal_fd); /* no writes can be lost */
	return code;
}
