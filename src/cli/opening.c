#include "cli/opening.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/out/terminal.h"

enum {
	/* The time without an answer after which a person is told that the command waits. */
	QUIET_MS = 300,
	/* The time after a signal in which the store may still answer. If it does, the command
	 * closes the store in the usual way. */
	GRACE_MS = 200,
};

static bool quits(void)
{
	enum key key;

	do {
		key = terminal_key();
	} while (key != KEY_NONE && key != KEY_QUIT);
	return key == KEY_QUIT;
}

/* signal_of returns the number of the signal that arrived. */
static int signal_of(const struct opening *opening)
{
	struct signalfd_siginfo info;

	return read(opening->signal_fd, &info, sizeof info) == (ssize_t)sizeof info
		   ? (int)info.ssi_signo
		   : 0;
}

static void *opening_watch(void *user)
{
	struct opening *opening = user;
	struct pollfd fds[] = {{.fd = opening->over_fd, .events = POLLIN},
			       {.fd = opening->signal_fd, .events = POLLIN},
			       {.fd = opening->name ? STDIN_FILENO : -1, .events = POLLIN}};
	int patience = opening->name ? QUIET_MS : -1;

	while (!fds[0].revents) {
		int count = poll(fds, 3, patience);

		if (count < 0 && errno != EINTR)
			return NULL;
		if (count == 0) {
			(void)complain(EXIT_DONE, "%s: waiting for the store to answer; q quits",
				       opening->name);
			patience = -1;
		}
		if (count > 0 && fds[1].revents && poll(fds, 1, GRACE_MS) == 0)
			opening->end(signal_of(opening), opening->user);
		if (count > 0 && fds[2].revents && (!(fds[2].revents & POLLIN) || quits()))
			opening->end(0, opening->user);
	}
	return NULL;
}

void opening_begin(struct opening *opening, const int *signals, size_t count)
{
	sigset_t set;

	opening->runs = false;
	(void)sigemptyset(&set); /* cannot fail for these signals */
	for (size_t i = 0; i < count; i++)
		(void)sigaddset(&set, signals[i]);
	opening->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	opening->over_fd = eventfd(0, EFD_CLOEXEC);
	if (opening->signal_fd >= 0 && opening->over_fd >= 0)
		opening->runs = pthread_create(&opening->thread, NULL, opening_watch, opening) == 0;
}

static void end_plain(int signal, void *user)
{
	(void)signal;
	(void)user;
	(void)complain(EXIT_DONE, "stopped before the store answered");
	_exit(EXIT_DONE);
}

void opening_begin_plain(struct opening *opening)
{
	static const int signals[] = {SIGTERM, SIGINT};

	*opening = (struct opening){.end = end_plain};
	opening_begin(opening, signals, 2);
}

void opening_end(struct opening *opening, bool opened)
{
	uint64_t one = 1;
	int signal;

	if (opening->runs) {
		/* An eventfd accepts the write at once. */
		(void)!write(opening->over_fd, &one, sizeof one);
		(void)pthread_join(opening->thread, NULL); /* cannot fail */
	}
	signal = opened ? 0 : signal_of(opening);
	if (signal)
		opening->end(signal, opening->user);
	if (opening->signal_fd >= 0)
		(void)close(opening->signal_fd); /* nothing was written to it */
	if (opening->over_fd >= 0)
		(void)close(opening->over_fd);
}
