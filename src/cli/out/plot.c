#include "cli/out/plot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8 }; /* a character has 8 heights or widths */

/* setting returns the value of the environment variable from which setlocale() would take the
 * encoding. */
static const char *setting(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "";
}

/* The console of Linux has no eighths of a block. */
bool plot_has_blocks(void)
{
	const char *term = getenv("TERM");
	const char *locale = setting();

	if (term && (strcmp(term, "linux") == 0 || strcmp(term, "dumb") == 0))
		return false;
	return strstr(locale, "UTF-8") || strstr(locale, "utf8") || strstr(locale, "UTF8") ||
	       strstr(locale, "utf-8");
}

static json_int_t most_of(const json_int_t *counts, size_t count)
{
	json_int_t most = 1;

	for (size_t i = 0; i < count; i++)
		most = counts[i] > most ? counts[i] : most;
	return most;
}

/* steps_of scales a count to steps. The count `most` gets `full` steps, and a count above 0 at
 * least one. */
static size_t steps_of(json_int_t count, json_int_t most, size_t full)
{
	size_t steps;

	if (count <= 0 || most <= 0)
		return 0;
	steps = (size_t)((double)count * (double)full / (double)most + 0.5);
	return steps < 1 ? 1 : steps > full ? full : steps;
}

/* character_of returns the character for a count, or "?" for a count that is not known. */
static const char *character_of(json_int_t count, json_int_t most, bool has_blocks)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

	if (count < 0)
		return "?";
	return (has_blocks ? blocks : ascii)[steps_of(count, most, STEPS)];
}

static char *append(char *end, const char *text)
{
	size_t size = strlen(text);

	memcpy(end, text, size);
	return end + size;
}

const char *plot_row(const json_int_t *counts, size_t count, size_t wide, bool has_blocks,
		     char ret_row[PLOT_ROW_SIZE])
{
	json_int_t most = most_of(counts, count);
	char *end = ret_row;

	assert(count * wide <= PLOT_COUNTS_MAX);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < wide; k++)
			end = append(end, character_of(counts[i], most, has_blocks));
	*end = '\0';
	return ret_row;
}

const char *plot_bar(json_int_t count, json_int_t most, size_t width, bool has_blocks,
		     char ret_bar[PLOT_BAR_SIZE])
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t each = has_blocks ? STEPS : 1;
	char *end = ret_bar;
	size_t steps;

	width = width < PLOT_WIDTH_MAX ? width : PLOT_WIDTH_MAX;
	steps = steps_of(count, most, width * each);
	for (size_t i = 0; i < steps / each; i++)
		end = append(end, has_blocks ? "█" : "#");
	end = append(end, has_blocks ? parts[steps % each] : "");
	*end = '\0';
	return ret_bar;
}
