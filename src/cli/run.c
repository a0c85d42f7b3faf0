/* durawheel run: owns the store and writes a line for each timer that is due.
 *
 * A timer is settled when its line is written and not before. What stdout does not take at once
 * waits in the outbox, its delivery held. When the outbox is full nothing is turned until stdout
 * takes some of it: so no claim piles up and no order is lost, and a reader that stops for an hour
 * costs an hour. (A retry instead would count against the timer and change the order.) When stdout
 * fails, the handlers are taken away at once, so that what is claimed returns to the store.
 */
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/errors.h"
#include "cli/line.h"
#include "cli/outbox.h"
#include "cli/session.h"

enum { TORN_PATIENCE_MS = 1000, IDLE_AGAIN_MS = 20 };

struct runner {
	dw *d;
	const char *const *topics;
	size_t topic_count;
	bool until_idle;
	struct outbox outbox;
	struct line line;
	int signal_fd;
	bool asked;   /* the store's status, on the way to being idle */
	bool emptied; /* its answer: no client's timer is unseen */
	bool stop;
	int code;
};

static dw_verdict fire(dw *, const dw_firing *, void *user);

/* handle registers fire for every topic, or takes it away. */
static int handle(struct runner *runner, dw_fire_fn fn)
{
	for (size_t i = 0; i < runner->topic_count; i++) {
		int status = dw_on(runner->d, runner->topics[i], fn, runner);

		if (status != DW_OK)
			return complain(exit_of(status), "--topic %.300s: %s", runner->topics[i],
					why(runner->d, status));
	}
	return EXIT_DONE;
}

/* stop ends the run; what was not delivered goes back to the store. */
static void stop(struct runner *runner, int code)
{
	if (runner->stop)
		return;
	runner->stop = true;
	runner->code = code;
	(void)handle(runner, NULL); /* taking away what was registered needs nothing */
}

static void stop_for_stdout(struct runner *runner, int error)
{
	if (!runner->stop)
		stop(runner, complain(EXIT_FAILED, "cannot write to stdout: %s", strerror(error)));
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct runner *runner = user;

	(void)d;
	if (!line_of_firing(&runner->line, firing)) {
		stop(runner, complain(EXIT_FAILED, "out of memory"));
		return DW_HOLD;
	}
	switch (outbox_put(&runner->outbox, firing->token, &runner->line)) {
	case OUTBOX_WRITTEN:
		return DW_DONE;
	case OUTBOX_WAITING:
		return DW_HOLD;
	default:
		stop_for_stdout(runner, errno);
		return DW_HOLD; /* never answered: closing gives it back */
	}
}

static void settle(const dw_token *token, void *user)
{
	struct runner *runner = user;
	int status = dw_settle(runner->d, token, DW_DONE, -1, NULL, NULL);

	if (status != DW_OK)
		(void)complain(EXIT_FAILED, "%s is written and not settled: %s", token->id,
			       why(runner->d, status));
}

static void drain(struct runner *runner)
{
	if (outbox_drain(&runner->outbox, settle, runner) == OUTBOX_FAILED)
		stop_for_stdout(runner, errno);
}

static void report(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (event->kind == DW_EVENT_RECOVERED)
		(void)complain(EXIT_DONE, "running, %" PRIu64 " timers loaded", event->count);
	else
		(void)complain(EXIT_FAILED, "%s", event->message);
}

/* ---- Until idle -------------------------------------------------------------------------- */

static bool has_timers(const struct runner *runner)
{
	for (size_t i = 0; i < runner->topic_count; i++) {
		const char *topic = runner->topics[i];
		uint64_t count = 0;

		if (strcmp(topic, "*") == 0)
			topic = NULL;
		if (dw_count(runner->d, topic, &count) != DW_OK || count > 0)
			return true;
	}
	return false;
}

static bool is_quiet(const struct runner *runner)
{
	dw_stats stats = {.size = sizeof stats};

	return dw_get_stats(runner->d, &stats) == DW_OK && !stats.recovering &&
	       stats.inflight == 0 && !has_timers(runner);
}

