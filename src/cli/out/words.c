#include "cli/out/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

/* words_make allocates one block for `count` words and, after them, `size` bytes of text. The
 * caller frees the block. */
static char **words_make(size_t count, size_t size, char **ret_bytes)
{
	char **words = calloc(1, (count + 1) * sizeof *words + size);

	if (words)
		*ret_bytes = (char *)(words + count + 1);
	return words;
}

/* unquote copies the word at *line to *bytes without its quotes. It moves *line and *bytes to the
 * end of the word and of its copy. Returns false if a quote is not closed. */
static bool unquote(const char **line, char **bytes)
{
	const char *at = *line;
	char *out = *bytes;
	char quote = '\0';

	for (; *at && (quote || !strchr(blanks, *at)); at++) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && (*at == '\'' || *at == '"'))
			quote = *at;
		else if (*at == '\\' && quote != '\'' && at[1] && strchr("\\\"' \t", at[1]))
			*out++ = *++at;
		else
			*out++ = *at;
	}
	*out++ = '\0';
	*line = at;
	*bytes = out;
	return quote == '\0';
}

char **words_split(const char *line, const char **ret_fault)
{
	size_t size = strlen(line), count = 0;
	char *bytes = NULL;
	/* Each word takes at least one byte and a NUL. */
	char **words = words_make(size, 2 * size + 1, &bytes);

	*ret_fault = words ? NULL : "out of memory";
	while (!*ret_fault && *(line += strspn(line, blanks))) {
		words[count++] = bytes;
		if (!unquote(&line, &bytes))
			*ret_fault = "a quote has no end";
	}
	if (!*ret_fault && (count == 0 || !*words[0]))
		*ret_fault = "write the command to run";
	if (!*ret_fault)
		return words;
	free(words);
	return NULL;
}

char **words_of_shell(const char *command)
{
	static const char shell[] = "/bin/sh", option[] = "-c";
	size_t size = strlen(command) + 1;
	char *bytes = NULL;
	char **words = words_make(3, sizeof shell + sizeof option + size, &bytes);

	if (!words)
		return NULL;
	words[0] = memcpy(bytes, shell, sizeof shell);
	words[1] = memcpy(words[0] + sizeof shell, option, sizeof option);
	words[2] = memcpy(words[1] + sizeof option, command, size);
	return words;
}
