/* durawheel import: a timer for each line of a stream.
 *
 * What is outstanding in the store is bounded in number and in bytes, and the stream is read only
 * while there is room, so that memory does not depend on its length. A line counts as imported only
 * when the store has confirmed it; so whatever a kill interrupts, the same import with ids may be
 * repeated. SIGINT, SIGTERM and SIGHUP end the reading; what was read is stored, and counted,
 * before the signal has its usual effect.
 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
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
	int signal_fd;
	int signal;       /* that has ended the reading; 0: none did */
	sigset_t signals; /* those that were blocked before */
	int code;         /* EXIT_STORE once the store has failed: nothing more is asked of it */
};

static void refuse(struct import *import, uint64_t line, const char *message)
{
	import->refused++;
	progress_clear(&import->progress);
	(void)complain(EXIT_FAILED, "line %" PRIu64 ": %s", line, message);
}

static void import_answered(dw *d, const dw_result *result, void *user)
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
	status = dw_put(import->d, &wish->timer, import_answered, slot);
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

/* interrupt takes the signal. The next one ends the process, if the store should take its time. */
static int interrupt(struct import *import)
{
	struct signalfd_siginfo signal;

	if (read(import->signal_fd, &signal, sizeof signal) == (ssize_t)sizeof signal)
		import->signal = (int)signal.ssi_signo;
	(void)sigprocmask(SIG_SETMASK, &import->signals, NULL); /* cannot fail for such a set */
	progress_clear(&import->progress);
	return complain(EXIT_FAILED,
			"interrupted after line %" PRIu64
			": import again to add the rest; a line with an id stays one timer",
			import->reader.number);
}

/* turn waits at most patience_ms for the store, for a signal, and for fd unless that is -1; whether
 * fd has something to read is *ret_ready. EXIT_DONE, or complains. */
static int turn(struct import *import, int fd, int patience_ms, bool *ret_ready)
{
	struct pollfd fds[] = {
	    {.fd = fd, .events = POLLIN},
	    {.fd = dw_fd(import->d), .events = POLLIN},
	    {.fd = import->signal_fd, .events = POLLIN},
	};
	int count = poll(fds, 3, patience_ms);

	if (count < 0 && errno != EINTR)
		return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
	if (count == 0) {
		progress_clear(&import->progress);
		return complain(EXIT_STORE, "the store does not answer: %s",
				dw_strerror(DW_ETIMEOUT));
	}
	if (fds[1].revents)
		(void)dw_turn(import->d); /* outside of a callback it cannot fail */
	if (fds[2].revents)
		return interrupt(import);
	*ret_ready = fds[0].revents != 0;
	draw(import);
	return import->code;
}

/* wait_for_room turns until the store has answered enough. */
static int wait_for_room(struct import *import)
{
	int code = import->code;
	bool ready;

	while (code == EXIT_DONE && (import->outstanding == OUTSTANDING_MAX ||
				     import->outstanding_bytes > OUTSTANDING_BYTES_MAX))
		code = turn(import, -1, PATIENCE_MS, &ready);
	return code;
}

/* wait_for_bytes turns until the stream has more to read, and reads. */
static int wait_for_bytes(struct import *import)
{
	int code = EXIT_DONE;
	bool ready = false;
	int error;

	while (code == EXIT_DONE && !ready)
		code = turn(import, import->reader.fd, -1, &ready);
	if (code != EXIT_DONE || reader_fill(&import->reader))
		return code;
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

/* open_signals makes the signals readable that end the program, before the library starts threads
 * that would take them. */
static bool open_signals(struct import *import)
{
	sigset_t set;

	(void)sigemptyset(&set); /* these cannot fail for such signals */
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, &import->signals);
	import->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return import->signal_fd >= 0;
}

int command_import(const struct options *options)
{
	const char *name = options->word_count > 1 ? options->words[1] : "-";
	int fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	struct import import = {0};
	int code;

	if (fd < 0)
		return complain(EXIT_FAILED, "cannot open %.300s: %s", name, strerror(errno));
	if (!open_signals(&import))
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
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
	(void)close(import.signal_fd); /* it was only read */
	if (fd != STDIN_FILENO)
		(void)close(fd); /* it was only read */
	if (import.signal != 0)
		(void)raise(import.signal); /* so a shell's loop around us ends, too */
	return code;
}
