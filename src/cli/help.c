/* Runs `durawheel help`, which prints the overview or the help of one command on stdout. If the
 * command line names no command, the overview goes to stderr. */
#include "cli/help.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out/errors.h"
#include "cli/out/nearest.h"
#include "cli/session.h"

void help_print_overview(FILE *file)
{
	/* In this file the caller flushes stdout and checks for write errors. */
	(void)fputs("durawheel: durable timers; --help, --version\n\n", file);
	/* A command of two words is left out, because the summary of the first word mentions it. */
	for (size_t i = 0; i < command_count; i++)
		if (!strchr(commands[i].name, ' '))
			(void)fprintf(file, "  durawheel %-7s %s\n", commands[i].name,
				      commands[i].summary);
	(void)fputs(
	    "\n"
	    "  --store URL   sqlite:FILE, redis://HOST[:PORT][/DB], unix://SOCKET,\n"
	    "                redis+sentinel://HOST,.../MASTER or redis+cluster://HOST,...,\n"
	    "                with TLS rediss; else DURAWHEEL_STORE, else durawheel/timers.db\n"
	    "                in ~/.local/state\n"
	    "  --name NS, --shards N   the namespace in Redis; shards when created (16)\n"
	    "\n"
	    "Exit codes: 0 done, 1 failed, 2 usage, 3 absent, 4 exists already, 5 too late,\n"
	    "6 store unreachable, full, newer, owned by another. See durawheel help COMMAND.\n",
	    file);
}

void help_print(const struct command *command)
{
	(void)printf("durawheel %s %s\n\n%c%s.\n\n%s%s"
		     "Besides: --store URL, --name NS, --shards N; see durawheel --help.\n"
		     "Example: %s\n",
		     command->name, command->synopsis, toupper(*command->summary),
		     command->summary + 1, command->help, *command->help ? "\n" : "",
		     command->example);
}

/* synonym_of returns our command for a name that other programs use, or NULL. */
static const char *synonym_of(const char *word)
{
	static const char *const pairs[][2] = {
	    {"put", "add"},       {"create", "add"},    {"schedule", "add"},
	    {"delete", "cancel"}, {"remove", "cancel"}, {"rm", "cancel"},
	    {"get", "show"},      {"ls", "list"},       {"reschedule", "move"},
	    {"mv", "move"},       {"start", "run"},     {"web", "serve"},
	    {"info", "stats"},    {"next", "when"},     {"version", "--version"},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (strcmp(pairs[i][0], word) == 0)
			return pairs[i][1];
	return NULL;
}

int help_no_command(const char *word)
{
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (size_t i = 0; i < command_count; i++)
		nearest_try(&nearest, commands[i].name);
	if (synonym_of(word))
		nearest.name = synonym_of(word);
	if (nearest.name)
		return complain(EXIT_USAGE, "no command %.64s; did you mean %s?", presentable(word),
				nearest.name);
	return complain(EXIT_USAGE, "no command %.64s; see durawheel --help", presentable(word));
}

/* is_of returns true if command is the group itself or belongs to it, as `dead list` belongs to
 * `dead`. */
static bool is_of(const struct command *command, const struct command *group)
{
	size_t length = strlen(group->name);

	return strncmp(command->name, group->name, length) == 0 &&
	       (command->name[length] == '\0' || command->name[length] == ' ');
}

int help_no_option(const char *word, const struct command *command)
{
	size_t length = strcspn(word, "=");
	size_t dashes = strspn(word, "-");
	int shown = (int)(length > 64 ? 64 : length);
	struct nearest nearest;

	nearest_begin(&nearest, word + dashes, length - dashes);
	for (size_t i = 0; i < command_count; i++)
		for (enum option_id id = 0; id < OPTION_COUNT; id++)
			if ((!command || is_of(&commands[i], command)) &&
			    options_allows(&commands[i], id))
				nearest_try(&nearest, options_name(id));
	if (nearest.name)
		return complain(EXIT_USAGE, "unknown option %.*s; did you mean --%s?", shown, word,
				nearest.name);
	return complain(EXIT_USAGE, "unknown option %.*s; see durawheel %s%s--help%s", shown, word,
			command ? command->name : "", command ? " " : "",
			dashes > 1 ? "" : " (an id or a file that starts with '-' goes behind --)");
}

int command_help(const struct options *options)
{
	const struct command *command = NULL;

	if (options->word_count > 1) {
		command = command_of(options->words + 1, options->word_count - 1);
		if (!command)
			return help_no_command(options->words[1]);
		if (options->word_count > 2 && !strchr(command->name, ' '))
			return help_no_command(options->words[2]);
	}
	if (command)
		help_print(command);
	else
		help_print_overview(stdout);
	return session_flush();
}
