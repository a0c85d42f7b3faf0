/* The library's log lines and its events on stderr, none of them said twice: a store on a network
 * logs that it is lost, why, and that it is back; others tell it by events alone. */
#ifndef DW_CLI_OUTAGE_H
#define DW_CLI_OUTAGE_H

#include <pthread.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

struct outage {
	pthread_t thread;               /* whose events they are */
	char line[DW_MESSAGE_SIZE - 8]; /* how the last that it has logged begins */
	bool is_logged;                 /* the log says when it is over, too */
};

void outage_init(struct outage *);

/* outage_log_line: options.on_log, with a struct outage as user. */
void outage_log_line(dw_log_level, const char *line, void *user);

/* outage_is_logged: that event needs no words any more. */
bool outage_is_logged(struct outage *, const dw_event *);

#endif
