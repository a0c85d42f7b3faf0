/* durawheel run: owns the store. For each due timer it writes a line or runs a command.
 *
 * Without --exec a timer is settled as soon as its line is written. If stdout does not accept a
 * line at once, the line waits in the outbox and its delivery is held.
 *
 * With --exec a delivery is held while its command runs. After that, run writes a line that says
 * how the command ended, and settles the timer or requests a retry.
 *
 * With --config each topic has its own command, or lines.
 *
 * If no further line or command can be accepted, run pauses the library. This keeps the order, and
 * a reader that stops for an hour delays timers by an hour. A retry would be no solution: it would
 * count against the timer and change the order.
 *
 * If stdout fails, run removes the handlers at once, so that claimed timers return to the store. A
 * timer whose command has run is settled even if its line was not written.
 *
 * Held deliveries need no time limit of the library, because run notices the end of every command
 * and has its own time limit. */
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/run/config_check.h"
#include "cli/out/errors.h"
#include "cli/run/log.h"
#include "cli/opening.h"
#include "cli/run/run_batch.h"
#include "cli/run/run_core.h"
#include "cli/run/run_exec.h"
#include "cli/run/run_fire.h"
#include "cli/run/run_loading.h"
#include "cli/run/run_reload.h"
#include "cli/run/run_stop.h"
#include "cli/session.h"
#include "cli/run/signals.h"
#include "durawheel/members.h"
#include "durawheel/metrics.h"

enum { TORN_PATIENCE_MS = 1000, IDLE_AGAIN_MS = 20 };

/* How long the owner of a store with several servers runs before the web server opens its handles:
 * at least BEGIN_LEAST, and at most BEGIN_FOR. */
#define BEGIN_LEAST DW_MILLISECONDS(50)
#define BEGIN_FOR DW_MILLISECONDS(300)

/* ---- Loading and losing ------------------------------------------------------------------ */

/* may_repeat returns true for events that may repeat with the same text. All other events are
 * always logged. Otherwise the last line in the log could say that the store is back when it is
 * not. */
static bool may_repeat(dw_event_kind kind)
{
	return kind == DW_EVENT_LIMIT || kind == DW_EVENT_QUEUE_FULL || kind == DW_EVENT_NO_HANDLER;
}

static void tell_event(struct runner *runner, const dw_event *event)
{
	if (outage_is_logged(&runner->outage, event))
		return;
	if (event->kind == DW_EVENT_STORE_BACK)
		(void)complain(EXIT_DONE, "%s", event->message);
	else if (may_repeat(event->kind))
		warn("%s", event->message);
	else
		warn_each("%s", event->message);
}

static void run_event(dw *d, const dw_event *event, void *user)
{
	struct runner *runner = user;

	progress_clear(&runner->loading);
	switch (event->kind) {
	case DW_EVENT_RECOVERED:
		run_loading_end(&runner->loading);
		if (!runner->loaded || event->count > 0)
			(void)complain(EXIT_DONE, "running, %" PRIu64 " timer%s loaded",
				       event->count, event->count == 1 ? "" : "s");
		runner->loaded = true;
		return;
	case DW_EVENT_OWNER:
		runner->loaded = false;
		(void)complain(EXIT_DONE, "%s", event->message);
		run_loading_begin(&runner->loading, d);
		return;
	case DW_EVENT_OWNER_LOST:
		run_loading_end(&runner->loading);
		warn_each("%s: standing by", event->message);
		return;
	case DW_EVENT_SHARDS:
		if (event->status == DW_OK)
			(void)complain(EXIT_DONE, "%s", event->message);
		else
			tell_event(runner, event);
		return;
	case DW_EVENT_NO_HANDLER:
		if (!runner->stop && !run_fire_knows(runner, event->topic))
			tell_event(runner, event);
		return;
	default:
		tell_event(runner, event);
	}
}

/* ---- The loop ---------------------------------------------------------------------------- */

/* wait_ms returns the timeout for poll(). It is rounded up, so that poll() does not return too
 * early. */
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

/* hears_hangup returns true if run should handle SIGHUP. nohup(1) makes programs ignore SIGHUP.
 * Without a file there is nothing to reload, so the signal then stays ignored. */
static bool hears_hangup(const struct runner *runner)
{
	struct sigaction action;

	return runner->config_path ||
	       (sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler != SIG_IGN);
}

static void stop_for(struct runner *runner, uint32_t signal)
{
	if (signal == SIGHUP && !runner->stop)
		(void)complain(EXIT_DONE, "SIGHUP: stopping; with --config FILE it would read the "
					  "file again");
	run_stop_for_signal(runner, signal);
}

