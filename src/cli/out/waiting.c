#include "cli/out/waiting.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cli/out/line.h"
#include "cli/session.h"

/* append adds the text to the words of waiting_words(). It cuts a text that is too long. */
static void append(char *words, const char *before, const char *text)
{
	size_t used = strlen(words);

	(void)snprintf(words + used, WAITING_SIZE - used, "%s%s", before, text); /* cut if long */
}

static void append_time(char *words, const char *before, dw_usec time,
			const struct local_zone *zone)
{
	char shown[LOCAL_TEXT_SIZE], distance[TEXT_SPAN_SIZE];

	local_show(zone, time, shown);
	text_distance(time, session_now(), distance);
	append(words, before, shown);
	append(words, *distance ? ", " : "", distance);
}

void waiting_words(const dw_why *found, const struct local_zone *zone, char ret_text[WAITING_SIZE])
{
	ret_text[0] = '\0';
	append(ret_text, "", dw_describe_waits(found->waits)->cause);
	if (*found->detail)
		append(ret_text, ": ", found->detail);
	if (found->until > 0)
		append_time(ret_text, "; until ", found->until, zone);
	if (found->since > 0)
		append_time(ret_text, "; since ", found->since, zone);
}

/* ---- The command --------------------------------------------------------------------------- */

/* put_word adds the text as a word of a shell. The value of an option needs no "-- " before it. */
static size_t put_word(char *to, size_t used, const char *text)
{
	char word[TEXT_SHELL_SIZE];
	const char *shown = text_shell_word(text, word);

	if (to[used - 1] == '=' && strncmp(shown, "-- ", 3) == 0)
		shown += 3;
	return used +
	       (size_t)snprintf(to + used, WAITING_COMMAND_SIZE - used, "%s", shown); /* it fits */
}

/* is_word returns true if the template has the placeholder `word` at `at`. `last` is the character
 * before `at`. */
static bool is_word(const char *at, const char *word, char last)
{
	size_t size = strlen(word);

	return (last == ' ' || last == '=') && strncmp(at, word, size) == 0 &&
	       (at[size] == ' ' || at[size] == '\0');
}

void waiting_command(const dw_why *found, char ret_text[WAITING_COMMAND_SIZE])
{
	const char *at = dw_describe_waits(found->waits)->command;
	size_t used = 0;

	ret_text[0] = '\0';
	if (!*at)
		return;
	used = (size_t)snprintf(ret_text, WAITING_COMMAND_SIZE, "durawheel "); /* it fits */
	while (*at) {
		if (is_word(at, "ID", ret_text[used - 1])) {
			used = put_word(ret_text, used, found->id);
			at += strlen("ID");
		} else if (is_word(at, "TOPIC", ret_text[used - 1])) {
			used = put_word(ret_text, used, found->topic);
			at += strlen("TOPIC");
		} else {
			ret_text[used++] = *at++;
		}
	}
	ret_text[used] = '\0';
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static bool add(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

static bool add_all(json_t *object, const dw_why *found)
{
	char command[WAITING_COMMAND_SIZE];
	bool is_whole = add(object, "waits", json_string(dw_describe_waits(found->waits)->name)) &&
			add(object, "cause", json_string(dw_describe_waits(found->waits)->cause));

	waiting_command(found, command);
	if (found->until > 0)
		is_whole = is_whole && add(object, "until", json_integer(found->until));
	if (found->since > 0)
		is_whole = is_whole && add(object, "since", json_integer(found->since));
	if (*found->detail)
		is_whole = is_whole && add(object, "detail", line_name(found->detail));
	if (*found->who)
		is_whole = is_whole && add(object, "owner", line_name(found->who));
	if (found->shard >= 0)
		is_whole = is_whole && add(object, "shard", json_integer(found->shard));
	return is_whole && add(object, "exact", json_boolean(found->is_exact)) &&
	       add(object, "advice", json_string(dw_describe_waits(found->waits)->advice)) &&
	       add(object, "command", line_name(command));
}

json_t *waiting_object(const dw_why *found)
{
	json_t *object = json_object();

	if (object && !add_all(object, found)) {
		json_decref(object);
		return NULL;
	}
	return object;
}
