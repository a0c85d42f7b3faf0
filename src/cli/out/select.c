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

int select_of_options(const struct options *options, const char *command, dw_select *ret_select)
{
	int code = EXIT_DONE;

	*ret_select = (dw_select){.size = sizeof *ret_select,
				  .topic = options->value[OPT_TOPIC],
				  .id_prefix = options->value[OPT_PREFIX]};
	if (options->topic_count > 1)
		return complain(EXIT_USAGE, "%s: write --topic once", command);
	if (ret_select->id_prefix && !*ret_select->id_prefix)
		return complain(EXIT_USAGE, "--prefix \"\": write how the ids begin");
	if (options->value[OPT_DUE_FROM])
		code = due_of_option(options, OPT_DUE_FROM, &ret_select->due_from);
	if (code == EXIT_DONE && options->value[OPT_DUE_BEFORE])
		code = due_of_option(options, OPT_DUE_BEFORE, &ret_select->due_to);
	if (code == EXIT_DONE && ret_select->due_to && ret_select->due_from >= ret_select->due_to)
		code = complain(EXIT_USAGE, "%s: --due-before is not after --due-from", command);
	return code;
}
