/* durawheel serve: shows a namespace in a browser. It runs beside the namespace's owner. */
#include "cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "web/http.h"
#include "cli/run/log.h"
#include "cli/opening.h"
#include "cli/run/service.h"
#include "cli/session.h"
#include "cli/run/signals.h"

#define DEFAULT_ADDRESS "127.0.0.1:8990"

static int wait_ms(const struct service *service)
{
	dw_usec wake = service_wake(service), now = session_steady();

	return wake == DW_NEVER ? -1 : wake <= now ? 0 : (int)((wake - now) / 1000 + 1);
}

static int serve(struct http *http, int signal_fd, struct service *service)
{
	struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
			       {.fd = http_fd(http), .events = POLLIN}};

	while (!fds[0].revents) {
		service_pass(service, http_client(http));
		if (poll(fds, 2, wait_ms(service)) < 0 && errno != EINTR)
			return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
		if (fds[1].revents)
			http_turn(http);
	}
	service_stopping(service, SESSION_PATIENCE);
	return EXIT_DONE;
}

int command_serve(const struct options *options)
{
	struct options with_address = *options;
	struct http *http = NULL;
	struct opening opening;
	struct service service;
	enum log_form form;
	int code = options_log(options, &form), signal_fd;

	if (code != EXIT_DONE)
		return code;
	log_open(form);
	signal_fd = signals_open(0, 0);
	if (signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	if (!with_address.value[OPT_HTTP])
		with_address.value[OPT_HTTP] = DEFAULT_ADDRESS;
	opening_begin_plain(&opening);
	code = http_open(&http, &with_address, NULL);
	opening_end(&opening, code == EXIT_DONE);
	if (code == EXIT_DONE) {
		service_open(&service);
		service.shows = true;
		code = serve(http, signal_fd, &service);
		service_close(&service);
		http_close(http);
	}
	(void)close(signal_fd); /* nothing was written to it */
	return code;
}
