#include "cli/out/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/errors.h"

size_t data_max(const char *journal)
{
	return journal ? DW_DATA_MAX - 1024 : DW_DATA_MAX;
}

/* read_file reads the whole file, at most DW_DATA_MAX bytes. The caller frees *ret_data. Returns
 * EXIT_DONE, or complains. */
static int read_file(int fd, const char *name, void **ret_data, size_t *ret_size)
{
	size_t capacity = (size_t)DW_DATA_MAX + 1, size = 0;
	char *data = malloc(capacity);
	ssize_t got = -1;
	int code = EXIT_DONE;

	if (!data)
		return complain(EXIT_FAILED, "out of memory");
	while (size < capacity) {
		got = read(fd, data + size, capacity - size);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	if (size == capacity)
		code =
		    complain(EXIT_FAILED, "%.300s has more than %d bytes, the most a timer carries",
			     name, DW_DATA_MAX);
	else if (got < 0)
		code = complain(EXIT_FAILED, "cannot read %.300s: %s", name, strerror(errno));
	if (code != EXIT_DONE) {
		free(data);
		return code;
	}
	*ret_data = data;
	*ret_size = size;
	return EXIT_DONE;
}

static int check_size(const struct options *options, const char *command, const dw_timer *timer)
{
	size_t most = data_max(options->value[OPT_JOURNAL]);

	if (timer->data_size <= most)
		return EXIT_DONE;
	return complain(EXIT_USAGE, "%s: the data has %zu bytes: at most %zu%s", command,
			timer->data_size, most,
			options->value[OPT_JOURNAL] ? " with --journal" : "");
}

int data_of_options(const struct options *options, const char *command, dw_timer *timer,
		    void **ret_file)
{
	const char *text = options->value[OPT_DATA];
	const char *name = options->value[OPT_DATA_FILE];
	int fd, code;

	if (text && name)
		return complain(EXIT_USAGE, "%s: write one of --data and --data-file", command);
	if (text) {
		timer->data = text;
		timer->data_size = strlen(text);
	}
	if (!name)
		return check_size(options, command, timer);
	fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain(EXIT_FAILED, "cannot open %.300s: %s", name, strerror(errno));
	code = read_file(fd, fd == STDIN_FILENO ? "stdin" : name, ret_file, &timer->data_size);
	timer->data = *ret_file;
	if (fd != STDIN_FILENO)
		(void)close(fd); /* the file was only read */
	return code == EXIT_DONE ? check_size(options, command, timer) : code;
}
