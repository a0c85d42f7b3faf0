/* What the service manager hears: the protocol of sd_notify(3), which systemd promises to keep.
 *
 * Nothing is sent unless NOTIFY_SOCKET is set. The socket is for this process alone: the variables
 * are removed from the environment, so no command of --exec inherits them. WATCHDOG=1 is sent by
 * service_pass() and by nothing else, so a loop that hangs is noticed. */
#ifndef DW_CLI_SERVICE_H
#define DW_CLI_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct service {
	int fd;           /* -1: nobody listens */
	dw_usec watchdog; /* half of the manager's time-out; 0: none */
	dw_usec alive_at; /* steady: the next WATCHDOG=1 */
	dw_usec tell_at;  /* steady: the next STATUS= */
	bool shows;       /* it has no timers of its own: it is ready at once */
	bool ready;
	bool stopping;
	char state[DW_MESSAGE_SIZE]; /* what dw_health() said last */
	bool asked;                  /* how many timers are stored, since it loads them */
	uint64_t total;              /* the answer; 0: none yet */
};

/* service_open reads the environment. A socket that cannot be used is complained of and ignored. */
void service_open(struct service *);
void service_close(struct service *);

/* service_opening: the store is opened, which may take a while. */
void service_opening(const struct service *);

/* service_stopping: the process ends, at the latest after patience. */
void service_stopping(struct service *, dw_usec patience);

/* service_reloading and service_reloaded: the settings are read again, which takes no time. */
void service_reloading(struct service *);
void service_reloaded(struct service *);

/* service_pass says what is due: that the loop is alive, and the status at each change of what
 * dw_health() says, and every 10 s. Until the program is ready it says the status every second, and
 * that it needs more time. It is ready once its timers are loaded, once the store has said that
 * another process has it, or once the store is away.
 * Call it after each turn. */
void service_pass(struct service *, dw *d);

/* service_wake returns the steady time of the next service_pass(). */
dw_usec service_wake(const struct service *);

#endif
