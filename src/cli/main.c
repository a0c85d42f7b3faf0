/* durawheel: the command. A client of the public API only.
 *
 * Here is the table of the commands; what their words mean is in options.c, how they fail in
 * errors.c, what they share in session.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/session.h"

static const struct command commands[] = {
    {
	.name = "add",
	.synopsis = "--topic T [--id ID] (--in DURATION | --at TIME)\n"
		    "       [--data TEXT | --data-file FILE|-] [--late-after DURATION] [--new]",
	.help =
	    "Adds a timer, or replaces the one of that id, and prints its id once it is stored.\n"
	    "\n"
	    "  --topic T         who handles it\n"
	    "  --id ID           its name; without one, a unique one is made\n"
	    "  --in DURATION     due in 30m, 1h30m, 250us ...: d h m s ms us\n"
	    "  --at TIME         due at RFC 3339 with its offset: 2026-06-01T09:30:00+02:00\n"
	    "  --data TEXT       what it carries\n"
	    "  --data-file FILE  the same from a file, - is stdin; at most 1 MiB\n"
	    "  --late-after D    not delivered any more when it is later than that\n"
	    "  --new             exit 4 if the id has a timer already\n",
	.options = OPT_BIT(OPT_TOPIC) | OPT_BIT(OPT_ID) | OPT_BIT(OPT_IN) | OPT_BIT(OPT_AT) |
		   OPT_BIT(OPT_DATA) | OPT_BIT(OPT_DATA_FILE) | OPT_BIT(OPT_LATE_AFTER) |
		   OPT_BIT(OPT_NEW),
	.run = command_add,
    },
    {
	.name = "import",
	.synopsis = "[FILE|-] [--json]",
	.help =
	    "Adds a timer for each line of FILE (or stdin) and prints how many. A line is an\n"
	    "object with the keys topic, at or in, and if you like id, data or data_base64,\n"
	    "late_after, all of them strings:\n"
	    "\n"
	    "  {\"id\":\"order:42\",\"topic\":\"order.timeout\",\"in\":\"30m\",\"data\":\"...\"}\n"
	    "\n"
	    "A bad line is named on stderr and skipped; the exit code is 1 then.\n",
	.options = OPT_BIT(OPT_JSON),
	.words_max = 1,
	.run = command_import,
    },
    {
	.name = "cancel",
	.synopsis = "ID...",
	.help = "Cancels timers. Exit 3: no such timer. Exit 5: too late, it is being delivered.\n",
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_cancel,
    },
    {
	.name = "show",
	.synopsis = "ID [--json]",
	.help = "Shows one timer.\n",
	.options = OPT_BIT(OPT_JSON),
	.words_min = 1,
	.words_max = 1,
	.run = command_show,
    },
    {
	.name = "list",
	.synopsis = "[--topic T] [--limit N] [--json]",
	.help = "Lists timers in the order of their deadlines.\n",
	.options = OPT_BIT(OPT_TOPIC) | OPT_BIT(OPT_LIMIT) | OPT_BIT(OPT_JSON),
	.run = command_list,
    },
    {
	.name = "run",
	.synopsis = "[--topic T]... [--exec CMD [--jobs N] [--timeout DURATION]] [--until-idle]",
	.help =
	    "Owns the store and fires: one line on stdout for each timer that is due,\n"
	    "\n"
	    "  {\"id\",\"topic\",\"due\",\"fired\",\"attempt\",\"data\"}\n"
	    "\n"
	    "due and fired in microseconds since 1970; data_base64 instead of data if that is\n"
	    "not UTF-8. A timer is settled when its line is written; what a crash interrupts\n"
	    "is delivered again with a higher attempt. SIGTERM and SIGINT stop it.\n"
	    "\n"
	    "  --topic T         only these topics, the others wait\n"
	    "  --exec CMD        run /bin/sh -c CMD for each: the data on stdin, DW_ID, DW_TOPIC,\n"
	    "                    DW_DUE and DW_ATTEMPT in the environment, stdout and stderr as\n"
	    "                    ours. Exit 0 settles, else it is retried (1 s later, then 2 s,\n"
	    "                    ... 16 times). The line comes then, with \"exit\" as last key\n"
	    "  --jobs N          at most N commands at a time; 4\n"
	    "  --timeout D       what takes longer is ended with its process group (SIGTERM,\n"
	    "                    SIGKILL 5 s later) and retried; its \"exit\" is 124\n"
	    "  --until-idle      stop when no timer is left\n",
	.options = OPT_BIT(OPT_TOPIC) | OPT_BIT(OPT_UNTIL_IDLE) | OPT_BIT(OPT_EXEC) |
		   OPT_BIT(OPT_JOBS) | OPT_BIT(OPT_TIMEOUT),
	.run = command_run,
    },
    {
	.name = "stats",
	.synopsis = "[--json]",
	.help = "Shows how many timers there are and what their owner does.\n",
	.options = OPT_BIT(OPT_JSON),
	.run = command_stats,
    },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char global_help[] =
    "\n"
    "  --store URL       sqlite:FILE; default: DURAWHEEL_STORE, else durawheel/timers.db\n"
    "                    in XDG_STATE_HOME or ~/.local/state\n"
    "  --name NS         the namespace in a store that has several\n"
    "  --help, --version\n";

static void print_usage(FILE *file)
{
	(void)fprintf(file,
		      "durawheel: durable timers\n\n"); /* here and below: the caller flushes */
	for (size_t i = 0; i < COMMANDS; i++)
		(void)fprintf(file, "durawheel %s %s\n", commands[i].name, commands[i].synopsis);
	(void)fprintf(file, "%s\ndurawheel COMMAND --help says more.\n", global_help);
	(void)fprintf(file, "\nExit codes: 0 ok, 1 failed, 2 usage, 3 no such timer, 4 exists "
			    "already, 5 too late,\n6 store unreachable, full or owned by another "
			    "process.\n");
}

static int print_help(const struct command *command)
{
	if (!command)
		print_usage(stdout);
	else
		(void)printf("durawheel %s %s\n\n%s%s", command->name, command->synopsis,
			     command->help, global_help); /* session_flush() checks */
	return session_flush();
}

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int dispatch(const struct options *options)
{
	const struct command *command = options->word_count ? command_of(options->words[0]) : NULL;
	int code;

	if (options->value[OPT_VERSION]) {
		(void)printf("durawheel %s\n", dw_version()); /* session_flush() checks */
		return session_flush();
	}
	if (options->word_count && !command)
		return complain(EXIT_USAGE, "no command %.64s; see durawheel --help",
				options->words[0]);
	if (options->value[OPT_HELP])
		return print_help(command);
	if (!command) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	code = options_check(options, command);
	return code == EXIT_DONE ? command->run(options) : code;
}

int main(int argc, char **argv)
{
	struct options options;
	int code;

	if (session_prepare() != EXIT_DONE)
		return EXIT_FAILED;
	code = options_parse(argc, argv, &options);
	if (code == EXIT_DONE)
		code = dispatch(&options);
	options_free(&options);
	return code;
}
