/* Prints the log lines and events of the library on stderr, and no failure twice. A store on a
 * network logs an outage, its reason and its end, and raises events too. Other stores only raise
 * events. */
#ifndef DW_CLI_OUTAGE_H
#define DW_CLI_OUTAGE_H

#include <pthread.h>
#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/durawheel.h"

struct outage {
	pthread_t thread; /* the thread that gets the events */
	char line[DW_MESSAGE_SIZE -
		  8];   /* the beginning of the last line that this thread has logged */
	bool is_logged; /* an outage was logged, so its end will be logged too */
	bool is_away;   /* the store has failed, and is not back */
};

void outage_init(struct outage *);

/* outage_read: --outage and --lease. An exit code; EXIT_DONE: they are in the options. */
int outage_read(const struct options *, dw_options *ret_options);

/* outage_log_line: options.on_log, with a struct outage as user. */
void outage_log_line(dw_log_level, const char *line, void *user);

/* outage_is_logged: has the log told this event already? */
bool outage_is_logged(struct outage *, const dw_event *);

#endif
