/* Reports to the service manager by the protocol of sd_notify(3), which systemd promises to keep.
 *
 * Nothing is sent unless NOTIFY_SOCKET is set. Only this process may use the socket, so the
 * variables are removed from the environment and no command of --exec inherits them. Only
 * service_pass() sends WATCHDOG=1, so the manager notices a loop that hangs. */
#ifndef DW_CLI_SERVICE_H
#define DW_CLI_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct service {
	int fd;           /* the socket, or -1 if there is no manager */
	dw_usec watchdog; /* half of the manager's timeout; 0 if it has none */
	dw_usec alive_at; /* the steady time of the next WATCHDOG=1 */
	dw_usec tell_at;  /* the steady time of the next STATUS= */
	bool shows;       /* the program only shows a store, so it is ready at once */
	bool ready;
	bool stopping;
	char state[DW_MESSAGE_SIZE]; /* the last answer of dw_health() */
	bool asked;     /* the store was asked for the number of timers in this loading */
	uint64_t total; /* the number of stored timers; 0 if unknown */
};

/* service_open reads the environment. If the socket cannot be used, it warns and sends nothing. */
void service_open(struct service *);
void service_close(struct service *);

/* service_opening reports that the store is being opened, which may take a while. */
void service_opening(const struct service *);

/* service_stopping reports that the process is going to end, at the latest after `patience`. */
void service_stopping(struct service *, dw_usec patience);

/* service_reloading and service_reloaded report the beginning and the end of reading the settings
 * again. */
void service_reloading(struct service *);
void service_reloaded(struct service *);

/* service_pass sends what is due: WATCHDOG=1, and the status whenever dw_health() changes and every
 * 10 s. Until the program is ready, it sends the status every second and asks for more time. The
 * program is ready once its timers are loaded, once another process owns the store, or once the
 * store is unreachable. Call it after each turn. */
void service_pass(struct service *, dw *d);

/* service_wake returns the steady time of the next service_pass(). */
dw_usec service_wake(const struct service *);

#endif
