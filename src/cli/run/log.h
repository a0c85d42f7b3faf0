/* How run and serve write what they have to say to stderr: --log.
 *
 *	text:    2026-11-24T15:04:05.123Z warn durawheel: redis://10.0.0.5: connection refused
 *	json:    {"time":"2026-11-24T15:04:05.123Z","level":"warn","message":"..."}
 *	journal: <4>redis://10.0.0.5: connection refused
 *
 * The other commands write "durawheel: " and the message. A warning that only repeats within 10 s
 * is left out, and the next one that is written says how often. A change of state is never left
 * out: the store is away, is back, is away. But each of several handles says so, of the same store:
 * then it is written once. */
#ifndef DW_CLI_LOG_H
#define DW_CLI_LOG_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* The numbers are those of syslog(3), which the journal knows. */
enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARN = 4, LOG_LEVEL_INFO = 6 };

enum log_form { LOG_PLAIN, LOG_TEXT, LOG_JSON, LOG_JOURNAL };

/* log_open chooses the form for the rest of the process. Call it before other threads write. */
void log_open(enum log_form);

/* Which messages are left out. */
enum log_repeat {
	LOG_EACH,
	LOG_SELDOM,  /* what was written a short time ago */
	LOG_TROUBLE, /* of the store: the same, if no LOG_END was written since */
	LOG_END      /* of the store's trouble: the same, if no LOG_TROUBLE was written since */
};

/* log_write writes a message, which is printable text, with one write(). Any thread. */
void log_write(enum log_level, enum log_repeat, const char *message);

/* log_form_of returns the form of a name, or that for stderr if name is NULL. -1: there is none. */
int log_form_of(const char *name);

#endif
