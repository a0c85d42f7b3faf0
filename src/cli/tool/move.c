/* durawheel move: changes the deadline of waiting timers. If it succeeds, it prints nothing. */
#include "cli/commands.h"

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/session.h"

/* worsen keeps the larger exit code, because a larger code means a worse result. */
static void worsen(int *code, int other)
{
	if (other > *code)
		*code = other;
}

static void move_command_answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	if (session_tell_journaled(result))
		worsen(user, exit_of(result->status));
	else if (result->status != DW_OK)
		worsen(user, complain(exit_of(result->status), "%s: %s", result->id,
				      dw_strerror(result->status)));
}

int command_move(const struct options *options)
{
	int code = EXIT_DONE;
	dw_usec due;
	dw *d;
	int opened = due_of_options(options, "move", &due);

	if (opened == EXIT_DONE)
		opened = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (opened != EXIT_DONE)
		return opened;
	for (size_t i = 1; i < options->word_count; i++) {
		const char *id = options->words[i];
		int status = dw_move(d, id, due, move_command_answered, &code);

		if (status != DW_OK)
			worsen(&code,
			       complain(exit_of(status), "id \"%.300s\": %s", id, why(d, status)));
	}
	worsen(&code, session_sync(d));
	return session_close(d, code);
}
