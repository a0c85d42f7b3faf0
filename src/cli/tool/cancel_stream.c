/* durawheel cancel -: cancels the timers whose ids are on stdin.
 *
 * It cancels some thousand ids at a time, so its memory does not depend on the length of the
 * stream. On SIGINT, SIGTERM or SIGHUP it stops reading, waits for the answers, and prints how many
 * timers it has cancelled. Then the signal has its usual effect. */
#include "cli/tool/cancel_where.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/out/reader.h"
#include "cli/session.h"
#include "cli/run/signals.h"

enum { AT_ONCE = 4096 };

struct id_stream {
	dw *d;
	struct reader reader;
	size_t count;
	const char *ids[AT_ONCE];
	uint64_t lines[AT_ONCE];
	char room[AT_ONCE][DW_ID_SIZE];
	struct interrupts interrupts;
	uint64_t cancelled, late, absent, failed;
	int code;
};

static void worsen_stream(struct id_stream *stream, int code)
{
	if (code > stream->code)
		stream->code = code;
}

/* fault_of returns why an id was not cancelled. For DW_EINVAL it cancels the id once more, because
 * only the return value of a call sets the library's message. */
static const char *fault_of(const struct id_stream *stream, const char *id, int status)
{
	if (status == DW_EINVAL && dw_cancel(stream->d, id, NULL, NULL) == DW_EINVAL)
		return why(stream->d, status);
	return dw_strerror(status);
}

static void count_result(struct id_stream *stream, size_t i, const dw_result *result)
{
	if (stream->interrupts.signal && result->status == DW_ECLOSED)
		return; /* an id without an answer is not counted */
	switch (result->status) {
	case DW_OK:
		stream->cancelled++;
		return;
	case DW_ELATE:
		stream->late++;
		break;
	case DW_ENOENT:
		stream->absent++;
		break;
	default:
		stream->failed++;
	}
	worsen_stream(stream, complain(exit_of(result->status), "line %" PRIu64 ": %s: %s",
				       stream->lines[i], stream->ids[i],
				       fault_of(stream, stream->ids[i], result->status)));
}

static void stream_answered(dw *d, const dw_result *results, size_t count, void *user)
{
	struct id_stream *stream = user;

	(void)d;
	for (size_t i = 0; i < count; i++)
		count_result(stream, i, &results[i]);
	stream->count = 0;
}

/* turn waits for the store, for a signal, and for fd unless it is -1. It waits until the time
 * `until` at most. *ret_ready says whether fd has something to read. Returns EXIT_DONE, or
 * complains. */
static int turn(struct id_stream *stream, int fd, dw_usec until, bool *ret_ready)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
			       {.fd = dw_fd(stream->d), .events = POLLIN},
			       {.fd = stream->interrupts.fd, .events = POLLIN}};
	dw_usec left = until == DW_NEVER ? 0 : until - session_steady();

	if (left < 0)
		return complain(EXIT_STORE, "the store does not answer: %s",
				dw_strerror(DW_ETIMEOUT));
	if (poll(fds, 3, until == DW_NEVER ? -1 : (int)(left / 1000) + 1) < 0 && errno != EINTR)
		return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
	if (fds[1].revents)
		(void)dw_turn(stream->d); /* dw_turn() fails only inside a callback */
	*ret_ready = fds[0].revents != 0;
	if (!fds[2].revents)
		return EXIT_DONE;
	interrupts_take(&stream->interrupts);
	return EXIT_FAILED;
}

/* send cancels the ids that were read, and waits for the answers. Returns EXIT_DONE, or
 * complains. */
static int send(struct id_stream *stream)
{
	dw_usec until = session_steady() + SESSION_PATIENCE;
	bool ready;
	int status;

	if (stream->count == 0)
		return EXIT_DONE;
	status = dw_cancel_many(stream->d, stream->ids, stream->count, stream_answered, stream);
	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(stream->d, status));
	while (status == EXIT_DONE && stream->count > 0)
		status = turn(stream, -1, until, &ready);
	return status;
}

