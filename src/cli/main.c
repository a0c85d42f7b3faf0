/* The main function of the durawheel command. The command uses only the public API of the library.
 *
 * Each file has one task. commands.c has the table of commands, options.c reads the command line,
 * errors.c reports failures, and session.c has the steps that all commands share. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out/errors.h"
#include "cli/help.h"
#include "cli/session.h"
#include "cli/run/supervisor.h"

/* inform prints the answer to --help or --version. */
static int inform(const struct options *options, const struct command *command)
{
	if (options->value[OPT_VERSION])
		/* session_flush() reports a failed write. */
		(void)printf("durawheel %s\n", dw_version());
	else if (command)
		help_print(command);
	else
		help_print_overview(stdout);
	return session_flush();
}

/* without_first drops the first word. After that words[0] is an argument, or the second word of a
 * command's name. */
static struct options without_first(const struct options *options)
{
	struct options rest = *options;

	rest.words++;
	rest.word_count--;
	return rest;
}

static int dispatch(const struct options *options)
{
	const struct command *command = NULL;
	struct options rest = *options;
	int code;

	if (options->word_count > 0) {
		command = command_of(options->words, options->word_count);
		if (!command && !options->unknown)
			return help_no_command(options->words[0]);
	}
	if (options->unknown)
		return help_no_option(options->unknown, command);
	if (options->value[OPT_HELP] || options->value[OPT_VERSION])
		return inform(options, command);
	if (!command) {
		help_print_overview(stderr);
		return EXIT_USAGE;
	}
	if (strchr(command->name, ' '))
		rest = without_first(options);
	code = options_check(&rest, command);
	if (code != EXIT_DONE)
		return code;
	return command->run ? command->run(&rest) : command_help(&rest);
}

int main(int argc, char **argv)
{
	struct options options;
	int code;

	if (argc > 2 &&
	    /* cli/run/jobs.c has started this process as a supervisor. */
	    strcmp(argv[0], SUPERVISOR_NAME) == 0)
		return supervise(argv[1], argv + 2);
	if (session_prepare() != EXIT_DONE)
		return EXIT_FAILED;
	code = options_parse(argc, argv, &options);
	if (code == EXIT_DONE)
		code = dispatch(&options);
	options_free(&options);
	return code;
}
