/* durawheel import: a timer for each line of a stream.
 *
 * What is outstanding in the store is bounded in number and in bytes, and the stream is read only
 * while there is room, so that memory does not depend on its length. A line counts as imported only
 * when the store has confirmed it; so whatever a kill interrupts, the same import with ids may be
 * repeated.
 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/errors.h"
#include "cli/progress.h"
#include "cli/reader.h"
#include "cli/session.h"
#include "cli/wish.h"

enum {
	OUTSTANDING_MAX = 8192,
	OUTSTANDING_BYTES_MAX = 32 * 1024 * 1024,
	LINES_A_TURN = 1024,
	PATIENCE_MS = 30000
};

struct import;

/* A line the store has not answered yet. */
struct slot {
	struct import *import;
	struct slot *next; /* in the list of free ones */
	uint64_t line;
	size_t bytes;
};

struct import {
	dw *d;
	struct reader reader;
	struct progress progress;
	struct slot *slots; /* OUTSTANDING_MAX of them */
	struct slot *free;
	size_t outstanding;
	size_t outstanding_bytes;
	uint64_t imported;
	uint64_t refused;
	int code; /* EXIT_STORE once the store has failed: nothing more is asked of it */
};

static void refuse(struct import *import, uint64_t line, const char *message)
{
	import->refused++;
	progress_clear(&import->progress);
	(void)complain(EXIT_FAILED, "line %" PRIu64 ": %s", line, message);
}

static void answered(dw *d, const dw_result *result, void *user)
{
	struct slot *slot = user;
	struct import *import = slot->import;

	(void)d;
	import->outstanding--;
	import->outstanding_bytes -= slot->bytes;
	slot->next = import->free;
	import->free = slot;
	if (result->status == DW_OK) {
		import->imported++;
		return;
	}
	refuse(import, slot->line, dw_strerror(result->status));
	if (exit_of(result->status) == EXIT_STORE)
		import->code = EXIT_STORE;
}

static void submit(struct import *import, const struct wish *wish)
{
	struct slot *slot = import->free;
	int status;

	slot->line = import->reader.number;
	slot->bytes = wish->timer.data_size;
	status = dw_put(import->d, &wish->timer, answered, slot);
	if (status != DW_OK) {
		refuse(import, slot->line, why(import->d, status));
		return;
	}
	import->free = slot->next;
	import->outstanding++;
	import->outstanding_bytes += slot->bytes;
}

static void take_line(struct import *import, const char *line, size_t size)
{
	struct wish wish;

	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (size == 0)
		return;
	if (wish_read(&wish, line, size, session_now()))
		submit(import, &wish);
	else
		refuse(import, import->reader.number, wish.message);
	wish_free(&wish);
}

static void draw(struct import *import)
{
	progress_draw(&import->progress, import->imported + import->refused, import->reader.taken);
}

/* wait_for_room turns until the store has answered enough. */
static int wait_for_room(struct import *import)
{
	while (import->outstanding == OUTSTANDING_MAX ||
	       import->outstanding_bytes > OUTSTANDING_BYTES_MAX) {
		int status = session_turn(import->d, PATIENCE_MS);

		if (status != DW_OK) {
			progress_clear(&import->progress);
			return complain(exit_of(status), "the store does not answer: %s",
					dw_strerror(status));
		}
		draw(import);
	}
	return import->code;
}

/* wait_for_bytes turns until the stream has more to read, and reads. */
static int wait_for_bytes(struct import *import)
{
	struct pollfd fds[] = {
	    {.fd = import->reader.fd, .events = POLLIN},
	    {.fd = dw_fd(import->d), .events = POLLIN},
	};
	int error;

	do {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
		if (fds[1].revents)
			(void)dw_turn(import->d); /* outside of a callback it cannot fail */
		draw(import);
	} while (!fds[0].revents && import->code == EXIT_DONE);
	if (import->code != EXIT_DONE || reader_fill(&import->reader))
		return import->code;
	error = errno;
	progress_clear(&import->progress);
	return complain(EXIT_FAILED, "cannot read line %" PRIu64 ": %s", import->reader.number + 1,
			strerror(error));
}

/* import_lines takes what the stream has until it ends, or something worse than a bad line. */
static int import_lines(struct import *import)
{
	int code = EXIT_DONE;

	while (code == EXIT_DONE) {
		const char *line;
		size_t size;

		switch (reader_next(&import->reader, &line, &size)) {
		case READER_END:
			return EXIT_DONE;
		case READER_MORE:
			code = wait_for_bytes(import);
			continue;
		case READER_LONG:
			refuse(import, import->reader.number, "is longer than 2 MiB");
			continue;
		case READER_LINE:
			break;
		}
		take_line(import, line, size);
		if (import->reader.number % LINES_A_TURN == 0)
			(void)dw_turn(import->d); /* outside of a callback it cannot fail */
		code = wait_for_room(import);
	}
	return code;
}

static void print_counts(const struct import *import, bool json)
{
	(void)printf(json ? "{\"imported\":%" PRIu64 ",\"refused\":%" PRIu64 "}\n"
			  : "imported %" PRIu64 ", refused %" PRIu64 "\n",
		     import->imported, import->refused); /* session_flush() checks */
}

/* import_stream: memory and lines; the handle is open. */
static int import_stream(struct import *import, int fd)
{
	int code;

	import->slots = calloc(OUTSTANDING_MAX, sizeof *import->slots);
	if (!reader_open(&import->reader, fd) || !import->slots)
		return complain(EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < OUTSTANDING_MAX; i++) {
		import->slots[i] = (struct slot){.import = import, .next = import->free};
		import->free = &import->slots[i];
	}
	progress_begin(&import->progress, fd);
	code = import_lines(import);
	progress_clear(&import->progress);
	if (code == EXIT_STORE)
		(void)complain(code, "stopped after line %" PRIu64, import->reader.number);
	else if (session_sync(import->d) != EXIT_DONE || import->code != EXIT_DONE)
		code = EXIT_STORE;
	return code;
}

int command_import(const struct options *options)
{
	const char *name = options->word_count > 1 ? options->words[1] : "-";
	int fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	struct import import = {0};
	int code;

	if (fd < 0)
		return complain(EXIT_FAILED, "cannot open %.300s: %s", name, strerror(errno));
	code = session_open(options, (dw_options){.role = DW_CLIENT}, &import.d);
	if (code != EXIT_DONE)
		goto out;
	code = import_stream(&import, fd);
	/* Closing answers what is still outstanding, so the counts come after it. */
	if (dw_close(import.d, SESSION_PATIENCE) != DW_OK && code == EXIT_DONE)
		code = complain(EXIT_STORE, "the store did not finish");
	print_counts(&import, options->value[OPT_JSON] != NULL);
	if (code == EXIT_DONE && import.refused > 0)
		code = EXIT_FAILED;
	if (session_flush() != EXIT_DONE && code == EXIT_DONE)
		code = EXIT_FAILED;
	reader_close(&import.reader);
	free(import.slots);
out:
	if (fd != STDIN_FILENO)
		(void)close(fd); /* it was only read */
	return code;
}
