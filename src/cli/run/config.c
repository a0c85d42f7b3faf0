#include "cli/run/config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/config_file.h"
#include "cli/out/errors.h"
#include "cli/run/log.h"
#include "cli/out/nearest.h"
#include "cli/run/outage.h"
#include "cli/run/program.h"
#include "cli/run/run_batch.h"
#include "cli/run/run_exec.h"
#include "cli/run/run_stop.h"
#include "cli/out/text.h"
#include "cli/out/words.h"

/* The keys of the file: options, and two keys that only a topic has. */
enum { KEY_SHELL = OPTION_COUNT, KEY_LINE, KEY_COUNT };

enum section { SECTION_NONE, SECTION_RUN, SECTION_TOPIC, SECTION_UNKNOWN };

/* The state while the file is read. */
struct draft {
	const char *path;
	struct config *config;
	char place[384]; /* the place for the next message */
	size_t fault_count;
	enum section section;
	size_t section_line;
	size_t run_line;         /* the line of [run]; 0 before that line was read */
	char *values[KEY_COUNT]; /* the values in this section */
	size_t lines[KEY_COUNT]; /* the lines of these values */
	char topic[DW_TOPIC_MAX + 1];
};

static void point_at(struct draft *draft, size_t line)
{
	(void)snprintf(draft->place, sizeof draft->place, "%.300s:%zu: ", draft->path,
		       line); /* the text always fits */
	complain_about(draft->place);
}

/* count_fault counts a fault if `code` is not EXIT_DONE. Then a reader of options has found and
 * reported the fault. */
static void count_fault(struct draft *draft, int code)
{
	draft->fault_count += code != EXIT_DONE;
	complain_about(NULL);
}

#define FAULT(draft, line, ...)                                                                    \
	do {                                                                                       \
		point_at(draft, line);                                                             \
		count_fault(draft, complain(EXIT_USAGE, __VA_ARGS__));                             \
	} while (0)

/* ---- Keys ---------------------------------------------------------------------------------- */

static const char *key_name(int key)
{
	return key == KEY_SHELL  ? "shell"
	       : key == KEY_LINE ? "line"
				 : options_key((enum option_id)key);
}

static bool is_key_of(int key, enum section section)
{
	if (key >= OPTION_COUNT)
		return section == SECTION_TOPIC;
	return options_key_of((enum option_id)key) ==
	       (section == SECTION_TOPIC ? KEY_OF_TOPIC : KEY_OF_RUN);
}

/* find_key returns the key of a name. Returns KEY_COUNT if the section has no such key, after a
 * complaint. */
static int find_key(struct draft *draft, size_t line, const char *key)
{
	struct nearest nearest;

	nearest_begin(&nearest, key, strlen(key));
	for (int i = 0; i < KEY_COUNT; i++) {
		if (!is_key_of(i, draft->section))
			continue;
		if (strcmp(key_name(i), key) == 0)
			return i;
		nearest_try(&nearest, key_name(i));
	}
	if (nearest.name)
		FAULT(draft, line, "no key %.64s; did you mean %s?", presentable(key),
		      nearest.name);
	else
		FAULT(draft, line, "no key %.64s in %s; see man durawheel.conf", presentable(key),
		      draft->section == SECTION_RUN ? "[run]" : "a topic");
	return KEY_COUNT;
}

/* is_path returns true if the value is a path. Nearly any text is a valid path, so no check would
 * notice a comment after the value. */
static bool is_path(int key)
{
	return key == OPT_STORE || key == OPT_JOURNAL || key == OPT_TOKEN_FILE;
}

/* has_comment returns true if a word of the value begins like a comment. */
static bool has_comment(const char *value)
{
	for (size_t i = 1; value[0] && value[i]; i++)
		if (strchr("#;", value[i]) && strchr(" \t", value[i - 1]))
			return true;
	return false;
}

static void draft_key(size_t line, const char *key, const char *value, void *user)
{
	struct draft *draft = user;
	int found;

	if (draft->section == SECTION_NONE)
		FAULT(draft, line, "%.64s stands in no section: write [run] or [topic NAME] above",
		      presentable(key));
	if (draft->section == SECTION_NONE || draft->section == SECTION_UNKNOWN)
		return;
	found = find_key(draft, line, key);
	if (found == KEY_COUNT)
		return;
	if (draft->values[found]) {
		FAULT(draft, line, "%s is given twice: it stands in line %zu, too", key,
		      draft->lines[found]);
		return;
	}
	draft->values[found] = strdup(value);
	draft->lines[found] = line;
	if (is_path(found) && has_comment(value))
		warn("%.300s:%zu: a comment needs a line of its own: it is part of the value of %s",
		     draft->path, line, key);
	if (!draft->values[found])
		FAULT(draft, line, "out of memory");
	else if (!*value)
		FAULT(draft, line, "%s has no value", key);
}

