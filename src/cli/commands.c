/* The table of the commands. options.txt holds their options and their help. Each help text fits on
 * a screen of 24 lines and 80 columns. */
#include "cli/commands.h"

#include <stdint.h>
#include <string.h>

const struct command commands[] = {
    {
	TEXT_OF_ADD,
	.run = command_add,
    },
    {
	TEXT_OF_IMPORT,
	.words_max = 1,
	.run = command_import,
    },
    {
	TEXT_OF_CANCEL,
	.words_max = SIZE_MAX,
	.run = command_cancel,
    },
    {
	TEXT_OF_MOVE,
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_move,
    },
    {
	TEXT_OF_SHOW,
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_show,
    },
    {
	TEXT_OF_WHY,
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_why,
    },
    {
	TEXT_OF_LIST,
	.run = command_list,
    },
    {
	TEXT_OF_RUN,
	.run = command_run,
    },
    {
	TEXT_OF_STATS,
	.run = command_stats,
    },
    {
	TEXT_OF_MEMBERS,
	.run = command_members,
    },
    {
	TEXT_OF_TOP,
	.run = command_top,
    },
    {
	TEXT_OF_SERVE,
	.run = command_serve,
    },
    {
	TEXT_OF_DEAD,
	.words_max = 1,
	.run = command_dead,
    },
    {
	TEXT_OF_DEAD_LIST,
	.run = command_dead_list,
    },
    {
	TEXT_OF_DEAD_REQUEUE,
	.words_max = SIZE_MAX,
	.run = command_dead_requeue,
    },
    {
	TEXT_OF_DEAD_DROP,
	.words_max = SIZE_MAX,
	.run = command_dead_drop,
    },
    {
	TEXT_OF_TOPIC,
	.words_max = 1,
	.run = command_topic,
    },
    {
	TEXT_OF_TOPIC_SET,
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_set,
    },
    {
	TEXT_OF_TOPIC_LIST,
	.run = command_topic_list,
    },
    {
	TEXT_OF_TOPIC_SHOW,
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_show,
    },
    {
	TEXT_OF_TOPIC_PAUSE,
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_pause,
    },
    {
	TEXT_OF_TOPIC_RESUME,
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_resume,
    },
    {
	TEXT_OF_TOPIC_DROP,
	.words_min = 1,
	.words_max = 1,
	.run = command_topic_drop,
    },
    {
	TEXT_OF_PUSH,
	.words_max = 1,
	.run = command_push,
    },
    {
	TEXT_OF_TAKE,
	.run = command_take,
    },
    {
	TEXT_OF_ACK,
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_ack,
    },
    {
	TEXT_OF_WORK,
	.run = command_work,
    },
    {
	TEXT_OF_JOURNAL,
	.words_max = 1,
	.run = command_journal,
    },
    {
	TEXT_OF_JOURNAL_LIST,
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_list,
    },
    {
	TEXT_OF_JOURNAL_REPLAY,
	.words_min = 1,
	.words_max = 1,
	.run = command_journal_replay,
    },
    {
	TEXT_OF_JOURNAL_DROP,
	.words_min = 1,
	.words_max = SIZE_MAX,
	.run = command_journal_drop,
    },
    {
	TEXT_OF_WHEN,
	.words_max = 1,
	.run = command_when,
    },
    {
	TEXT_OF_CHECK,
	.run = command_check,
    },
    {
	TEXT_OF_DOCTOR,
	.run = command_doctor,
    },
    {
	TEXT_OF_PURGE,
	.run = command_purge,
    },
    {
	TEXT_OF_HELP,
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
