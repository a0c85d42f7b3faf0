/* durawheel cancel: cancels timers. If each given id has a timer and each cancel succeeds, it
 * prints nothing. */
#include "cli/commands.h"

#include <string.h>

#include "cli/tool/cancel_where.h"
#include "cli/out/errors.h"
#include "cli/out/select.h"
#include "cli/session.h"

/* worsen keeps the larger exit code, because a larger code means a worse result. */
static void worsen(int *code, int other)
{
	if (other > *code)
		*code = other;
}

static void cancel_command_answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	if (session_tell_journaled(result))
		worsen(user, exit_of(result->status));
	else if (result->status != DW_OK)
		worsen(user, complain(exit_of(result->status), "%s: %s", result->id,
				      dw_strerror(result->status)));
}

static int cancel_ids(const struct options *options)
{
	int code = EXIT_DONE;
	dw *d;
	int opened = session_look(options, (dw_options){.role = DW_CLIENT}, &d);

	if (opened != EXIT_DONE)
		return opened;
	for (size_t i = 1; i < options->word_count; i++) {
		const char *id = options->words[i];
		int status = dw_cancel(d, id, cancel_command_answered, &code);

		if (status != DW_OK)
			worsen(&code,
			       complain(exit_of(status), "id \"%.300s\": %s", id, why(d, status)));
	}
	worsen(&code, session_sync(d));
	return session_close(d, code);
}

int command_cancel(const struct options *options)
{
	bool selects = select_is_given(options);
	bool reads = options->word_count == 2 && strcmp(options->words[1], "-") == 0;

	if (selects && options->word_count > 1)
		return complain(EXIT_USAGE, "cancel: write ids, or options like --topic, not both");
	if (selects)
		return cancel_where(options);
	if (options->value[OPT_DRY_RUN] || options->value[OPT_YES] || options->value[OPT_ZONE])
		return complain(EXIT_USAGE,
				"cancel: --%s is for --topic, --prefix, --due-from or "
				"--due-before",
				options->value[OPT_DRY_RUN] ? "dry-run"
				: options->value[OPT_YES]   ? "yes"
							    : "zone");
	if (options->word_count == 1)
		return complain(EXIT_USAGE, "cancel: write ids, -, or options like --topic; see "
					    "durawheel cancel --help");
	if (reads && options->value[OPT_JOURNAL])
		return complain(EXIT_USAGE, "cancel: --journal is for ids in the command line");
	if (!reads && options->value[OPT_JSON])
		return complain(EXIT_USAGE, "cancel: --json is for - and for options like --topic");
	return reads ? cancel_stream(options) : cancel_ids(options);
}