static void draft_fault(size_t line, const char *why, void *user)
{
	FAULT((struct draft *)user, line, "%s", why);
}

/* read_flag returns true for "yes" and false for "no". It complains about anything else. */
static bool read_flag(struct draft *draft, int key)
{
	const char *value = draft->values[key];

	if (!value || strcmp(value, "no") == 0)
		return false;
	if (strcmp(value, "yes") != 0 && *value)
		FAULT(draft, draft->lines[key], "%s \"%.64s\": write yes or no", key_name(key),
		      value);
	return true;
}

/* ---- A topic ------------------------------------------------------------------------------- */

/* check_command complains if the command does not exist. A path must name a program, and any other
 * word must be a program in PATH. */
static void check_command(struct draft *draft, char *const *words)
{
	size_t line = draft->lines[OPT_EXEC];

	if (program_is_there(words[0]))
		return;
	if (strchr(words[0], '/'))
		FAULT(draft, line, "exec: %.300s is no program that may be run", words[0]);
	else
		FAULT(draft, line, "exec: no program %.300s in PATH: write its whole path",
		      words[0]);
}

static void read_command(struct draft *draft, struct config_topic *topic)
{
	const char *line = draft->values[OPT_EXEC], *fault = "out of memory";

	if (read_flag(draft, KEY_SHELL))
		topic->way.words = *line ? words_of_shell(line) : NULL;
	else
		topic->way.words = words_split(line, &fault);
	if (topic->way.words)
		check_command(draft, topic->way.words);
	else if (*line)
		FAULT(draft, draft->lines[OPT_EXEC], "exec: %s", fault);
}

/* read_value passes one value to the functions that read the options of commands and batches. */
static void read_value(struct draft *draft, struct config_topic *topic, enum option_id id)
{
	struct options only = {0};

	if (!draft->values[id] || !*draft->values[id])
		return;
	only.value[id] = draft->values[id];
	point_at(draft, draft->lines[id]);
	count_fault(draft, run_exec_read_how(&only, &topic->way));
	point_at(draft, draft->lines[id]);
	count_fault(draft, run_batch_read_how(&only, &topic->batch));
}

/* check_needs complains about keys that need another key. */
static void check_needs(struct draft *draft, bool is_line)
{
	static const int of_exec[] = {KEY_SHELL, OPT_JOBS, OPT_TIMEOUT, OPT_EXEC_OUTPUT};

	if (!draft->values[OPT_EXEC] && !is_line)
		FAULT(draft, draft->section_line,
		      "[topic %s]: write exec = COMMAND, or line = yes for a line on stdout",
		      draft->topic);
	else if (draft->values[OPT_EXEC] && is_line)
		FAULT(draft, draft->lines[KEY_LINE], "[topic %s] has exec, too: write one of them",
		      draft->topic);
	for (size_t i = 0; is_line && i < sizeof of_exec / sizeof of_exec[0]; i++)
		if (draft->values[of_exec[i]])
			FAULT(draft, draft->lines[of_exec[i]], "%s is for exec = COMMAND",
			      key_name(of_exec[i]));
	if (draft->values[OPT_WAIT] && !draft->values[OPT_BATCH])
		FAULT(draft, draft->lines[OPT_WAIT], "wait is for batch = N");
	if (draft->values[OPT_BATCH] && strcmp(draft->topic, "*") == 0)
		FAULT(draft, draft->lines[OPT_BATCH],
		      "a batch has one topic: write it into a section [topic NAME]");
}

static struct config_topic *add_topic(struct config *config)
{
	struct config_topic *topics =
	    realloc(config->topics, (config->count + 1) * sizeof *config->topics);

	if (!topics)
		return NULL;
	config->topics = topics;
	return &topics[config->count++];
}

static void end_topic(struct draft *draft)
{
	struct config_topic *topic = add_topic(draft->config);

	if (!topic) {
		FAULT(draft, draft->section_line, "out of memory");
		return;
	}
	*topic = (struct config_topic){.way = run_exec_default(),
				       .batch = {.size = sizeof topic->batch}};
	/* The text always fits. */
	(void)snprintf(topic->name, sizeof topic->name, "%s", draft->topic);
	check_needs(draft, read_flag(draft, KEY_LINE));
	if (draft->values[OPT_EXEC])
		read_command(draft, topic);
	for (enum option_id id = 0; id < OPTION_COUNT; id++)
		read_value(draft, topic, id);
}

/* ---- [run] --------------------------------------------------------------------------------- */

/* check_run_value checks a value as far as possible without the other values. Returns EXIT_DONE, or
 * complains. */