static void take_signals(struct runner *runner)
{
	struct signalfd_siginfo signal;
	bool reload = false;

	while (read(runner->signal_fd, &signal, sizeof signal) == (ssize_t)sizeof signal) {
		if (signal.ssi_signo == SIGCHLD)
			jobs_reap(&runner->jobs);
		else if (signal.ssi_signo == SIGHUP && runner->config_path)
			reload = true;
		else
			stop_for(runner, signal.ssi_signo);
	}
	if (reload && !runner->stop)
		run_reload(runner);
}

/* watch ends commands whose time has passed. */
static void watch(struct runner *runner)
{
	jobs_tick(&runner->jobs);
	run_stop_watch(runner);
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

	/* Without a web server its entry is left out, because poll() refuses a list that exceeds
	 * the limit of open files. */
	if (poll(fds, runner->http ? 4 : 3, wait_ms(runner)) < 0 && errno != EINTR) {
		runner->over = true;
		run_stop(runner, complain(EXIT_FAILED, "cannot wait: %s", strerror(errno)));
		return;
	}
	if (fds[0].revents)
		take_signals(runner);
	if (fds[1].revents & POLLOUT)
		run_fire_drain(runner);
	else if (fds[1].revents)
		run_stop_for_stdout(runner, EPIPE);
	watch(runner);
	run_fire_next(runner);
	run_loading_show(&runner->loading, runner->d);
	if (fds[2].revents && !run_stop_is_over(runner))
		(void)dw_turn(runner->d); /* dw_turn() fails only inside a callback */
	service_pass(&runner->service, runner->d);
	if (fds[3].revents)
		http_turn(runner->http);
}

/* finish_torn writes the rest of a partly written line, so that the next program on the same stdout
 * begins on a new line. It does not write later lines. */
static void finish_torn(struct runner *runner)
{
	struct pollfd writable = {.fd = runner->outbox.sink.fd, .events = POLLOUT};

	while (runner->outbox.first && runner->code == EXIT_DONE) {
		if (poll(&writable, 1, TORN_PATIENCE_MS) == 0) {
			runner->code = complain(EXIT_FAILED, "a line on stdout is cut: its reader "
							     "does not read");
			return;
		}
		if (outbox_drain(&runner->outbox, run_fire_settle, runner) == OUTBOX_FAILED)
			runner->code =
			    complain(EXIT_FAILED, "a line on stdout is cut: %s", strerror(errno));
	}
}

static int run(struct runner *runner)
{
	(void)dw_turn(runner->d); /* the first turn arms the descriptor */
	while (!run_stop_is_over(runner) &&
	       !(runner->until_idle && run_idle_is_idle(&runner->idle, runner->d)))
		step(runner);
	if (runner->until_idle)
		run_idle_tell_damaged(runner->d);
	run_loading_end(&runner->loading);
	outbox_cut(&runner->outbox, run_fire_settle, runner);
	finish_torn(runner);
	outbox_drop(&runner->outbox, run_fire_settle, runner);
	return runner->code;
}

/* ---- Beginning --------------------------------------------------------------------------- */

/* read_topics reads from the file or from the options which topics run serves, and how. Returns
 * EXIT_DONE, or complains. */
static int read_topics(struct runner *runner, struct options *options)
{
	dw_batch_options batch = {.size = sizeof batch};
	int code = run_reload_first(runner, options);

	if (code != EXIT_DONE || runner->config_path)
		return code;
	code = run_exec_read(options, &runner->way);
	if (code == EXIT_DONE)
		code = run_batch_read(options, &batch);
	return code == EXIT_DONE
		   ? recipes_of_options(&runner->recipes, options, &runner->way, &batch)
		   : code;
}

static int read_all(struct runner *runner, struct options *options, dw_options *base)
{
	enum log_form form;
	int code = read_topics(runner, options);

	runner->until_idle = options->value[OPT_UNTIL_IDLE] != NULL;
	if (options->value[OPT_STANDBY])
		base->role = DW_STANDBY;
	if (options->value[OPT_PEER])
		base->role = DW_PEER;
	if (code == EXIT_DONE)
		code = outage_read(options, base);
	if (code == EXIT_DONE)
		code = run_stop_read(options, &runner->stop_patience);
	if (code == EXIT_DONE)
		code = options_log(options, &form);
	if (code == EXIT_DONE && !options->value[OPT_CHECK])
		log_open(form);
	return code;
}

