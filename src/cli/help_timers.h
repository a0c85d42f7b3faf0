/* The help of the commands that make timers: part of the table in commands.c. */
#ifndef DW_CLI_HELP_TIMERS_H
#define DW_CLI_HELP_TIMERS_H

static const char help_of_add[] =
    "Prints its id once it is stored.\n"
    "\n"
    "  --topic T         topic: it selects the handler\n"
    "  --id ID           its name; without it a unique name is made\n"
    "  --in DURATION     due in 30m, 1.5h, 5min, 250us ... (d h m s ms us), or 0\n"
    "  --at TIME         due at 2026-06-01T09:30:00+02:00, or at seconds since 1970\n"
    "  --every D, --cron 'M H D M W' [--zone Z]      recurring; try: durawheel when\n"
    "  --from TIME, --until TIME, --times N, --except DATES, --jitter D,\n"
    "  --missed once|skip|all, --missed-after D, --missed-age D    see man durawheel\n"
    "  --data TEXT, --data-file FILE     payload, at most 1 MiB; - is stdin\n"
    "  --late-after D    a timer later than this becomes a dead letter\n"
    "  --new, --once     exit 4 if it has a timer; --once: or a kept end (--keep D)\n"
    "  --due-earliest, --due-latest [--wait-max D], --data-first    keeps a part of\n"
    "                    it instead: debounce, throttle; see man durawheel\n"
    "  --journal FILE    keeps it while Redis is away\n";

static const char help_of_cancel[] =
    "A SELECTION cancels all timers for which each of its options holds:\n"
    "\n"
    "  --topic T         those of one topic\n"
    "  --prefix P        those whose ids begin so\n"
    "  --due-from TIME, --due-before TIME   2026-06-01T09:30:00Z, or 5min: from now\n"
    "  --dry-run         only count them\n"
    "  --yes             also if there are more than 1000\n"
    "\n"
    "  -                 the ids are on stdin, one on a line\n"
    "  --json            print the counts as JSON, of a SELECTION and of -\n"
    "  --journal FILE    keeps the cancel of IDs while Redis is away; exit 6 then\n"
    "\n"
    "Exit 3: there is no such timer. Exit 5: too late, it is being delivered.\n"
    "Each timer is tried, and the highest exit code is returned.\n";

static const char help_of_import[] =
    "A line is an object with the keys topic, one of at, in, every and cron, and\n"
    "optionally id, data or data_base64, late_after, keep; with every or cron also\n"
    "zone, from, until, times, jitter, missed, missed_after, missed_age, except, as\n"
    "add has them. rule says all of a rule: \"cron 0 8 * * *; zone Europe/London\".\n"
    "All values are strings, but times. It also takes the lines of list --json, and\n"
    "counts their attempts and retries from zero:\n"
    "\n"
    "  {\"id\":\"order:42\",\"topic\":\"order.timeout\",\"in\":\"30m\",\"data\":\"...\"}\n"
    "  {\"topic\":\"exam.today\",\"cron\":\"0 8 * * *\",\"zone\":\"Europe/London\"}\n"
    "\n"
    "Prints how many lines were imported and refused. A bad line is skipped and named\n"
    "on stderr; then the exit code is 1. An import with ids can be repeated.\n"
    "\n"
    "  --json            print the counts as JSON: {\"imported\",\"refused\"}\n"
    "  --journal FILE    keeps them while Redis is away\n";

static const char help_of_show[] =
    "  --json            as a line of JSON, the keys of list --json\n"
    "\n"
    "Of a recurring timer it shows the pending occurrence, the rule, and the next\n"
    "occurrence; durawheel when ID shows more.\n"
    "\n"
    "Of a timer that has ended it prints how: done, cancelled or dead, when, by\n"
    "which attempt, how late, and by whom. That is kept if the timer or its topic\n"
    "says so: durawheel help add, help topic set. Beside a timer, \"last end\" is\n"
    "that of an earlier one of this id. If no end is kept, it shows the last dead\n"
    "letter of the id, and why it died.\n"
    "\n"
    "Exit 3: there is no such timer. An end may be printed all the same.\n";

#endif
