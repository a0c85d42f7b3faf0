/* Prints the log lines and events of the library on stderr, but each failure only once. A store on
 * a network reports an outage, its reason and its end both by log lines and by events. Other stores
 * raise only events. */
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
	bool is_logged; /* the log has reported an outage, so it will also report its end */
	bool is_away;   /* the store is unreachable */
};

void outage_init(struct outage *);

/* outage_read reads --outage and --lease into the library's options. Returns EXIT_DONE, or
 * complains. */
int outage_read(const struct options *, dw_options *ret_options);

/* outage_log_line is the callback options.on_log. `user` must be a struct outage. */
void outage_log_line(dw_log_level, const char *line, void *user);

/* outage_is_logged returns true if a log line has already reported this event. */
bool outage_is_logged(struct outage *, const dw_event *);

#endif
