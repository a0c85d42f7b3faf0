/* Reads a configuration file. libinih splits a line into a key and a value. It gets one line at a
 * time, because it does not report line numbers. We find the sections ourselves, because libinih
 * cuts their names at 49 bytes and ignores empty ones. */
#include "cli/run/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out/errors.h"

enum { FILE_MAX = 1024 * 1024 };

static int cannot_read(const char *path, const char *why)
{
	return complain(EXIT_USAGE, "%.300s: cannot read it: %s", path, why);
}

/* load reads the whole file and ends it with a NUL. The caller frees the text. Returns NULL if it
 * fails; errno has the error. */
static char *load(int fd, size_t *ret_size)
{
	char *bytes = malloc(FILE_MAX + 2);
	ssize_t count = 1;

	*ret_size = 0;
	while (bytes && count > 0 && *ret_size <= FILE_MAX) {
		count = read(fd, bytes + *ret_size, FILE_MAX + 1 - *ret_size);
		*ret_size += count > 0 ? (size_t)count : 0;
	}
	if (bytes && count >= 0) {
		bytes[*ret_size] = '\0';
		return bytes;
	}
	free(bytes);
	return NULL;
}

/* open_and_load uses O_NONBLOCK, so that it refuses a FIFO at once and does not wait for a writer.
 * Returns EXIT_DONE, or complains. */
static int open_and_load(const char *path, char **ret_bytes, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat stat;
	int code = EXIT_DONE;

	if (fd < 0)
		return cannot_read(path, strerror(errno));
	if (fstat(fd, &stat) != 0)
		code = cannot_read(path, strerror(errno));
	else if (!S_ISREG(stat.st_mode))
		code = cannot_read(path, S_ISDIR(stat.st_mode) ? "it is a folder"
							       : "it is not a regular file");
	if (code == EXIT_DONE) {
		*ret_bytes = load(fd, ret_size);
		if (!*ret_bytes)
			code = cannot_read(path, strerror(errno));
	}
	(void)close(fd); /* the file was only read */
	if (code == EXIT_DONE && *ret_size > FILE_MAX)
		code = cannot_read(path, "it has more than 1 MiB");
	return code;
}

/* ---- Lines --------------------------------------------------------------------------------- */

struct line_reading {
	const struct config_lines *lines;
	size_t number;
};

static int take_key(void *user, const char *section, const char *key, const char *value)
{
	const struct line_reading *reading = user;

	(void)section; /* always "", because libinih sees only one line */
	reading->lines->key(reading->number, key, value, reading->lines->user);
	return 1;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r")] == '\0';
}

/* read_section reads a line that begins with '['. */
static void read_section(struct line_reading *reading, char *line)
{
	const struct config_lines *lines = reading->lines;
	char *end = strrchr(line, ']');

	if (!end || !is_blank(end + 1)) {
		lines->section(reading->number, NULL, lines->user);
		lines->fault(reading->number,
			     "a section ends with ]: write [topic NAME] or [run]; a comment has a "
			     "line of its own",
			     lines->user);
		return;
	}
	while (end > line + 1 && strchr(" \t", end[-1]))
		end--;
	*end = '\0';
	lines->section(reading->number, line + 1 + strspn(line + 1, " \t"), lines->user);
}

static void read_line(struct line_reading *reading, char *line, size_t size)
{
	const struct config_lines *lines = reading->lines;
	char *text = line + strspn(line, " \t\r");

	if (strlen(line) < size)
		lines->fault(reading->number, "has a NUL byte: write text", lines->user);
	else if (size >= CONFIG_LINE_MAX)
		lines->fault(reading->number, "is too long: write at most 4095 bytes", lines->user);
	else if (*text == '[')
		read_section(reading, text);
	else if (ini_parse_string(text, take_key, reading) != 0)
		lines->fault(reading->number, "write KEY = VALUE", lines->user);
}

/* set_inih turns off comments after a value, because a command may contain a ';'. */
static void set_inih(void)
{
	ini_allow_inline_comments = false;
	ini_allow_bom = false;
	ini_max_line = CONFIG_LINE_MAX + 3;
}

int config_file_read(const char *path, const struct config_lines *lines)
{
	struct line_reading reading = {.lines = lines};
	char *bytes = NULL;
	size_t size = 0, start = 0;
	int code = open_and_load(path, &bytes, &size);

	set_inih();
	if (code == EXIT_DONE && size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		start = 3; /* skips a byte order mark, which some editors write */
	for (size_t at = start, length; code == EXIT_DONE && at < size; at += length + 1) {
		char *end = memchr(bytes + at, '\n', size - at);

		length = end ? (size_t)(end - bytes) - at : size - at;
		bytes[at + length] = '\0';
		reading.number++;
		read_line(&reading, bytes + at, length);
	}
	free(bytes);
	return code;
}
