#include "cli/errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "durawheel/durawheel.h"

enum { MESSAGE_SIZE = 2048 };

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
	return strpbrk(word, ":@") ? "(a word that is not shown: it may hold a password)" : word;
}

/* mask replaces the text between "//" and the last '@' of a word by one '*'. It takes the last '@',
 * because a password may contain '/' and '@'. */
static void mask(char *text)
{
	char *at = text;

	while ((at = strstr(at, "//"))) {
		size_t length, word;

		at += 2;
		word = strcspn(at, " \t\n\"'");
		for (length = word; length > 0 && at[length - 1] != '@'; length--)
			;
		if (length < 2)
			continue; /* there is no user information */
		memmove(at + 1, at + length - 1, strlen(at + length - 1) + 1);
		*at = '*';
	}
}

int complain(int code, const char *format, ...)
{
	static const char prefix[] = "durawheel: ";
	char message[MESSAGE_SIZE];
	char line[sizeof prefix + MESSAGE_SIZE * TEXT_STEP_SIZE + 1];
	size_t size = sizeof prefix - 1;
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(message, sizeof message, format, arguments) < 0)
		message[0] = '\0';
	va_end(arguments);
	mask(message);
	memcpy(line, prefix, size);
	size += text_escape(message, strlen(message), line + size, sizeof line - size - 1);
	line[size++] = '\n';
	(void)!write(STDERR_FILENO, line, size); /* if stderr fails, nobody can be told */
	return code;
}
