#include "cli/out/errors.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/log.h"
#include "cli/out/text.h"
#include "durawheel/durawheel.h"

enum { MESSAGE_SIZE = 2048, PLACE_SIZE = 512 };

int exit_of(int error)
{
	switch (error) {
	case DW_OK:
		return EXIT_DONE;
	case DW_EINVAL:
		return EXIT_USAGE;
	case DW_ENOENT:
		return EXIT_ABSENT;
	case DW_EEXIST:
		return EXIT_EXISTS;
	case DW_ELATE:
	case DW_ESTALE:
		return EXIT_LATE;
	case DW_ESTORE:
	case DW_EUNKNOWN:
	case DW_EOWNED:
	case DW_ECLOSED:
	case DW_ETIMEOUT:
	case DW_EFULL:
	case DW_EGONE:
	case DW_EFENCED:
	case DW_ENEWER:
	case DW_EPAUSED:
		return EXIT_STORE;
	default:
		return EXIT_FAILED;
	}
}

const char *presentable(const char *word)
{
	return strchr(word, '@') || strstr(word, "://")
		   ? "(a word that is not shown: it may hold a password)"
		   : word;
}

/* mask_passwords replaces the text between "//" and the last '@' of a word by one '*'. The last '@'
 * counts, because a password may contain '/' and '@'. */
void mask_passwords(char *text)
{
	char *at = text;

	while ((at = strstr(at, "//"))) {
		size_t length, word;

		at += 2;
		word = strcspn(at, " \t\n\"'");
		for (length = word; length > 0 && at[length - 1] != '@'; length--)
			;
		if (length < 2)
			continue; /* the word has no user and no password */
		memmove(at + 1, at + length - 1, strlen(at + length - 1) + 1);
		*at = '*';
	}
}

static _Thread_local const char *place_of_fault;

void complain_about(const char *place)
{
	place_of_fault = place;
}

/* as_keys turns each "--exec-output" in a message into "exec_output". It changes the text in
 * place. */
static const char *as_keys(char *message)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	char *end = message;

	for (char *at = message; *at;) {
		bool is_option = (at == message || at[-1] == ' ') && strncmp(at, "--", 2) == 0;
		size_t length = is_option ? 2 + strspn(at + 2, letters) : 1;

		for (size_t i = is_option ? 2 : 0; i < length; i++)
			*end++ = is_option && at[i] == '-' ? '_' : at[i];
		at += length;
	}
	*end = '\0';
	return message;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 0)))
#endif
static void
speak(enum log_level level, enum log_repeat repeat, const char *format, va_list arguments)
{
	char message[MESSAGE_SIZE], placed[MESSAGE_SIZE + PLACE_SIZE];
	char line[sizeof placed * TEXT_STEP_SIZE];

	if (vsnprintf(message, sizeof message, format, arguments) < 0)
		message[0] = '\0';
	if (place_of_fault)
		(void)snprintf(placed, sizeof placed, "%.*s%s", PLACE_SIZE - 1, place_of_fault,
			       as_keys(message)); /* the text always fits */
	else
		(void)snprintf(placed, sizeof placed, "%s", message); /* the text always fits */
	mask_passwords(placed);
	(void)text_escape(placed, strlen(placed), line, sizeof line);
	log_write(level, repeat, line);
}

int complain(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	speak(code == EXIT_DONE ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR, LOG_EACH, format, arguments);
	va_end(arguments);
	return code;
}

void warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	speak(LOG_LEVEL_WARN, LOG_SELDOM, format, arguments);
	va_end(arguments);
}

void warn_each(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	speak(LOG_LEVEL_WARN, LOG_EACH, format, arguments);
	va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static void speak_words(enum log_level level,
							      enum log_repeat repeat,
							      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	speak(level, repeat, format, arguments);
	va_end(arguments);
}

/* is_end returns true if the line reports the end of a problem. */
static bool is_end(const char *line)
{
	static const char *const ends[] = {": connected", " takes changes again", " away any more",
					   " is back"};
	size_t size = strlen(line);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t end = strlen(ends[i]);

		if (size >= end && strcmp(line + size - end, ends[i]) == 0)
			return true;
	}
	return false;
}

void tell_store(dw_log_level level, const char *line)
{
	if (level > DW_LOG_WARN)
		return;
	if (level == DW_LOG_WARN && is_end(line))
		speak_words(LOG_LEVEL_INFO, LOG_END, "%s", line);
	else
		speak_words(level == DW_LOG_WARN ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR, LOG_TROUBLE,
			    "%s", line);
}
