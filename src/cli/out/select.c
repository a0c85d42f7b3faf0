#include "cli/out/select.h"

#include "cli/out/due.h"
#include "cli/out/errors.h"

static const enum option_id all[] = {OPT_TOPIC, OPT_PREFIX, OPT_DUE_FROM, OPT_DUE_BEFORE};

bool select_is_given(const struct options *options)
{
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (options->value[all[i]])
			return true;
	return false;
}

/* read_bound reads a bound of the deadlines. In a selection 0 means no bound, so the option refuses
 * that time. */
static int read_bound(const struct options *options, enum option_id id, dw_usec *ret_bound)
{
	int code = options->value[id] ? due_of_option(options, id, ret_bound) : EXIT_DONE;

	if (code == EXIT_DONE && options->value[id] && *ret_bound == 0)
		code =
		    complain(EXIT_USAGE,
			     "--%s \"%.300s\" is the time 0, which means no bound: write another "
			     "time, or leave the option out",
			     options_name(id), options->value[id]);
	return code;
}

int select_of_options(const struct options *options, const char *command, dw_select *ret_select)
{
	int code;

	*ret_select = (dw_select){.size = sizeof *ret_select,
				  .topic = options->value[OPT_TOPIC],
				  .id_prefix = options->value[OPT_PREFIX]};
	if (options->topic_count > 1)
		return complain(EXIT_USAGE, "%s: write --topic once", command);
	if (ret_select->id_prefix && !*ret_select->id_prefix)
		return complain(EXIT_USAGE, "--prefix \"\": write how the ids begin");
	code = read_bound(options, OPT_DUE_FROM, &ret_select->due_from);
	if (code == EXIT_DONE)
		code = read_bound(options, OPT_DUE_BEFORE, &ret_select->due_to);
	if (code == EXIT_DONE && options->value[OPT_DUE_FROM] && options->value[OPT_DUE_BEFORE] &&
	    ret_select->due_from >= ret_select->due_to)
		code = complain(EXIT_USAGE, "%s: --due-before is not after --due-from", command);
	return code;
}
