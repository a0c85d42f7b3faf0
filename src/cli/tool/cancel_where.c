/* durawheel cancel SELECTION: cancels or counts the selected timers.
 *
 * On SIGINT, SIGTERM or SIGHUP it reads no further page, waits for the answers to its cancels, and
 * prints how many timers it has cancelled. Then the signal has its usual effect. */
#include "cli/tool/cancel_where.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/out/select.h"
#include "cli/session.h"
#include "cli/run/signals.h"

enum { UNASKED_MAX = 1000 }; /* more timers are cancelled only with --yes */

struct sweep {
	dw_tally tally;
	int code;
	bool cancels;
	struct interrupts interrupts;
};

static void swept(dw *d, const dw_tally *tally, void *user)
{
	struct sweep *sweep = user;

	(void)d;
	sweep->tally = *tally;
	if (!tally->over)
		return;
	sweep->code = EXIT_DONE;
	if (tally->failed > 0) /* the library's text of the id lives only in this call */
		sweep->code = complain(
		    exit_of(tally->failed_status), "%" PRIu64 " timers failed, the first is %s: %s",
		    tally->failed, tally->failed_id, dw_strerror(tally->failed_status));
	if (sweep->interrupts.signal)
		return; /* dw_close() has ended the walk */
	if (tally->status != DW_OK)
		sweep->code = complain(exit_of(tally->status), "%s", dw_strerror(tally->status));
	else if (tally->late > 0 && sweep->code == EXIT_DONE)
		sweep->code = EXIT_LATE;
}

/* walk counts or cancels the selected timers. It returns when all pages are answered or a signal
 * arrives. Returns an exit code. */
static int walk(dw *d, const dw_select *select, bool cancels, struct sweep *sweep)
{
	struct pollfd fds[] = {{.fd = dw_fd(d), .events = POLLIN},
			       {.fd = sweep->interrupts.fd, .events = POLLIN}};
	int status = (cancels ? dw_cancel_where : dw_count)(d, select, swept, sweep);

	sweep->cancels = cancels;
	sweep->code = EXIT_STORE;
	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(d, status));
	while (!sweep->tally.over && !sweep->interrupts.signal) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
		if (fds[0].revents)
			(void)dw_turn(d); /* dw_turn() fails only inside a callback */
		if (fds[1].revents)
			interrupts_take(&sweep->interrupts);
	}
	return sweep->interrupts.signal ? EXIT_FAILED : sweep->code;
}

static void print(const dw_tally *tally, bool json)
{
	if (json) {
		(void)printf("{\"matched\":%" PRIu64 ",\"cancelled\":%" PRIu64 ",\"late\":%" PRIu64
			     ",\"gone\":%" PRIu64 ",\"failed\":%" PRIu64 "}\n",
			     tally->matched, tally->done, tally->late, tally->gone,
			     /* session_close() reports failed writes, here and below. */
			     tally->failed);
		return;
	}
	(void)printf("cancelled %" PRIu64, tally->done);
	if (tally->late > 0)
		(void)printf(", too late for %" PRIu64, tally->late);
	if (tally->gone > 0)
		(void)printf(", gone meanwhile %" PRIu64, tally->gone);
	(void)putchar('\n');
}

/* is_allowed counts the timers first, unless --yes is given. Returns EXIT_DONE if they may be
 * cancelled, or complains. */
static int is_allowed(dw *d, const struct options *options, const dw_select *select,
		      struct sweep *sweep)
{
	int code;

	if (options->value[OPT_YES])
		return EXIT_DONE;
	code = walk(d, select, false, sweep);
	if (code == EXIT_DONE && sweep->tally.matched > UNASKED_MAX)
		return complain(EXIT_USAGE,
				"cancel: %" PRIu64
				" timers match; write --yes to cancel more than %d",
				sweep->tally.matched, UNASKED_MAX);
	sweep->tally = (dw_tally){0};
	return code;
}

static int cancel_selected(dw *d, const struct options *options, const dw_select *select,
			   struct sweep *sweep)
{
	bool json = options->value[OPT_JSON] != NULL;
	int code;

	if (options->value[OPT_DRY_RUN]) {
		code = walk(d, select, false, sweep);
		if (code == EXIT_DONE)
			(void)printf(json ? "{\"matched\":%" PRIu64 "}\n"
					  : "would cancel %" PRIu64 "\n",
				     /* session_close() reports a failed write. */
				     sweep->tally.matched);
		return code;
	}
	code = is_allowed(d, options, select, sweep);
	if (code != EXIT_DONE)
		return code;
	code = walk(d, select, true, sweep);
	if (!sweep->interrupts.signal)
		print(&sweep->tally, json);
	return code;
}

/* end_interrupted closes the handle, which waits for the answers. Then it prints the counts. */
static void end_interrupted(dw *d, const struct options *options, struct sweep *sweep)
{
	(void)dw_close(d, SESSION_PATIENCE); /* an id without an answer is not counted */
	if (sweep->cancels)
		print(&sweep->tally, options->value[OPT_JSON] != NULL);
	(void)session_flush(); /* the signal decides the exit code */
	(void)complain(EXIT_FAILED, sweep->cancels
					? "interrupted: run it again to cancel the rest"
					: "interrupted while counting: nothing is cancelled");
}

int cancel_where(const struct options *options)
{
	struct sweep sweep = {0};
	dw_select select;
	dw *d;
	int code = select_of_options(options, "cancel", &select);

	if (code == EXIT_DONE && options->value[OPT_JOURNAL])
		code =
		    complain(EXIT_USAGE, "cancel: --journal is for ids: only Redis can say which "
					 "timers match");
	if (code == EXIT_DONE && !interrupts_open(&sweep.interrupts))
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	if (code == EXIT_DONE)
		code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (code != EXIT_DONE)
		return code;
	code = cancel_selected(d, options, &select, &sweep);
	if (!sweep.interrupts.signal)
		return session_close(d, code);
	end_interrupted(d, options, &sweep);
	(void)raise(sweep.interrupts.signal); /* a loop in the calling shell then ends as well */
	return code;
}
