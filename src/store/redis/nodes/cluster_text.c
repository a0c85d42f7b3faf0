#include "store/redis/nodes/cluster_text.h"

#include <stdlib.h>
#include <string.h>

enum word { WORD_ID, WORD_ADDRESS, WORD_FLAGS, WORD_MASTER, WORD_PING, WORD_PONG, WORD_EPOCH };

/* next_word returns the text after the first word and its blank. NULL: the line ends there. */
static const char *next_word(const char *text)
{
	text += strcspn(text, " \n");
	return *text == ' ' ? text + 1 : NULL;
}

static bool copy(char *to, size_t size, const char *from, size_t count)
{
	if (count >= size)
		return false;
	memcpy(to, from, count);
	to[count] = '\0';
	return true;
}

static bool has_flag(const char *flags, const char *flag)
{
	size_t size = strlen(flag), left = strcspn(flags, " \n");

	for (const char *at = flags; at < flags + left; at += strcspn(at, ", \n") + 1)
		if (strncmp(at, flag, size) == 0 && strchr(", \n", at[size]))
			return true;
	return false;
}

/* read_address reads HOST:PORT@BUS. The host may have colons. */
static bool read_address(const char *text, struct cluster_line *line)
{
	size_t size = strcspn(text, "@, \n");
	const char *colon = memrchr(text, ':', size);

	return colon && copy(line->host, sizeof line->host, text, (size_t)(colon - text)) &&
	       copy(line->port, sizeof line->port, colon + 1, size - (size_t)(colon + 1 - text));
}

/* skip_words returns the text after this number of words. NULL: the line has fewer words. */
static const char *skip_words(const char *text, unsigned count)
{
	while (text && count-- > 0)
		text = next_word(text);
	return text;
}

static bool read_line(const char *text, struct cluster_line *line)
{
	const char *address = skip_words(text, WORD_ADDRESS);
	const char *flags = skip_words(text, WORD_FLAGS);
	const char *epoch = skip_words(text, WORD_EPOCH);

	if (!epoch || !read_address(address, line) ||
	    !copy(line->id, sizeof line->id, text, strcspn(text, " ")))
		return false;
	line->epoch = strtoull(epoch, NULL, 10);
	line->slots = skip_words(epoch, 2);
	line->is_self = has_flag(flags, "myself");
	line->is_known = !has_flag(flags, "noaddr") && !has_flag(flags, "handshake") &&
			 strtoul(line->port, NULL, 10) > 0;
	line->is_master = has_flag(flags, "master") && line->slots;
	return true;
}

const char *cluster_line_read(const char *text, struct cluster_line *ret_line)
{
	*ret_line = (struct cluster_line){.slots = NULL};
	if (!*text || !read_line(text, ret_line))
		return NULL;
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

bool cluster_line_has(const struct cluster_line *line, unsigned slot)
{
	for (const char *at = line->slots; at; at = next_word(at)) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*at == '[')
			return false; /* after the slots come the slots that move */
		if (*end == '-')
			last = strtoul(end + 1, NULL, 10);
		if (slot >= first && slot <= last)
			return true;
	}
	return false;
}
