#include "cli/run/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int relay_open(struct relay *relay, int *ret_writer)
{
	int ends[2];

	*relay = (struct relay){.from = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK); /* cannot fail */
	relay->from = ends[0];
	*ret_writer = ends[1];
	return 0;
}

struct pollfd relay_wants(const struct relay *relay)
{
	if (relay->used > relay->sent)
		return (struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT};
	return (struct pollfd){.fd = relay->from, .events = POLLIN};
}

static bool is_blank(const char *line, size_t size)
{
	while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	return size == 0;
}

static void end_line(struct relay *relay)
{
	if (!is_blank(relay->line, relay->line_size)) {
		memcpy(relay->last, relay->line, relay->line_size);
		relay->last_size = relay->line_size;
	}
	relay->line_size = 0;
}

/* note_lines finds the ends of lines. A '\r' also ends a line, because progress bars use it. */
static void note_lines(struct relay *relay)
{
	for (size_t i = 0; i < relay->used; i++)
		if (relay->bytes[i] == '\n' || relay->bytes[i] == '\r')
			end_line(relay);
		else if (relay->line_size < sizeof relay->line)
			relay->line[relay->line_size++] = relay->bytes[i];
}

static void end(struct relay *relay)
{
	if (relay->from >= 0)
		(void)close(relay->from); /* the pipe was only read */
	relay->from = -1;
	relay->used = relay->sent = 0;
}

/* fill reads from the pipe. Returns false if the pipe is empty, or if the command has closed its
 * end. */
static bool fill(struct relay *relay)
{
	ssize_t count = relay->from < 0 ? 0 : read(relay->from, relay->bytes, sizeof relay->bytes);

	if (count < 0)
		return errno == EINTR;
	if (count == 0)
		end(relay);
	relay->used = (size_t)count;
	relay->sent = 0;
	note_lines(relay);
	return count > 0;
}

/* drain writes to stderr. If stderr has no reader any more, it drops the bytes and reading
 * continues. So the outcome of a command does not depend on who reads its log. */
static void drain(struct relay *relay)
{
	ssize_t count = write(STDERR_FILENO, relay->bytes + relay->sent, relay->used - relay->sent);

	if (count >= 0)
		relay->sent += (size_t)count;
	else if (errno != EINTR && errno != EAGAIN)
		relay->sent = relay->used;
}

bool relay_work(struct relay *relay)
{
	for (;;) {
		struct pollfd wants = relay_wants(relay);

		if (wants.events == POLLIN) {
			if (!fill(relay))
				return true;
		} else if (poll(&wants, 1, 0) > 0) {
			drain(relay);
		} else {
			return false;
		}
	}
}

const char *relay_last(struct relay *relay, size_t *ret_size)
{
	end_line(relay);
	*ret_size = relay->last_size;
	return relay->last;
}

void relay_pass_on(struct relay *relay)
{
	sigset_t none;

	if (relay->from < 0 || fork() != 0)
		return; /* if fork() fails, orphans that still write get SIGPIPE */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)close(STDIN_FILENO);
	(void)close(STDOUT_FILENO);
	while (relay->from >= 0) {
		struct pollfd wants = relay_wants(relay);

		(void)poll(&wants, 1, -1);
		(void)relay_work(relay);
	}
	_exit(0);
}
