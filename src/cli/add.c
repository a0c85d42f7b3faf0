/* durawheel add: adds one timer, and prints its id once the store has confirmed it. */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/due.h"
#include "cli/errors.h"
#include "cli/session.h"

static int read_late_after(const struct options *options, dw_usec *ret_late_after)
{
	int code;

	if (!options->value[OPT_LATE_AFTER])
		return EXIT_DONE;
	code = options_duration(options, OPT_LATE_AFTER, ret_late_after);
	if (code == EXIT_DONE && *ret_late_after == 0)
		return complain(EXIT_USAGE,
				"--late-after 0 would never deliver: write at least 1us");
	return code;
}

/* read_file reads the whole file, at most DW_DATA_MAX bytes, into a block for free(). */
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

/* read_data reads --data or --data-file. *ret_file becomes a block for free(), or stays NULL. */
static int read_data(const struct options *options, dw_timer *timer, void **ret_file)
{
	const char *text = options->value[OPT_DATA];
	const char *name = options->value[OPT_DATA_FILE];
	int fd, code;

	if (text && name)
		return complain(EXIT_USAGE, "add: write one of --data and --data-file");
	if (text) {
		timer->data = text;
		timer->data_size = strlen(text);
	}
	if (!name)
		return EXIT_DONE;
	fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain(EXIT_FAILED, "cannot open %.300s: %s", name, strerror(errno));
	code = read_file(fd, fd == STDIN_FILENO ? "stdin" : name, ret_file, &timer->data_size);
	timer->data = *ret_file;
	if (fd != STDIN_FILENO)
		(void)close(fd); /* no writes can be lost */
	return code;
}

static void add_answered(dw *d, const dw_result *result, void *user)
{
	int *code = user;

	(void)d;
	if (result->status != DW_OK)
		*code = complain(exit_of(result->status), "%s: %s", result->id,
				 dw_strerror(result->status));
	else if (puts(result->id) >= 0)
		*code = EXIT_DONE; /* if puts() fails, session_flush() complains */
	session_tell_journaled(result);
}

static int store(const struct options *options, const dw_timer *timer)
{
	int code = EXIT_STORE;
	dw *d;
	int status = session_open(options, (dw_options){.role = DW_CLIENT}, &d);

	if (status != EXIT_DONE)
		return status;
	status = dw_put(d, timer, add_answered, &code);
	if (status != DW_OK)
		code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_sync(d); /* if it complains, code stays EXIT_STORE */
	return session_close(d, code);
}

int command_add(const struct options *options)
{
	dw_timer timer = {
	    .size = sizeof timer,
	    .id = options->value[OPT_ID],
	    .topic = options->value[OPT_TOPIC],
	    .flags = options->value[OPT_NEW] ? DW_NEW : 0,
	};
	void *file = NULL;
	int code = EXIT_DONE;

	if (options->topic_count != 1)
		code = complain(EXIT_USAGE, "add: exactly one --topic is required");
	if (code == EXIT_DONE)
		code = due_of_options(options, "add", &timer.due);
	if (code == EXIT_DONE)
		code = read_late_after(options, &timer.late_after_us);
	if (code == EXIT_DONE)
		code = read_data(options, &timer, &file);
	if (code == EXIT_DONE)
		code = store(options, &timer);
	free(file);
	return code;
}
