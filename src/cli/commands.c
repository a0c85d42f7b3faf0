/* The table of the commands. options.txt holds their options and their help. Each help text fits on
 * a screen of 24 lines and 80 columns. */
#include "cli/commands.h"

#include <stdint.h>
#include <string.h>

const struct command commands[] = {
    {
	TEXT_OF_ADD,
	.summary = "adds a timer, or replaces the one of that id",
	.example = "durawheel add --topic order.timeout --id order:42 --in 30m --data 'Ada'",
	.run = command_add,
    },
    {
	TEXT_OF_IMPORT,
	.summary = "adds a timer for each line of a file or of stdin",
	.example = "durawheel import timers.ndjson",
	.words_max = 1,
	.run = command_import,
    },
    {
	TEXT_OF_CANCEL,
	.summary = "cancels timers: a cancelled timer does not start",
	.example = "durawheel cancel order:42 order:43",
	.words_max = SIZE_MAX,
	.run = command_cancel,
    },
    {
	TEXT_OF_MOVE,
	.summary = "gives timers another deadline; the rest stays",
	.example = "durawheel move order:42 --in 1h",
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_move,
    },
    {
	TEXT_OF_SHOW,
	.summary = "shows all of a timer, or how it has ended",
	.example = "durawheel show order:42",
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_show,
    },
    {
	TEXT_OF_LIST,
	.summary = "lists timers in the order of their deadlines",
	.example = "durawheel list --topic order.timeout --limit 20",
	.run = command_list,
    },
    {
	TEXT_OF_RUN,
	.summary = "owns the store: prints and settles each timer that is due",
	.example = "durawheel run --topic mail --exec 'sendmail -t' --timeout 1m",
	.run = command_run,
    },
    {
	TEXT_OF_STATS,
	.summary = "shows the counts and the owner",
	.example = "durawheel stats",
	.run = command_stats,
    },
    {
	TEXT_OF_MEMBERS,
	.summary = "shows which processes share a namespace, and their shards",
	.example = "durawheel members",
	.run = command_members,
    },
    {
	TEXT_OF_TOP,
	.summary = "shows timers, topics and the owner in a terminal, live",
	.example = "durawheel top --every 500ms",
	.run = command_top,
    },
    {
	TEXT_OF_SERVE,
	.summary = "shows the timers and their owner by HTTP; changes nothing",
	.example = "durawheel serve --http 127.0.0.1:8990",
	.run = command_serve,
    },
    {
	TEXT_OF_DEAD,
	.summary = "lists, requeues or drops what could not be delivered",
	.example = "durawheel dead list",
	.words_max = 1,
	.run = command_dead,
    },
    {
	TEXT_OF_DEAD_LIST,
	.summary = "lists the dead letters, the oldest first",
	.example = "durawheel dead list --topic mail",
	.run = command_dead_list,
    },
    {
	TEXT_OF_DEAD_REQUEUE,
	.summary = "makes timers of dead letters again",
	.example = "durawheel dead requeue order:42",
	.words_max = SIZE_MAX,
	.run = command_dead_requeue,
    },
    {
	TEXT_OF_DEAD_DROP,
	.summary = "forgets dead letters",
	.example = "durawheel dead drop order:42",
	.words_max = SIZE_MAX,
	.run = command_dead_drop,
    },
    {
	TEXT_OF_TOPIC,
	.summary = "sets, lists, shows, pauses, resumes or drops topics",
	.example = "durawheel topic list",
	.words_max = 1,
	.run = command_topic,
    },
    {
	TEXT_OF_TOPIC_SET,
	.summary = "makes or changes the settings of a topic",
	.example = "durawheel topic set game.x --queue --max 5000 --expire 3m",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_set,
    },
    {
	TEXT_OF_TOPIC_LIST,
	.summary = "lists topics with settings or timers, and their numbers",
	.example = "durawheel topic list",
	.run = command_topic_list,
    },
    {
	TEXT_OF_TOPIC_SHOW,
	.summary = "shows the settings and numbers of a topic",
	.example = "durawheel topic show game.x",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_show,
    },
    {
	TEXT_OF_TOPIC_PAUSE,
	.summary = "starts no more timers of a topic, until topic resume",
	.example = "durawheel topic pause mail",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_pause,
    },
    {
	TEXT_OF_TOPIC_RESUME,
	.summary = "ends a pause",
	.example = "durawheel topic resume mail",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_resume,
    },
    {
	TEXT_OF_TOPIC_DROP,
	.summary = "forgets the settings of a topic; its timers stay",
	.example = "durawheel topic drop game.x",
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_drop,
    },
    {
	TEXT_OF_PUSH,
	.summary = "adds messages to the queue of a topic, without a timer",
	.example = "durawheel push --topic game.x --data '{\"score\":7}'",
	.words_max = 1,
	.run = command_push,
    },
    {
	TEXT_OF_TAKE,
	.summary = "takes messages of a queue, and hides them",
	.example = "durawheel take --topic game.x --max 128 --wait 10s",
	.run = command_take,
    },
    {
	TEXT_OF_ACK,
	.summary = "answers messages that were taken",
	.example = "durawheel ack game.x/1795478400000-0/1",
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_ack,
    },
    {
	TEXT_OF_WORK,
	.summary = "takes messages and runs a command for each batch",
	.example = "durawheel work --topic game.x --exec './report.sh' --jobs 2",
	.run = command_work,
    },
    {
	TEXT_OF_JOURNAL,
	.summary = "lists, replays or drops what waits for Redis in a file",
	.example = "durawheel journal list orders.journal",
	.words_max = 1,
	.run = command_journal,
    },
    {
	TEXT_OF_JOURNAL_LIST,
	.summary = "lists what waits in a journal, the oldest first",
	.example = "durawheel journal list orders.journal",
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_list,
    },
    {
	TEXT_OF_JOURNAL_REPLAY,
	.summary = "gives Redis what waits in a journal",
	.example = "durawheel journal replay orders.journal --name orders",
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_replay,
    },
    {
	TEXT_OF_JOURNAL_DROP,
	.summary = "forgets what waits in a journal: Redis never gets it",
	.example = "durawheel journal drop orders.journal order:42",
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_journal_drop,
    },
    {
	TEXT_OF_WHEN,
	.summary = "shows when a rule comes next, in UTC and local time",
	.example = "durawheel when --cron '30 1 * * *' --zone Europe/London",
	.words_max = 1,
	.run = command_when,
    },
    {
	TEXT_OF_CHECK,
	.summary = "looks through the store for damage",
	.example = "durawheel check",
	.run = command_check,
    },
    {
	TEXT_OF_PURGE,
	.summary = "empties the store: every timer, every dead letter",
	.example = "durawheel purge --yes",
	.run = command_purge,
    },
    {
	TEXT_OF_HELP,
	.summary = "says more about a command",
	.example = "durawheel help run",
	/* This command has no `run`, because it needs this table. main.c calls it. */
	.words_max = 2,
    },
};
const size_t command_count = sizeof commands / sizeof commands[0];

/* is_named returns true if name is the first word, or the first two words with a space between. */
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
			/* The table lists a name of two words after its first word, so the last
			 * match is the longest. */
			found = &commands[i];
	return found;
}
