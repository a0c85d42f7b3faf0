/* durawheel move: changes the deadline of a waiting timer. If it succeeds, it prints nothing. */
#include "cli/commands.h"

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/session.h"

static void move_command_answered(dw *d, const dw_result *result, void *user)
{
	int *code = user;

	(void)d;
	if (session_tell_journaled(result))
		*code = exit_of(result->status);
	else
		*code = result->status == DW_OK ? EXIT_DONE
						: complain(exit_of(result->status), "%s: %s",
							   result->id, dw_strerror(result->status));
}

int command_move(const struct options *options)
{
	const char *id = options->words[1];
	int code = EXIT_STORE;
	dw_usec due;
	dw *d;
	int status = due_of_options(options, "move", &due);

	if (status == EXIT_DONE)
		status = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (status != EXIT_DONE)
		return status;
	status = dw_move(d, id, due, move_command_answered, &code);
	if (status != DW_OK)
		code = complain(exit_of(status), "id \"%.300s\": %s", id, why(d, status));
	else
		(void)session_sync(d); /* on failure the code stays EXIT_STORE */
	return session_close(d, code);
}
