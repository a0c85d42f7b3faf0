/* durawheel import: adds a timer for each line of a stream.
 *
 * The number and the bytes of unanswered timers are bounded, and the stream is read only while
 * there is room. So the use of memory does not depend on the length of the stream. A line counts as
 * imported once the store has confirmed it. After a kill, the same import may therefore be repeated
 * if its lines have ids. On SIGINT, SIGTERM or SIGHUP the import stops reading. It stores and
 * counts the lines already read; then the signal has its usual effect. */
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

/* A line that the store has not answered yet. */
struct slot {
	struct import *import;
	struct slot *next; /* the next free slot */
	uint64_t line;
	size_t bytes;
};

struct import {
	dw *d;
	struct reader reader;
	struct progress progress;
	struct slot *slots; /* an array of OUTSTANDING_MAX */
	struct slot *free;
	size_t outstanding;
	size_t outstanding_bytes;
	uint64_t imported;
	uint64_t refused;
	int signal_fd;
	int signal;       /* the signal that has ended the reading; 0: none */
	sigset_t signals; /* the signal mask before open_signals() */
	int code;         /* EXIT_STORE once the store has failed: no more timers are sent */
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

/* interrupt takes the signal and restores the signal mask. If the store is slow, the next signal
 * ends the process. */
static int interrupt(struct import *import)
{
	struct signalfd_siginfo signal;

	if (read(import->signal_fd, &signal, sizeof signal) == (ssize_t)sizeof signal)
		import->signal = (int)signal.ssi_signo;
	(void)sigprocmask(SIG_SETMASK, &import->signals, NULL); /* cannot fail for this set */
	progress_clear(&import->progress);
	return complain(EXIT_FAILED,
			"interrupted after line %" PRIu64
			": import again to add the rest; a line with an id stays one timer",
			import->reader.number);
}

/* turn waits at most patience_ms for the store, for a signal, and for fd unless fd is -1.
 * *ret_ready says whether fd has something to read. EXIT_DONE, or complains. */
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
		(void)dw_turn(import->d); /* dw_turn() fails only inside a callback */
	if (fds[2].revents)
		return interrupt(import);
	*ret_ready = fds[0].revents != 0;
	draw(import);
	return import->code;
}

/* wait_for_room turns until the store has answered enough timers. */
static int wait_for_room(struct import *import)
{
	int code = import->code;
	bool ready;

	while (code == EXIT_DONE && (import->outstanding == OUTSTANDING_MAX ||
				     import->outstanding_bytes > OUTSTANDING_BYTES_MAX))
		code = turn(import, -1, PATIENCE_MS, &ready);
	return code;
}

/* wait_for_bytes turns until the stream has more bytes, and reads them. */
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

/* import_lines imports lines until the stream ends, or until an error that is worse than a bad
 * line. */
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
			(void)dw_turn(import->d); /* dw_turn() fails only inside a callback */
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

/* import_stream allocates memory and imports all lines. The handle must be open. */
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

/* open_signals blocks the signals that would end the program and opens a signalfd for them. It is
 * called before the library starts threads, which would otherwise take the signals. */
static bool open_signals(struct import *import)
{
	sigset_t set;

	(void)sigemptyset(&set); /* cannot fail for these signals */
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
	/* Closing answers the outstanding timers, so the counts are printed after it. */
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
	(void)close(import.signal_fd); /* no writes can be lost */
	if (fd != STDIN_FILENO)
		(void)close(fd); /* no writes can be lost */
	if (import.signal != 0)
		(void)raise(import.signal); /* so that a loop in the calling shell ends too */
	return code;
}
