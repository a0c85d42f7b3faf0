#include "cli/tool/absent.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/ending.h"
#include "cli/out/text.h"

#define NAMES_MAX 400 /* no further topic is named after this number of bytes */

static void append(char *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *words, const char *format, ...)
{
	size_t used = strlen(words);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(words + used, ABSENT_SIZE - used, format, arguments); /* cut if long */
	va_end(arguments);
}

static uint64_t messages_of(const dw_topic_info *topic)
{
	return topic->waiting + topic->taken + topic->later;
}

/* queue_of_token returns a queue if the id looks like a token of one of the queue's messages, for
 * example game.x/17/1. Otherwise it returns NULL. */
static const dw_topic_info *queue_of_token(const char *id, const dw_topic_info *topics,
					   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(topics[i].name);
		const char *own = id + size;

		if (strncmp(id, topics[i].name, size) == 0 && own[0] == '/' &&
		    strchr(own + 1, '/') && strspn(own, "0123456789-/") == strlen(own) &&
		    (topics[i].settings.queue || messages_of(&topics[i]) > 0))
			return &topics[i];
	}
	return NULL;
}

static void append_keeps(const dw_topic_info *topics, size_t count, char *words)
{
	const char *before = " any more; ends are kept of the topics ";

	for (size_t i = 0; i < count && strlen(words) < NAMES_MAX; i++) {
		char span[TEXT_SPAN_SIZE];

		if (topics[i].settings.keep_us == 0)
			continue;
		text_span(topics[i].settings.keep_us, 2, span);
		append(words, "%s%s for %s", before, topics[i].name, span);
		before = ", ";
	}
	append(words, ", and of timers with --keep");
}

static bool has_keeps(const dw_topic_info *topics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (topics[i].settings.keep_us > 0)
			return true;
	return false;
}

/* append_queues names the queues that have messages, and the command that shows the first of
 * them. */
static void append_queues(const dw_topic_info *topics, size_t count, char *words)
{
	const char *before = "; or it is a message, which is not found by its id: the queue ";
	const dw_topic_info *first = NULL;
	size_t limit = strlen(words) + NAMES_MAX;
	char word[TEXT_SHELL_SIZE];

	for (size_t i = 0; i < count && strlen(words) < limit; i++) {
		if (messages_of(&topics[i]) == 0)
			continue;
		append(words, "%s%s has %" PRIu64, before, topics[i].name, messages_of(&topics[i]));
		first = first ? first : &topics[i];
		before = ", ";
	}
	if (first)
		append(words, "; durawheel topic show %s counts them",
		       text_shell_word(first->name, word));
}

void absent_words(const char *id, const dw_topic_info *topics, size_t count,
		  char ret_words[ABSENT_SIZE])
{
	const dw_topic_info *queue = queue_of_token(id, topics, count);
	char word[TEXT_SHELL_SIZE], topic[TEXT_SHELL_SIZE];

	ret_words[0] = '\0';
	if (queue) {
		append(ret_words,
		       "that is the token of a message, and not the id of a timer: durawheel ack "
		       "%s answers it, and durawheel topic show %s counts the messages of its "
		       "queue",
		       text_shell_word(id, word), text_shell_word(queue->name, topic));
		return;
	}
	if (has_keeps(topics, count)) {
		append(ret_words, "no such timer: it never was, or its end is not kept");
		append_keeps(topics, count, ret_words);
	} else {
		append(ret_words, ENDING_ABSENT);
	}
	append_queues(topics, count, ret_words);
}
