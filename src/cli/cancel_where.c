#include "cli/cancel_where.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/errors.h"
#include "cli/select.h"
#include "cli/session.h"

enum { UNASKED_MAX = 1000 }; /* more are cancelled only with --yes */

struct sweep {
	dw_tally tally;
	int code;
};

static void swept(dw *d, const dw_tally *tally, void *user)
{
	struct sweep *sweep = user;

	(void)d;
	sweep->tally = *tally;
	if (!tally->over)
		return;
	sweep->code = EXIT_DONE;
	if (tally->failed > 0) /* the id is valid only here */
		sweep->code = complain(
		    exit_of(tally->failed_status), "%" PRIu64 " timers failed, the first is %s: %s",
		    tally->failed, tally->failed_id, dw_strerror(tally->failed_status));
	if (tally->status != DW_OK)
		sweep->code = complain(exit_of(tally->status), "%s", dw_strerror(tally->status));
	else if (tally->late > 0 && sweep->code == EXIT_DONE)
		sweep->code = EXIT_LATE;
}

/* walk counts or cancels, and waits until that is over. An exit code. */
static int walk(dw *d, const dw_select *select, bool cancels, struct sweep *sweep)
{
	int status = (cancels ? dw_cancel_where : dw_count_where)(d, select, swept, sweep);

	sweep->code = EXIT_STORE;
	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(d, status));
	(void)session_wait(d); /* if it complains, the code stays EXIT_STORE */
	return sweep->code;
}

static void print(const dw_tally *tally, bool json)
{
	if (json) {
		(void)printf("{\"matched\":%" PRIu64 ",\"cancelled\":%" PRIu64 ",\"late\":%" PRIu64
			     ",\"gone\":%" PRIu64 ",\"failed\":%" PRIu64 "}\n",
			     tally->matched, tally->done, tally->late, tally->gone,
			     tally->failed); /* session_close() checks, here and below */
		return;
	}
	(void)printf("cancelled %" PRIu64, tally->done);
	if (tally->late > 0)
		(void)printf(", too late for %" PRIu64, tally->late);
	if (tally->gone > 0)
		(void)printf(", gone meanwhile %" PRIu64, tally->gone);
	(void)putchar('\n');
}

/* is_allowed counts first, unless --yes is given. An exit code. */
static int is_allowed(dw *d, const struct options *options, const dw_select *select)
{
	struct sweep sweep = {0};
	int code;

	if (options->value[OPT_YES])
		return EXIT_DONE;
	code = walk(d, select, false, &sweep);
	if (code == EXIT_DONE && sweep.tally.matched > UNASKED_MAX)
		return complain(EXIT_USAGE,
				"cancel: %" PRIu64
				" timers match; write --yes to cancel more than %d",
				sweep.tally.matched, UNASKED_MAX);
	return code;
}

static int cancel_selected(dw *d, const struct options *options, const dw_select *select)
{
	bool json = options->value[OPT_JSON] != NULL;
	struct sweep sweep = {0};
	int code;

	if (options->value[OPT_DRY_RUN]) {
		code = walk(d, select, false, &sweep);
		if (code == EXIT_DONE)
			(void)printf(json ? "{\"matched\":%" PRIu64 "}\n"
					  : "would cancel %" PRIu64 "\n",
				     sweep.tally.matched); /* session_close() checks */
		return code;
	}
	code = is_allowed(d, options, select);
	if (code != EXIT_DONE)
		return code;
	code = walk(d, select, true, &sweep);
	print(&sweep.tally, json);
	return code;
}

int cancel_where(const struct options *options)
{
	dw_select select;
	dw *d;
	int code = select_of_options(options, "cancel", &select);

	if (code == EXIT_DONE && options->value[OPT_JOURNAL])
		code =
		    complain(EXIT_USAGE, "cancel: --journal is for ids: only Redis can say which "
					 "timers match");
	if (code == EXIT_DONE)
		code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	return code == EXIT_DONE ? session_close(d, cancel_selected(d, options, &select)) : code;
}