static int tell_checked(const struct runner *runner, const struct options *options)
{
	const char *given = options->value[OPT_STORE];
	const char *store = given ? given : getenv("DURAWHEEL_STORE");
	char shown[512];

	(void)snprintf(shown, sizeof shown, "%s", store ? store : ""); /* a long text is cut */
	mask_passwords(shown);
	/* session_flush() reports a failed write */
	(void)printf("%s: ok, %zu topic%s%s%s\n", runner->config_path, runner->recipes.count,
		     runner->recipes.count == 1 ? "" : "s", *shown ? ", store " : "", shown);
	return session_flush();
}

/* open_store opens the store. Complaints name the line of the store in the file. With a journal
 * they name no line, because the fault may be in the journal. */
static int open_store(struct runner *runner, const struct options *options, dw_options base)
{
	struct config_place place;
	struct opening opening;
	int code;

	if (!options->value[OPT_JOURNAL])
		config_point_at(runner->config_path, &runner->config, options, OPT_STORE, &place);
	opening_begin_plain(&opening);
	code = session_open(options, base, &runner->d);
	opening_end(&opening, code == EXIT_DONE);
	complain_about(NULL);
	return code;
}

/* begin is for a store with several servers. It runs the loop of the owner before the web server
 * opens its handles. It returns when the owner has its timers, or after BEGIN_FOR. In a cluster the
 * owner meanwhile records which masters are used, so that the other handles open at once. It runs
 * for BEGIN_LEAST in any case: a peer has no timers to load before it takes its shards. */
static void begin(dw *owner)
{
	dw_usec began = session_steady(), took;
	struct pollfd fd = {.fd = dw_fd(owner), .events = POLLIN};
	int status;

	do {
		(void)dw_turn(owner);   /* it fails only inside a callback */
		(void)poll(&fd, 1, 10); /* if it fails, the loop turns sooner */
		took = session_steady() - began;
		status = dw_health(owner, NULL);
	} while (took < BEGIN_LEAST ||
		 (took < BEGIN_FOR && (status == DW_EBUSY || status == DW_ESTORE)));
}

static int open_http(struct runner *runner, const struct options *options)
{
	struct config_place place;
	dw_node node = {.size = sizeof node};
	int code;

	if (dw_get_node(runner->d, 0, &node) == DW_OK)
		begin(runner->d);
	config_point_at(runner->config_path, &runner->config, options, OPT_HTTP, &place);
	code = http_open(&runner->http, options, runner->d);
	complain_about(NULL);
	return code;
}

/* own opens the store, runs until it is told to stop, and closes the store. Returns an exit
 * code. */
static int own(struct runner *runner, const struct options *options, dw_options base)
{
	int code;

	service_opening(&runner->service);
	code = open_store(runner, options, base);
	if (code != EXIT_DONE)
		return code;
	if (base.role == DW_STANDBY)
		(void)complain(code, "standing by");
	if (base.role == DW_PEER)
		(void)complain(code, "joining the processes that share the namespace");
	outbox_open(&runner->outbox);
	code = run_fire_handle(runner);
	if (code == EXIT_DONE && base.role == DW_OWNER)
		run_loading_begin(&runner->loading, runner->d);
	if (code == EXIT_DONE && options->value[OPT_HTTP])
		code = open_http(runner, options);
	if (code == EXIT_DONE)
		code = run(runner);
	http_close(runner->http);
	code = session_close(runner->d, code);
	outbox_close(&runner->outbox);
	line_free(&runner->line);
	return code;
}

static int prepare_and_own(struct runner *runner, const struct options *options, dw_options base)
{
	int code = EXIT_DONE;

	outage_init(&runner->outage);
	service_open(&runner->service);
	runner->signal_fd = signals_open(SIGCHLD, hears_hangup(runner) ? SIGHUP : 0);
	if (runner->signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	if (runner->recipes.of_file || runner->way.words)
		code = jobs_open(&runner->jobs, run_fire_over, runner);
	if (code == EXIT_DONE)
		code = own(runner, options, base);
	jobs_close(&runner->jobs);
	service_close(&runner->service);
	(void)close(runner->signal_fd); /* nothing was written to it */
	return code;
}

int command_run(const struct options *given)
{
	struct options options = *given;
	struct runner runner = {.idle = {.recipes = &runner.recipes}, .given = given};
	dw_options base = {
	    .role = DW_OWNER,
	    .hold_us = DW_NEVER,
	    .on_event = run_event,
	    .on_event_user = &runner,
	    .on_log = outage_log_line,
	    .on_log_user = &runner.outage,
	};
	int code = read_all(&runner, &options, &base);

	if (code == EXIT_DONE)
		code = options.value[OPT_CHECK] ? tell_checked(&runner, &options)
						: prepare_and_own(&runner, &options, base);
	free(runner.way.words);
	recipes_free(&runner.recipes);
	config_free(&runner.config);
	return code;
}
