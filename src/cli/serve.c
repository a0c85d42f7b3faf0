/* durawheel serve: shows a namespace by HTTP, beside its owner. */
#include "cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/errors.h"
#include "cli/http.h"

#define DEFAULT_ADDRESS "127.0.0.1:8990"

/* open_signals makes SIGTERM and SIGINT readable, before the library starts threads. */
static int open_signals(void)
{
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGTERM) != 0 ||
	    sigaddset(&set, SIGINT) != 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int serve(struct http *http, int signal_fd)
{
	struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
			       {.fd = http_fd(http), .events = POLLIN}};

	while (!fds[0].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
		if (fds[1].revents)
			http_turn(http);
	}
	return EXIT_DONE;
}

int command_serve(const struct options *options)
{
	struct options with_address = *options;
	struct http *http = NULL;
	int signal_fd = open_signals();
	int code;

	if (signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	if (!with_address.value[OPT_HTTP])
		with_address.value[OPT_HTTP] = DEFAULT_ADDRESS;
	code = http_open(&http, &with_address, NULL);
	if (code == EXIT_DONE) {
		code = serve(http, signal_fd);
		http_close(http);
	}
	(void)close(signal_fd); /* no writes can be lost */
	return code;
}
