/* durawheel import: adds a timer for each line of a stream.
 *
 * Only a limited number of timers, of a limited size, wait for answers. At the limit the command
 * stops reading until answers arrive. So its memory does not depend on the length of the stream.
 *
 * A line counts as imported once the store has confirmed it. If the command was killed, the same
 * import may be repeated, provided that its lines have ids.
 *
 * On SIGINT, SIGTERM or SIGHUP the import stops reading. It stores and counts the lines that it has
 * read. Then the signal has its usual effect. */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/data.h"
#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/run/progress.h"
#include "cli/out/reader.h"
#include "cli/session.h"
#include "cli/run/signals.h"
#include "cli/out/wish.h"

enum {
	/* The largest number of lines in a pack. */
	PACK_MAX = 512,
	PACKS_MAX = 16,
	OUTSTANDING_BYTES_MAX = 32 * 1024 * 1024,
	PATIENCE_MS = 30000
};

struct import;

/* A pack: lines that the command sends to the store in one call. */
struct pack {
	struct import *import;
	struct pack *next; /* the next free pack */
	size_t count;
	size_t bytes; /* the size of the data in all lines */
	uint64_t lines[PACK_MAX];
	struct wish wishes[PACK_MAX];
};

struct import {
	dw *d;
	const struct options *options;
	const char *zone; /* the zone of times without an offset; NULL: the machine's */
	size_t data_max;  /* the limit for the data of a timer, in bytes */
	struct reader reader;
	struct progress progress;
	struct pack *packs; /* an array of PACKS_MAX packs */
	struct pack *free;
	struct pack *pack; /* the pack that is being filled, or NULL */
	size_t outstanding_bytes;
	uint64_t imported;
	uint64_t refused;
	uint64_t tried; /* imported timers that had been claimed in their old store */
	struct interrupts interrupts;
	int code; /* EXIT_STORE if the store has failed; no more timers are sent */
};

static void refuse(struct import *import, uint64_t line, const char *message)
{
	import->refused++;
	progress_clear(&import->progress);
	(void)complain(EXIT_FAILED, "line %" PRIu64 ": %s", line, message);
}

static void free_pack(struct pack *pack)
{
	struct import *import = pack->import;

	for (size_t i = 0; i < pack->count; i++)
		wish_free(&pack->wishes[i]);
	import->outstanding_bytes -= pack->bytes;
	pack->count = 0;
	pack->bytes = 0;
	pack->next = import->free;
	import->free = pack;
}

/* refuse_line complains about a line that the library has refused. For DW_EINVAL it puts the timer
 * once more, because only the return value of a call sets the library's message. */
static void refuse_line(struct import *import, struct pack *pack, size_t i, int status)
{
	char room[SESSION_WHY_SIZE];

	if (status == DW_EINVAL && wish_never(&pack->wishes[i], session_now())) {
		refuse(import, pack->lines[i], pack->wishes[i].message);
		return;
	}
	if (status == DW_EINVAL)
		status = dw_put(import->d, &pack->wishes[i].timer, NULL, NULL);
	refuse(import, pack->lines[i],
	       status == DW_EINVAL ? why(import->d, status)
				   : session_why(import->options, status, room));
}

static void import_answered(dw *d, const dw_result *results, size_t count, void *user)
{
	struct pack *pack = user;
	struct import *import = pack->import;

	(void)d;
	for (size_t i = 0; i < count; i++) {
		if (results[i].status == DW_OK) {
			import->imported++;
			import->tried += pack->wishes[i].tried;
		} else {
			refuse_line(import, pack, i, results[i].status);
		}
		if (exit_of(results[i].status) == EXIT_STORE)
			import->code = EXIT_STORE;
	}
	free_pack(pack);
}

/* send_pack puts the timers of the pack that is being filled. */
static void send_pack(struct import *import)
{
	struct pack *pack = import->pack;
	dw_timer timers[PACK_MAX];
	int status;

	if (!pack)
		return;
	import->pack = NULL;
	for (size_t i = 0; i < pack->count; i++)
		timers[i] = pack->wishes[i].timer;
	status = dw_put_many(import->d, timers, pack->count, import_answered, pack);
	for (size_t i = 0; status != DW_OK && i < pack->count; i++)
		refuse(import, pack->lines[i], why(import->d, status));
	if (status != DW_OK)
		free_pack(pack);
	else
		(void)dw_turn(import->d); /* dw_turn() fails only inside a callback */
}

/* take_line reads a line into the pack. There must be a free pack. */
static void take_line(struct import *import, const char *line, size_t size)
{
	struct pack *pack = import->pack ? import->pack : import->free;
	struct wish *wish = &pack->wishes[pack->count];
	const struct time_place place = {.now = session_now(), .zone = import->zone};

	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (size == 0)
		return;
	if (!wish_read(wish, line, size, import->data_max, &place)) {
		refuse(import, import->reader.number, wish->message);
		wish_free(wish);
		return;
	}
	if (!import->pack) {
		import->pack = pack;
		import->free = pack->next;
	}
	pack->lines[pack->count++] = import->reader.number;
	pack->bytes += wish->timer.data_size;
	import->outstanding_bytes += wish->timer.data_size;
	if (pack->count == PACK_MAX)
		send_pack(import);
}

static void draw(struct import *import)
{
	progress_draw(&import->progress, import->imported + import->refused, import->reader.taken);
}

