/* The table of the commands. The help of each fits on a screen of 24 lines of 80 characters. */
#include "cli/commands.h"

#include <stdint.h>
#include <string.h>

#include "cli/help_operate.h"
#include "cli/help_timers.h"
#include "cli/help_topics.h"
#include "cli/rule.h"
#include "cli/select.h"

static const char help_of_run[] =
    "  {\"id\",\"topic\",\"due\",\"fired\",\"attempt\",\"data\"}    times in us since 1970;\n"
    "                    data_base64 if not UTF-8; of a rule occurrence and missed\n"
    "  --topic T         only these topics; the others wait\n"
    "  --exec CMD        run /bin/sh -c CMD for each: data on stdin, DW_ID, DW_TOPIC,\n"
    "                    DW_DUE, DW_ATTEMPT (DW_OCCURRENCE, DW_MISSED) set. Exit 0:\n"
    "                    done, 100: dead, else retry\n"
    "  --jobs N, --timeout D  so many commands at a time (4); a longer one is retried\n"
    "  --batch N, --wait D    N timers of a topic for each CMD: their lines on stdin\n"
    "  --config FILE     what to run for each topic: man durawheel.conf; with --check\n"
    "                    it is only checked. SIGHUP reads it again, else it stops run\n"
    "  --standby         wait while another process owns the store, then take it over\n"
    "  --until-idle      stop when no timer is left\n"
    "  --journal FILE, --outage fire, --lease D   while Redis is away: man durawheel\n"
    "  --http ADDRESS    as serve, with --token-file, --allow-host, --show-data\n"
    "  --log FORM        text, json or journal, on stderr, with time and level\n"
    "  --exec-output O   stdout of commands is our stderr (default), or our stdout\n"
    "  --stop-patience D how long SIGTERM waits for commands; a second one ends them\n";

#define HTTP_OPTIONS OPT_HTTP, OPT_TOKEN_FILE, OPT_ALLOW_HOST, OPT_SHOW_DATA

