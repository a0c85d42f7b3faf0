/* Writes messages to stderr in the format of --log, for run and serve:
 *
 *	text:    2026-11-24T15:04:05.123Z warn durawheel: redis://10.0.0.5: connection refused
 *	json:    {"time":"2026-11-24T15:04:05.123Z","level":"warn","message":"..."}
 *	journal: <4>redis://10.0.0.5: connection refused
 *
 * The other commands write "durawheel: " and the message.
 *
 * If a warning repeats within 10 s, the repetition is left out. The next time that this warning is
 * written, it says how many were left out. A change of the store's state is always written, for
 * example that the store is unreachable, back, and unreachable again. But several handles of this
 * process report the same change, so only the first of these messages is written. */
#ifndef DW_CLI_LOG_H
#define DW_CLI_LOG_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* The numbers are the levels of syslog(3), which the journal understands. */
enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARN = 4, LOG_LEVEL_INFO = 6 };

/* The order from LOG_TEXT on is that of the words of --log. */
enum log_form { LOG_PLAIN, LOG_TEXT, LOG_JSON, LOG_JOURNAL };

/* log_open chooses the format for the rest of the process. Call it before other threads write. */
void log_open(enum log_form);

/* Which repetitions of a message are left out. */
enum log_repeat {
	LOG_EACH,
	LOG_SELDOM,  /* left out if the same message was written a short time ago */
	LOG_TROUBLE, /* a problem of the store; left out if written since the last LOG_END */
	LOG_END      /* the end of a problem; left out if written since the last LOG_TROUBLE */
};

/* log_write writes a message with one write(). The message must be printable text. In a format of
 * --log it never waits for the reader of stderr: what stderr does not take is lost and counted. Any
 * thread may call it. */
void log_write(enum log_level, enum log_repeat, const char *message);

/* log_form_of_stderr returns LOG_JOURNAL if stderr leads to the journal, else LOG_TEXT. */
enum log_form log_form_of_stderr(void);

#endif