static int interrupt(struct import *import)
{
	interrupts_take(&import->interrupts);
	progress_clear(&import->progress);
	return complain(EXIT_FAILED,
			"interrupted after line %" PRIu64
			": import again to add the rest; a line with an id stays one timer",
			import->reader.number);
}

/* turn waits at most patience_ms for the store, for a signal, and for fd unless it is -1.
 * *ret_ready says whether fd has something to read. Returns EXIT_DONE, or complains. */
static int turn(struct import *import, int fd, int patience_ms, bool *ret_ready)
{
	struct pollfd fds[] = {
	    {.fd = fd, .events = POLLIN},
	    {.fd = dw_fd(import->d), .events = POLLIN},
	    {.fd = import->interrupts.fd, .events = POLLIN},
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

/* wait_for_room runs the loop until the limits allow another line. Returns EXIT_DONE, or
 * complains. */
static int wait_for_room(struct import *import)
{
	int code = import->code;
	bool ready;

	if (import->outstanding_bytes > OUTSTANDING_BYTES_MAX)
		send_pack(import);
	while (code == EXIT_DONE && ((!import->free && !import->pack) ||
				     import->outstanding_bytes > OUTSTANDING_BYTES_MAX))
		code = turn(import, -1, PATIENCE_MS, &ready);
	return code;
}

/* wait_for_bytes runs the loop until the stream has more bytes, and reads them. Before that it
 * sends the lines that it has, so that these lines do not wait for a slow stream. Returns
 * EXIT_DONE, or complains. */
static int wait_for_bytes(struct import *import)
{
	int code = EXIT_DONE;
	bool ready = false;
	int error;

	send_pack(import);
	while (code == EXIT_DONE && !ready)
		code = turn(import, import->reader.fd, -1, &ready);
	if (code != EXIT_DONE || reader_fill(&import->reader))
		return code;
	error = errno;
	progress_clear(&import->progress);
	return complain(EXIT_FAILED, "cannot read line %" PRIu64 ": %s", import->reader.number + 1,
			strerror(error));
}

/* import_lines imports all lines. It stops early at a failure other than an invalid line. Returns
 * EXIT_DONE, or complains. */
static int import_lines(struct import *import)
{
	int code = wait_for_room(import);

	while (code == EXIT_DONE) {
		const char *line;
		size_t size;

		switch (reader_next(&import->reader, &line, &size)) {
		case READER_END:
			return EXIT_DONE;
		case READER_MORE:
			code = wait_for_bytes(import);
			break;
		case READER_LONG:
			refuse(import, import->reader.number, "is longer than 2 MiB");
			break;
		case READER_LINE:
			take_line(import, line, size);
			break;
		}
		if (code == EXIT_DONE)
			code = wait_for_room(import);
	}
	return code;
}

static void print_counts(const struct import *import, bool json)
{
	(void)printf(json ? "{\"imported\":%" PRIu64 ",\"refused\":%" PRIu64 "}\n"
			  : "imported %" PRIu64 ", refused %" PRIu64 "\n",
		     /* session_flush() reports a failed write. */
		     import->imported, import->refused);
}

/* tell_tried warns that imported timers start with attempt 0, even if they had been delivered
 * before. */
static void tell_tried(const struct import *import)
{
	if (import->tried > 0)
		warn("%" PRIu64
		     " of them had been delivered or claimed before: attempts and retries "
		     "are counted from zero",
		     import->tried);
}

/* import_stream allocates the memory and imports all lines. The handle must be open. Returns
 * EXIT_DONE, or complains. */
static int import_stream(struct import *import, int fd)
{
	int code;

	import->packs = calloc(PACKS_MAX, sizeof *import->packs);
	if (!reader_open(&import->reader, fd) || !import->packs)
		return complain(EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < PACKS_MAX; i++) {
		import->packs[i].import = import;
		import->packs[i].next = import->free;
		import->free = &import->packs[i];
	}
	progress_begin(&import->progress, fd);
	code = import_lines(import);
	if (code != EXIT_STORE)
		send_pack(import);
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
	struct import import = {.options = options,
				.data_max = data_max(options->value[OPT_JOURNAL]),
				.zone = options->value[OPT_ZONE]};
	int code;

	if (fd < 0)
		return complain(EXIT_FAILED, "cannot open %.300s: %s", name, strerror(errno));
	code = zone_is_known(options);
	if (code != EXIT_DONE)
		return code;
	if (!interrupts_open(&import.interrupts))
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	code = session_open(options, (dw_options){.role = DW_CLIENT}, &import.d);
	if (code != EXIT_DONE)
		goto out;
	code = import_stream(&import, fd);
	/* dw_close() answers the remaining timers, so the counts are printed after it. */
	if (dw_close(import.d, SESSION_PATIENCE) != DW_OK && code == EXIT_DONE)
		code = complain(EXIT_STORE, "the store did not finish");
	print_counts(&import, options->value[OPT_JSON] != NULL);
	tell_tried(&import);
	if (code == EXIT_DONE && import.refused > 0)
		code = EXIT_FAILED;
	if (session_flush() != EXIT_DONE && code == EXIT_DONE)
		code = EXIT_FAILED;
	reader_close(&import.reader);
	if (import.pack)
		free_pack(import.pack);
	free(import.packs);
out:
	(void)close(import.interrupts.fd); /* nothing was written to it */
	if (fd != STDIN_FILENO)
		(void)close(fd); /* the file was only read */
	if (import.interrupts.signal != 0)
		(void)raise(
		    import.interrupts.signal); /* a loop in the calling shell then ends as well */
	return code;
}