static int check_run_value(const struct options *only, enum option_id id)
{
	dw_options outage = {.size = sizeof outage};

	switch (id) {
	case OPT_NAME:
		return options_check_name("name", only->value[OPT_NAME]);
	case OPT_SHARDS:
		return options_shards(only, &(unsigned){0});
	case OPT_OUTAGE:
	case OPT_LEASE:
		return outage_read(only, &outage);
	case OPT_STOP_PATIENCE:
		return run_stop_read(only, &(dw_usec){0});
	case OPT_LOG:
		return options_log(only, &(enum log_form){0});
	default:
		return EXIT_DONE;
	}
}

static void end_run(struct draft *draft)
{
	for (enum option_id id = 0; id < OPTION_COUNT; id++) {
		struct options only = {0};

		if (!draft->values[id] || !*draft->values[id])
			continue;
		if (!options_takes_value(id)) {
			if (!read_flag(draft, (int)id))
				continue;
			*draft->values[id] = '\0';
		} else {
			only.value[id] = draft->values[id];
			point_at(draft, draft->lines[id]);
			count_fault(draft, check_run_value(&only, id));
		}
		draft->config->values[id] = draft->values[id];
		draft->config->lines[id] = draft->lines[id];
		draft->values[id] = NULL;
	}
}

/* ---- Sections ------------------------------------------------------------------------------ */

static void end_section(struct draft *draft)
{
	if (draft->section == SECTION_TOPIC)
		end_topic(draft);
	else if (draft->section == SECTION_RUN)
		end_run(draft);
	for (size_t i = 0; i < KEY_COUNT; i++) {
		free(draft->values[i]);
		draft->values[i] = NULL;
	}
}

static bool has_topic(const struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->config->count; i++)
		if (strcmp(draft->config->topics[i].name, name) == 0)
			return true;
	return false;
}

static enum section begin_topic(struct draft *draft, const char *name)
{
	size_t line = draft->section_line;

	name += strspn(name, " \t");
	if (!*name || strlen(name) > DW_TOPIC_MAX)
		FAULT(draft, line, "[topic %.80s]: write a name of 1 to %d bytes, or *", name,
		      DW_TOPIC_MAX);
	else if (!text_is_clean(name, strlen(name)))
		FAULT(draft, line, "[topic %s]: write UTF-8 without control characters", name);
	else if (has_topic(draft, name))
		FAULT(draft, line, "[topic %s] is given twice: write it once", name);
	else {
		/* The text always fits. */
		(void)snprintf(draft->topic, sizeof draft->topic, "%s", name);
		return SECTION_TOPIC;
	}
	return SECTION_UNKNOWN;
}

static void draft_section(size_t line, const char *name, void *user)
{
	struct draft *draft = user;

	end_section(draft);
	draft->section_line = line;
	draft->section = SECTION_UNKNOWN;
	if (!name)
		return;
	if (strncmp(name, "topic", 5) == 0 && (name[5] == ' ' || name[5] == '\t')) {
		draft->section = begin_topic(draft, name + 5);
	} else if (strcmp(name, "run") != 0) {
		FAULT(draft, line, "no section [%.80s]: write [topic NAME] or [run]", name);
	} else if (draft->run_line > 0) {
		FAULT(draft, line, "[run] is given twice: it begins in line %zu, too",
		      draft->run_line);
	} else {
		draft->section = SECTION_RUN;
		draft->run_line = line;
	}
}

int config_read(const char *path, struct config *ret_config)
{
	struct draft draft = {.path = path, .config = ret_config};
	struct config_lines lines = {
	    .section = draft_section, .key = draft_key, .fault = draft_fault, .user = &draft};
	int code;

	*ret_config = (struct config){0};
	code = config_file_read(path, &lines);
	end_section(&draft);
	if (code == EXIT_DONE && draft.fault_count == 0 && ret_config->count == 0)
		code = complain(EXIT_USAGE, "%.300s: has no topic: write [topic NAME] or [topic *]",
				path);
	return draft.fault_count > 0 ? EXIT_USAGE : code;
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		free(config->topics[i].way.words);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		free(config->values[i]);
	free(config->topics);
	*config = (struct config){0};
}

int config_options(const struct config *config, struct options *options)
{
	for (enum option_id id = 0; id < OPTION_COUNT; id++)
		if (options->value[id] && options_key_of(id) == KEY_OF_TOPIC)
			return complain(EXIT_USAGE,
					"run: --%s is not for --config FILE: write it into a "
					"section [topic NAME]",
					options_name(id));
	if (options->topic_count > 0)
		return complain(EXIT_USAGE, "run: --topic is not for --config FILE: write a "
					    "section [topic NAME]");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (!options->value[i])
			options->value[i] = config->values[i];
	return EXIT_DONE;
}