static int take_id(struct id_stream *stream, const char *line, size_t size)
{
	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (size == 0)
		return EXIT_DONE;
	if (size > DW_ID_MAX || memchr(line, '\0', size)) {
		stream->failed++;
		worsen_stream(stream,
			      complain(EXIT_FAILED,
				       "line %" PRIu64 ": is no id: at most %d bytes, and no NUL",
				       stream->reader.number, DW_ID_MAX));
		return EXIT_DONE;
	}
	memcpy(stream->room[stream->count], line, size);
	stream->room[stream->count][size] = '\0';
	stream->ids[stream->count] = stream->room[stream->count];
	stream->lines[stream->count++] = stream->reader.number;
	return stream->count == AT_ONCE ? send(stream) : EXIT_DONE;
}

/* read_more waits for more bytes of the stream and reads them. Before that it cancels the ids that
 * it has, so that these cancels do not wait for a slow writer. */
static int read_more(struct id_stream *stream)
{
	int code = send(stream);
	bool ready = false;

	while (code == EXIT_DONE && !ready)
		code = turn(stream, stream->reader.fd, DW_NEVER, &ready);
	if (code != EXIT_DONE || reader_fill(&stream->reader))
		return code;
	return complain(EXIT_FAILED, "cannot read line %" PRIu64 ": %s", stream->reader.number + 1,
			strerror(errno));
}

static int cancel_lines(struct id_stream *stream)
{
	int code = EXIT_DONE;

	while (code == EXIT_DONE) {
		const char *line = "";
		size_t size = 0;

		switch (reader_next(&stream->reader, &line, &size)) {
		case READER_END:
			return send(stream);
		case READER_MORE:
			code = read_more(stream);
			break;
		case READER_LONG:
			size = DW_ID_MAX + 1;
			code = take_id(stream, line, size);
			break;
		case READER_LINE:
			code = take_id(stream, line, size);
			break;
		}
	}
	return code;
}

static void print(const struct id_stream *stream, bool json)
{
	if (json)
		(void)printf("{\"cancelled\":%" PRIu64 ",\"late\":%" PRIu64 ",\"absent\":%" PRIu64
			     ",\"failed\":%" PRIu64 "}\n",
			     stream->cancelled, stream->late, stream->absent, stream->failed);
	else
		(void)printf("cancelled %" PRIu64 ", too late %" PRIu64 ", no such timer %" PRIu64
			     ", failed %" PRIu64 "\n",
			     stream->cancelled, stream->late, stream->absent,
			     stream->failed); /* session_close() reports a failed write */
}

/* end_stream closes the handle, which completes the last cancels, and prints the counts. Returns an
 * exit code. */
static int end_stream(struct id_stream *stream, bool json)
{
	if (!stream->interrupts.signal) {
		print(stream, json);
		return session_close(stream->d, stream->code);
	}
	(void)dw_close(stream->d, SESSION_PATIENCE); /* an id without an answer is not counted */
	print(stream, json);
	(void)session_flush(); /* the signal decides the exit code */
	return complain(EXIT_FAILED, "interrupted: run it again to cancel the rest");
}

int cancel_stream(const struct options *options)
{
	struct id_stream *stream = calloc(1, sizeof *stream);
	int code, signal;

	if (!stream || !reader_open(&stream->reader, STDIN_FILENO)) {
		free(stream);
		return complain(EXIT_FAILED, "out of memory");
	}
	if (!interrupts_open(&stream->interrupts))
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	code = session_look(options, (dw_options){.role = DW_CLIENT}, &stream->d);
	if (code == EXIT_DONE) {
		worsen_stream(stream, cancel_lines(stream));
		code = end_stream(stream, options->value[OPT_JSON] != NULL);
	}
	signal = stream->interrupts.signal;
	reader_close(&stream->reader);
	free(stream);
	if (signal)
		(void)raise(signal); /* a loop in the calling shell then ends as well */
	return code;
}
