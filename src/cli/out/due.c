#include "cli/out/due.h"

#include "cli/out/errors.h"
#include "cli/session.h"
#include "cli/out/times.h"

dw_usec due_after(dw_usec now, dw_usec delay)
{
	return delay > DW_NEVER - now ? DW_NEVER : now + delay;
}

int due_of_option(const struct options *options, enum option_id id, dw_usec *ret_due)
{
	dw_usec delay;
	int code;

	if (!time_is_duration(options->value[id]))
		return options_time(options, id, ret_due);
	code = options_duration(options, id, &delay);
	if (code == EXIT_DONE)
		*ret_due = due_after(session_now(), delay);
	return code;
}

int due_of_options(const struct options *options, const char *command, dw_usec *ret_due)
{
	dw_usec delay;
	int code;

	if (!options->value[OPT_IN] == !options->value[OPT_AT])
		return complain(EXIT_USAGE,
				"%s: exactly one of --in DURATION and --at TIME is required",
				command);
	if (options->value[OPT_AT])
		return options_time(options, OPT_AT, ret_due);
	code = options_duration(options, OPT_IN, &delay);
	if (code == EXIT_DONE)
		*ret_due = due_after(session_now(), delay);
	return code;
}