static void status_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct runner *runner = user;

	(void)d;
	runner->asked = false;
	runner->emptied = status == DW_OK && store->inbox == 0;
}

/* is_idle: no timer is left here, and the store knows of none that a client wrote and that is not
 * here yet. It takes some turns to find out. */
static bool is_idle(struct runner *runner)
{
	bool emptied = runner->emptied;

	runner->emptied = false;
	if (runner->asked || !is_quiet(runner))
		return false;
	if (emptied)
		return true;
	runner->asked = dw_get_status(runner->d, status_answered, runner) == DW_OK;
	return false;
}

/* ---- The loop ---------------------------------------------------------------------------- */

static int wait_ms(const struct runner *runner)
{
	return runner->until_idle && is_quiet(runner) ? IDLE_AGAIN_MS : -1;
}

/* step waits for work and does it. A full outbox is the one thing that is waited for alone. */
static void step(struct runner *runner)
{
	bool full = outbox_is_full(&runner->outbox);
	struct pollfd fds[] = {
	    {.fd = runner->signal_fd, .events = POLLIN},
	    {.fd = runner->outbox.sink.fd, .events = runner->outbox.first ? POLLOUT : 0},
	    {.fd = full ? -1 : dw_fd(runner->d), .events = POLLIN},
	};

	if (poll(fds, 3, wait_ms(runner)) < 0 && errno != EINTR) {
		stop(runner, complain(EXIT_FAILED, "cannot wait: %s", strerror(errno)));
		return;
	}
	if (fds[0].revents)
		stop(runner, EXIT_DONE);
	else if (fds[1].revents & POLLOUT)
		drain(runner);
	else if (fds[1].revents)
		stop_for_stdout(runner, EPIPE);
	if (fds[2].revents && !runner->stop)
		(void)dw_turn(runner->d); /* outside of a callback it cannot fail */
}

/* finish_torn ends a line that is written in part, so that whoever writes to the same stdout next
 * begins on a line of its own. The lines behind it are not begun. */
static void finish_torn(struct runner *runner)
{
	struct pollfd writable = {.fd = runner->outbox.sink.fd, .events = POLLOUT};

	outbox_cut(&runner->outbox);
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

/* tell_damaged: idle does not mean that all was fired. */
static void tell_damaged(const struct runner *runner)
{
	dw_stats stats = {.size = sizeof stats};

	if (dw_get_stats(runner->d, &stats) == DW_OK && stats.corrupt > 0)
		(void)complain(EXIT_DONE,
			       "%" PRIu64
			       " damaged timers were not fired: cancel or add them again",
			       stats.corrupt);
}

static int run(struct runner *runner)
{
	int code = handle(runner, fire);

	if (code != EXIT_DONE)
		return code;
	(void)dw_turn(runner->d); /* the first turn arms the descriptor */
	while (!runner->stop && !(runner->until_idle && is_idle(runner)))
		step(runner);
	if (runner->until_idle)
		tell_damaged(runner);
	finish_torn(runner);
	return runner->code;
}

/* open_signals makes SIGTERM and SIGINT readable, before the library starts threads that would
 * inherit another mask. */
static int open_signals(void)
{
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGTERM) != 0 ||
	    sigaddset(&set, SIGINT) != 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int command_run(const struct options *options)
{
	static const char *const every = "*";
	struct runner runner = {
	    .topics = options->topic_count ? options->topics : &every,
	    .topic_count = options->topic_count ? options->topic_count : 1,
	    .until_idle = options->value[OPT_UNTIL_IDLE] != NULL,
	    .signal_fd = open_signals(),
	};
	dw_options base = {
	    .role = DW_OWNER,
	    .hold_us = DW_NEVER, /* as long as the reader takes */
	    .on_event = report,
	};
	int code;

	if (runner.signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	code = session_open(options, base, &runner.d);
	if (code == EXIT_DONE) {
		outbox_open(&runner.outbox);
		code = session_close(runner.d, run(&runner));
		outbox_close(&runner.outbox);
		line_free(&runner.line);
	}
	(void)close(runner.signal_fd); /* it was only read */
	return code;
}