const struct command commands[] = {
    {
	.name = "add",
	.summary = "adds a timer, or replaces the one of that id",
	.synopsis = "--topic T [--id ID] (--in D | --at TIME | --every D | --cron C)\n"
		    "    [--data TEXT | --data-file FILE|-] [--late-after DURATION] [--new]\n"
		    "    [--journal FILE]",
	.help = help_of_add,
	.example = "durawheel add --topic order.timeout --id order:42 --in 30m --data 'Ada'",
	.options = OPTIONS(OPT_TOPIC, OPT_ID, OPT_IN, OPT_AT, OPT_DATA, OPT_DATA_FILE,
			   OPT_LATE_AFTER, OPT_NEW, OPT_JOURNAL, OPT_DUE_EARLIEST, OPT_DUE_LATEST,
			   OPT_DATA_FIRST, OPT_WAIT_MAX, OPT_ONCE, OPT_KEEP, RULE_OPTIONS),
	.run = command_add,
    },
    {
	.name = "import",
	.summary = "adds a timer for each line of a file or of stdin",
	.synopsis = "[FILE|-] [--json] [--journal FILE]",
	.help = help_of_import,
	.example = "durawheel import timers.ndjson",
	.options = OPTIONS(OPT_JSON, OPT_JOURNAL),
	.words_max = 1,
	.run = command_import,
    },
    {
	.name = "cancel",
	.summary = "cancels timers: a cancelled timer does not start",
	.synopsis = "ID... | - | SELECTION [--dry-run] [--yes]",
	.help = help_of_cancel,
	.example = "durawheel cancel order:42 order:43",
	.options = OPTIONS(SELECT_OPTIONS, OPT_JOURNAL, OPT_DRY_RUN, OPT_YES, OPT_JSON),
	.words_max = SIZE_MAX,
	.run = command_cancel,
    },
    {
	.name = "move",
	.summary = "gives a timer another deadline; the rest stays",
	.synopsis = "ID (--in DURATION | --at TIME) [--journal FILE]",
	.help = "  --in DURATION     due in 30m, 1h30m, 250us ... from now, or 0\n"
		"  --at TIME         due at RFC 3339 with its offset: 2026-06-01T09:30:00+02:00\n"
		"  --journal FILE    keeps the move while Redis is away; exit 6 then\n"
		"\n"
		"Exit 3: there is no such timer. Exit 5: too late, it is being delivered.\n",
	.example = "durawheel move order:42 --in 1h",
	.options = OPTIONS(OPT_IN, OPT_AT, OPT_JOURNAL),
	.words_min = 1,
	.words_max = 1,
	.run = command_move,
    },
    {
	.name = "show",
	.summary = "shows all of one timer, or how it has ended",
	.synopsis = "ID [--json]",
	.help = help_of_show,
	.example = "durawheel show order:42",
	.options = OPTIONS(OPT_JSON),
	.words_min = 1,
	.words_max = 1,
	.run = command_show,
    },
    {
	.name = "list",
	.summary = "lists timers in the order of their deadlines",
	.synopsis = "[SELECTION] [--recurring] [--limit N] [--json]",
	.help =
	    "  --topic T, --prefix P             only those of one topic; whose ids begin so\n"
	    "  --due-from TIME, --due-before TIME            only those that are due then\n"
	    "  --recurring       only those with a rule, and show the rule\n"
	    "  --limit N         only the first N\n"
	    "  --json            a line of JSON each:\n"
	    "\n"
	    "  {\"id\",\"topic\",\"due\",\"state\",\"attempt\",\"rule\",\"occurrence\",\"data\"}\n"
	    "\n"
	    "import takes these lines: durawheel list --json | durawheel import -\n"
	    "A timer is marked (JSON: \"unknown_zone\") if this machine does not know its time\n"
	    "zone.\n",
	.example = "durawheel list --topic order.timeout --limit 20",
	.options = OPTIONS(SELECT_OPTIONS, OPT_LIMIT, OPT_JSON, OPT_RECURRING),
	.run = command_list,
    },
    {
	.name = "run",
	.summary = "owns the store: prints and settles each timer that is due",
	.synopsis = "[--topic T]... [--exec CMD | --config FILE] [OPTION]...",
	.help = help_of_run,
	.example = "durawheel run --topic mail --exec 'sendmail -t' --timeout 1m",
	.options =
	    OPTIONS(OPT_TOPIC, OPT_UNTIL_IDLE, OPT_EXEC, OPT_EXEC_OUTPUT, OPT_JOBS, OPT_TIMEOUT,
		    OPT_STANDBY, OPT_JOURNAL, OPT_OUTAGE, OPT_LEASE, OPT_BATCH, OPT_WAIT,
		    HTTP_OPTIONS, OPT_CONFIG, OPT_CHECK, OPT_STOP_PATIENCE, OPT_LOG),
	.run = command_run,
    },
    {
	.name = "stats",
	.summary = "shows the counts and the owner; also: top, and by HTTP serve",
	.synopsis = "[--json]",
	.help = "  --json            as a line of JSON:\n"
		"\n"
		"  {\"pending\",\"claimed\",\"dead\",\"next_due\",\"inbox\",\n"
		"   \"owner\",\"owner_since\",\"owner_seen\",\"standby\",\"owner_report\":{...}}\n",
	.example = "durawheel stats",
	.options = OPTIONS(OPT_JSON),
	.run = command_stats,
    },
    {
	.name = "top",
	.summary = "shows timers, topics and the owner in a terminal, again and again",
	.synopsis = "[--every DURATION] [--once]",
	.help = "  --every DURATION  how often, 100ms to 1h (default: 1s)\n"
		"  --once            one picture; so it is, too, where stdout is no terminal\n"
		"\n"
		"q quits, s sorts by what waits, pending, dead or name; arrows and PgUp, PgDn\n"
		"scroll the topics. It reads only, beside any owner. The owner tells its numbers\n"
		"every 2 s, or every 10 s while it is idle.\n",
	.example = "durawheel top --every 500ms",
	.options = OPTIONS(OPT_EVERY, OPT_ONCE),
	.run = command_top,
	.is_beside = true,
    },
    {
	.name = "serve",
	.summary = "shows the timers and their owner by HTTP; changes nothing",
	.synopsis = "[--http ADDRESS] [--token-file FILE] [--allow-host NAME]\n"
		    "    [--show-data] [--log text|json|journal]",
	.help = help_of_serve,
	.example = "durawheel serve --http 127.0.0.1:8990",
	.options = OPTIONS(HTTP_OPTIONS, OPT_LOG),
	.run = command_serve,
	.is_beside = true,
    },
    {
	.name = "dead",
	.summary = "lists, requeues or drops what could not be delivered",
	.synopsis = "list | requeue | drop",
	.help = "A timer is set aside as a dead letter when it was retried 16 times, when 64\n"
		"processes died while it was delivered, when it is later than its --late-after,\n"
		"or when its stored bytes are damaged. Its id is free again. 100,000 letters are\n"
		"kept, for 30 days.\n"
		"\n"
		"  durawheel dead list [--topic T] [--limit N] [--json]\n"
		"  durawheel dead requeue (ID... | --all [--topic T]) [--in D | --at TIME]\n"
		"  durawheel dead drop (ID... | --all [--topic T])\n",
	.example = "durawheel dead list",
	.words_max = 1,
	.run = command_dead,
    },
    {
	.name = "dead list",
	.summary = "lists the dead letters, the oldest first",
	.synopsis = "[--topic T] [--limit N] [--json]",
	.help =
	    "  --topic T         only those of one topic\n"
	    "  --limit N         only the first N\n"
	    "  --json            a line of JSON each:\n"
	    "\n"
	    "  {\"id\",\"topic\",\"reason\",\"at\",\"due\",\"attempt\",\"retries\",\"crashes\",\n"
	    "   \"generation\",\"data\"}\n"
	    "\n"
	    "Reasons: RETRIES, CRASHED, LATE, CORRUPT, GAVE_UP.\n",
	.example = "durawheel dead list --topic mail",
	.options = OPTIONS(OPT_TOPIC, OPT_LIMIT, OPT_JSON),
	.run = command_dead_list,
    },
    {
	.name = "dead requeue",
	.summary = "makes timers of dead letters again",
	.synopsis = "(ID... | --all [--topic T]) [--in DURATION | --at TIME]",
	.help = "  --all             all of them, or all of one topic; prints how many\n"
		"  --in, --at        when they are due; at once\n"
		"\n"
		"An id with several letters: takes the last one. It keeps counting attempts,\n"
		"but its retries start over. Exit 3: no such letter. Exit 4: the id has a\n"
		"timer again.\n",
	.example = "durawheel dead requeue order:42",
	.options = OPTIONS(OPT_ALL, OPT_TOPIC, OPT_IN, OPT_AT),
	.words_max = SIZE_MAX,
	.run = command_dead_requeue,
    },
    {
	.name = "dead drop",
	.summary = "forgets dead letters",
	.synopsis = "(ID... | --all [--topic T])",
	.help = "  --all             all of them, or all of one topic; prints how many\n"
		"\n"
		"If an id has several letters, all are dropped. Exit 3: no such letter.\n",
	.example = "durawheel dead drop order:42",
	.options = OPTIONS(OPT_ALL, OPT_TOPIC),
	.words_max = SIZE_MAX,
	.run = command_dead_drop,
    },
    {
	.name = "topic",
	.summary = "sets, pauses or lists topics; queues: push, take, ack, work",
	.synopsis = "set | list | show | pause | resume | drop",
	.help = help_of_topic,
	.example = "durawheel topic list",
	.words_max = 1,
	.run = command_topic,
    },
    {
	.name = "topic set",
	.summary = "makes or changes the settings of a topic",
	.synopsis = "TOPIC [--queue|--no-queue] [OPTION]...",
	.help = help_of_topic_set,
	.example = "durawheel topic set game.x --queue --max 5000 --expire 3m",
	.options = OPTIONS(OPT_QUEUE, OPT_NO_QUEUE, OPT_MAX, OPT_OVERFLOW, OPT_EXPIRE, OPT_HIDE,
			   OPT_RETRIES, OPT_BACKOFF, OPT_BACKOFF_MAX, OPT_FACTOR, OPT_JITTER,
			   OPT_TIME_LIMIT, OPT_KEEP),
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_set,
    },
    {
	.name = "topic list",
	.summary = "lists topics with settings or timers, and their numbers",
	.synopsis = "[--json]",
	.help = "  --json            a line of JSON each, with all numbers and the settings\n"
		"\n"
		"The numbers of timers are the owner's, of the last 2 s, or 10 s if it is idle.\n"
		"LOST: messages that were dropped or expired.\n",
	.example = "durawheel topic list",
	.options = OPTIONS(OPT_JSON),
	.run = command_topic_list,
    },
    {
	.name = "topic show",
	.summary = "shows the settings and numbers of a topic",
	.synopsis = "TOPIC [--json]",
	.help = "  --json            as a line of JSON, as topic list --json\n"
		"\n"
		"Exit 3: it has no settings and no timers.\n",
	.example = "durawheel topic show game.x",
	.options = OPTIONS(OPT_JSON),
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_show,
    },
    {
	.name = "topic pause",
	.summary = "starts no more timers of a topic, until topic resume",
	.synopsis = "TOPIC [--intake | --intake-only]",
	.help = "  --intake          refuses new timers and messages, too\n"
		"  --intake-only     refuses only these: timers that come due start, or enter\n"
		"                    their queue, and messages are taken\n"
		"\n"
		"Timers that come due wait, and can be cancelled. Nobody takes messages. What\n"
		"runs goes on. The owner follows within about 2 s.\n",
	.example = "durawheel topic pause mail",
	.options = OPTIONS(OPT_INTAKE, OPT_INTAKE_ONLY),
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_pause,
    },
    {
	.name = "topic resume",
	.summary = "ends a pause",
	.synopsis = "TOPIC",
	.help = "",
	.example = "durawheel topic resume mail",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_resume,
    },
    {
	.name = "topic drop",
	.summary = "forgets the settings of a topic; its timers stay",
	.synopsis = "TOPIC",
	.help = "Exit 1: its queue has messages. Exit 3: it has no settings.\n",
	.example = "durawheel topic drop game.x",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_drop,
    },
    {
	.name = "push",
	.summary = "adds messages to the queue of a topic, without a timer",
	.synopsis = "--topic T ([--id ID] [--data TEXT | --data-file FILE|-] | -)",
	.help = "  -                 a message for each line of stdin: {\"id\",\"data\"}, or\n"
		"                    data_base64; both may be left out. Prints how many\n"
		"\n"
		"Exit 3: the topic is no queue. Exit 6: its queue is full (topic set).\n",
	.example = "durawheel push --topic game.x --data '{\"score\":7}'",
	.options = OPTIONS(OPT_TOPIC, OPT_ID, OPT_DATA, OPT_DATA_FILE),
	.words_max = 1,
	.run = command_push,
	.is_beside = true,
    },
    {
	.name = "take",
	.summary = "takes messages of a queue, and hides them",
	.synopsis = "--topic T... [--max N] [--wait DURATION]",
	.help = help_of_take,
	.example = "durawheel take --topic game.x --max 128 --wait 10s",
	.options = OPTIONS(OPT_TOPIC, OPT_MAX, OPT_WAIT),
	.run = command_take,
	.is_beside = true,
    },
    {
	.name = "ack",
	.summary = "answers messages that were taken",
	.synopsis = "(TOKEN... | -) [--retry DURATION | --dead | --touch] [--why TEXT]",
	.help = help_of_ack,
	.example = "durawheel ack game.x/1795478400000-0/1",
	.options = OPTIONS(OPT_RETRY, OPT_DEAD, OPT_WHY, OPT_TOUCH),
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_ack,
	.is_beside = true,
    },
    {
	.name = "work",
	.summary = "takes messages and runs a command for each batch",
	.synopsis = "--topic T... --exec CMD [OPTION]...",
	.help = help_of_work,
	.example = "durawheel work --topic game.x --exec './report.sh' --jobs 2",
	.options = OPTIONS(OPT_TOPIC, OPT_EXEC, OPT_EXEC_OUTPUT, OPT_JOBS, OPT_TIMEOUT, OPT_BATCH,
			   OPT_WAIT, OPT_LOG),
	.run = command_work,
	.is_beside = true,
    },
    {
	.name = "journal",
	.summary = "lists, replays or drops what waits for Redis in a file",
	.synopsis = "list | replay | drop",
	.help = "A program with a journal keeps what it asks for in a file while Redis is away,\n"
		"and gives it to Redis afterwards. After a kill the next program with the file\n"
		"does that, or durawheel journal replay.\n"
		"\n"
		"  durawheel journal list FILE [--json]\n"
		"  durawheel journal replay FILE [--timeout DURATION] [--yes]\n"
		"  durawheel journal drop FILE (ID... | --yes)\n",
	.example = "durawheel journal list orders.journal",
	.words_max = 1,
	.run = command_journal,
    },
    {
	.name = "journal list",
	.summary = "lists what waits in a journal, the oldest first",
	.synopsis = "FILE [--json]",
	.help = "Works while a program has the file.\n"
		"\n"
		"  --json            a line of JSON each:\n"
		"\n"
		"  {\"id\",\"what\",\"namespace\",\"topic\",\"at\",\"due\"}\n"
		"\n"
		"what: put, cancel, move, claim, settle or retry.\n",
	.example = "durawheel journal list orders.journal",
	.options = OPTIONS(OPT_JSON),
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_list,
    },
    {
	.name = "journal replay",
	.summary = "gives Redis what waits in a journal",
	.synopsis = "FILE [--timeout DURATION] [--yes]",
	.help = "  --timeout D       how long to wait for Redis (default: 30s)\n"
		"  --yes             also if the rows were written for another server\n"
		"\n"
		"Exit 1: Redis had something else for a timer; each is named. Exit 6: Redis is\n"
		"away, or another program has the file.\n",
	.example = "durawheel journal replay orders.journal --name orders",
	.options = OPTIONS(OPT_TIMEOUT, OPT_YES),
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_replay,
    },
    {
	.name = "journal drop",
	.summary = "forgets what waits in a journal: Redis never gets it",
	.synopsis = "FILE (ID... | --yes)",
	.help = "  --yes             all of it; prints how many\n"
		"\n"
		"Exit 3: the journal has no such timer. Exit 6: a program has the file.\n",
	.example = "durawheel journal drop orders.journal order:42",
	.options = OPTIONS(OPT_YES),
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_journal_drop,
    },
    {
	.name = "when",
	.summary = "shows when a rule comes next, in UTC and local time",
	.synopsis = "(ID | --cron EXPRESSION | --every DURATION) [--zone Z] [--from T]\n"
		    "    [--until T] [--times N] [--except DATE,...] [--count N] [--json]",
	.help = "  ID                the rule of a stored timer, from its pending occurrence on\n"
		"    --cron EXPRESSION minute hour day month weekday, or with seconds first:\n"
		"                    * 1,15 mon-fri */5 L mon#2 fri#L, or @daily ...\n"
		"  --every DURATION  a period from --from on: 90s, 24h ...\n"
		"  --zone Z          an IANA name, Europe/London (default: UTC)\n"
		"  --from TIME       the first possible moment (default: after now)\n"
		"  --until TIME      the last possible moment; --times N: at most so many\n"
		"  --except DATE,... not on these local dates: 2026-12-25,2026-12-28\n"
		"  --count N         show so many (default: 5)\n"
		"  --jitter D, --missed X, --missed-after D, --missed-age D\n"
		"                    as for add; they change no time here\n"
		"  --json            a line of JSON each: {\"occurrence\",\"local\",\"note\"}\n"
		"\n"
		"If the clock goes forward or back then, a note says what that means.\n",
	.example = "durawheel when --cron '30 1 * * *' --zone Europe/London",
	.options = OPTIONS(RULE_OPTIONS, OPT_COUNT_SHOWN, OPT_JSON),
	.words_max = 1,
	.run = command_when,
    },
    {
	.name = "check",
	.summary = "looks through the store for damage",
	.synopsis = "[--json]",
	.help = "Reads all of it: the file itself, the checksum of every timer and dead letter,\n"
		"states and counts that contradict each other. It repairs nothing, and disturbs\n"
		"no owner. Exit 1: there are flaws; each is named, the first 100. Time zones\n"
		"of timers that this machine does not know are named, and are no flaw.\n"
		"\n"
		"  --json            as a line of JSON:\n"
		"\n"
		"  {\"pending\",\"claimed\",\"dead\",\"inbox\",\"flaw_count\",\n"
		"   \"flaws\":[{\"id\",\"generation\",\"what\"}],\n"
		"   \"unknown_zone_timers\",\"unknown_zones\":[{\"zone\",\"timers\",\"id\"}]}\n",
	.example = "durawheel check",
	.options = OPTIONS(OPT_JSON),
	.run = command_check,
    },
    {
	.name = "purge",
	.summary = "empties the store: every timer, every dead letter",
	.synopsis = "--yes",
	.help = "  --yes             you mean it\n"
		"\n"
		"Exit 6: another process owns the store; stop it first.\n",
	.example = "durawheel purge --yes",
	.options = OPTIONS(OPT_YES),
	.run = command_purge,
    },
    {
	.name = "help",
	.summary = "says more about a command",
	.synopsis = "[COMMAND]",
	.help = "",
	.example = "durawheel help run",
	.words_max = 2,
	.run = command_help,
    },
};
const size_t command_count = sizeof commands / sizeof commands[0];

/* is_named: is name the first word, or the first two words with a space between them? */
static bool is_named(const char *name, const char *const *words, size_t count)
{
	size_t length = strlen(words[0]);

	if (strncmp(name, words[0], length) != 0)
		return false;
	if (name[length] == '\0')
		return true;
	return count > 1 && name[length] == ' ' && strcmp(name + length + 1, words[1]) == 0;
}

const struct command *command_of(const char *const *words, size_t count)
{
	const struct command *found = NULL;

	for (size_t i = 0; i < command_count; i++)
		if (is_named(commands[i].name, words, count))
			found = &commands[i]; /* names of two words come later in the table */
	return found;
}
