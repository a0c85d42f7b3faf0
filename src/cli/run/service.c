#include "cli/run/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/session.h"
#include "durawheel/metrics.h"

#define TELL_EVERY DW_SECONDS(10)
#define TELL_STARTING_EVERY DW_SECONDS(1)
/* After each status the manager waits this long for the next status. */
#define STARTING_PATIENCE DW_SECONDS(60)

static void tell(const struct service *service, const char *words)
{
	/* If the manager reads too slowly, the message is dropped. A later one will arrive. */
	if (service->fd >= 0)
		(void)send(service->fd, words, strlen(words), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* tell_starting says that the program is not ready yet and needs more time. */
static void tell_starting(const struct service *service, const char *words)
{
	char message[DW_MESSAGE_SIZE + 64];

	(void)snprintf(message, sizeof message, "STATUS=%s\nEXTEND_TIMEOUT_USEC=%" PRId64, words,
		       STARTING_PATIENCE); /* the text always fits */
	tell(service, message);
}

/* join connects to the socket. In its name '@' stands for the NUL of an abstract address. */
static int join(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = strlen(path);
	int fd;

	if (size == 0 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
		errno = EINVAL;
		return -1;
	}
	memcpy(address.sun_path, path, size);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) != 0) {
		int error = errno;

		(void)close(fd); /* nothing was written to it */
		errno = error;
		return -1;
	}
	return fd;
}

/* watchdog_of returns half of WATCHDOG_USEC. It returns 0 if WATCHDOG_PID names another process. */
static dw_usec watchdog_of(void)
{
	const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	long long usec = text ? strtoll(text, NULL, 10) : 0;

	if (usec < 2 || usec > DW_DAYS(365) || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return usec / 2;
}

void service_open(struct service *service)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*service = (struct service){.fd = -1};
	if (path) {
		service->fd = join(path);
		if (service->fd < 0)
			warn("NOTIFY_SOCKET \"%.100s\": %s", path, strerror(errno));
		else
			service->watchdog = watchdog_of();
	}
	(void)unsetenv("NOTIFY_SOCKET"); /* unsetenv() cannot fail for these names */
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

void service_close(struct service *service)
{
	if (service->fd >= 0)
		(void)close(service->fd); /* a datagram is either sent or lost */
	service->fd = -1;
}

void service_stopping(struct service *service, dw_usec patience)
{
	char words[96];

	if (service->stopping)
		return;
	service->stopping = true;
	(void)snprintf(words, sizeof words, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRId64,
		       patience); /* the text always fits */
	tell(service, words);
}

void service_reloading(struct service *service)
{
	char words[96];

	(void)snprintf(words, sizeof words, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		       session_steady()); /* the text always fits */
	tell(service, words);
}

/* service_reloaded does nothing if the program is not ready yet. tell_status() reports that
 * later. */
void service_reloaded(struct service *service)
{
	if (service->ready)
		tell(service, "READY=1");
}

void service_opening(const struct service *service)
{
	tell_starting(service, "waiting for the store");
}

/* ---- While it runs ------------------------------------------------------------------------ */

static void total_told(dw *d, int status, const dw_store_status *store, void *user)
{
	struct service *service = user;

	(void)d;
	if (status == DW_OK)
		service->total = store->pending + store->claimed;
}

/* loads returns true if the handle is an owner that has not loaded all of its timers yet. */
static bool loads(const dw *d, int health)
{
	dw_stats stats = {.size = sizeof stats};

	return health == DW_EBUSY && dw_get_stats(d, &stats) == DW_OK && stats.is_owner;
}

/* describe_loading writes how far the loading is. It asks the store once for the number of
 * timers. */
static void describe_loading(struct service *service, dw *d, uint64_t timers, char *ret_words)
{
	if (!service->asked) {
		service->total = 0;
		service->asked = dw_get_status(d, total_told, service) == DW_OK;
	}
	if (service->total >= timers && service->total > 0)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "loading %" PRIu64 " of %" PRIu64 " timers", timers,
			       service->total); /* the text always fits, here and below */
	else
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "loading timers: %" PRIu64 " so far",
			       timers);
}

/* describe writes in words what the program does. `health` is the answer of dw_health(). */
static void describe(struct service *service, dw *d, int health, char *ret_words)
{
	dw_stats stats = {.size = sizeof stats};

	(void)snprintf(ret_words, DW_MESSAGE_SIZE, "%s", service->state);
	if (service->shows && health == DW_OK)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "serving");
	if (service->shows || dw_get_stats(d, &stats) != DW_OK)
		return;
	if (loads(d, health)) {
		describe_loading(service, d, stats.timers, ret_words);
		return;
	}
	service->asked = false;
	if (health == DW_OK)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "%" PRIu64 " timer%s; %" PRIu64 " fired, %" PRIu64 " dead",
			       stats.timers, stats.timers == 1 ? "" : "s", stats.fired,
			       stats.dead); /* the text always fits */
}

/* has_started returns true if all timers are loaded, or another process owns the store. An
 * unreachable store also counts, so that nobody waits for the start in an outage. Only a program
 * with a journal can open in that state, and it recovers by itself. */
static bool has_started(int health)
{
	return health != DW_EBUSY && health != DW_ETIMEOUT;
}

/* tell_status sends the status. It also reports once that the program is ready. Until then it asks
 * for more time. */
static void tell_status(struct service *service, dw *d, int health)
{
	char words[DW_MESSAGE_SIZE], message[DW_MESSAGE_SIZE + 64];

	describe(service, d, health, words);
	if (!service->ready && !service->shows && !has_started(health)) {
		tell_starting(service, words);
		return;
	}
	(void)snprintf(message, sizeof message, "%sSTATUS=%s", service->ready ? "" : "READY=1\n",
		       words); /* the text always fits */
	tell(service, message);
	service->ready = true;
}

/* has_changed stores what dw_health() says now. Returns true if the words have changed. */
static bool has_changed(struct service *service, const dw *d, int *ret_health)
{
	char state[DW_MESSAGE_SIZE];

	*ret_health = dw_health(d, state);
	if (strcmp(service->state, state) == 0)
		return false;
	/* The text always fits. */
	(void)snprintf(service->state, sizeof service->state, "%s", state);
	return true;
}

void service_pass(struct service *service, dw *d)
{
	int health;
	dw_usec now;

	if (service->fd < 0)
		return;
	now = session_steady();
	if (service->watchdog > 0 && now >= service->alive_at) {
		tell(service, "WATCHDOG=1");
		service->alive_at = now + service->watchdog;
	}
	if (service->stopping || (!has_changed(service, d, &health) && now < service->tell_at))
		return;
	tell_status(service, d, health);
	service->tell_at = now + (service->ready ? TELL_EVERY : TELL_STARTING_EVERY);
}

dw_usec service_wake(const struct service *service)
{
	dw_usec wake = DW_NEVER;

	if (service->fd < 0)
		return DW_NEVER;
	if (service->watchdog > 0)
		wake = service->alive_at;
	return !service->stopping && service->tell_at < wake ? service->tell_at : wake;
}
