/* Failures: one message on stderr and one exit code.
 *
 * Only this file turns errors of the library into exit codes, and only complain() writes messages
 * to stderr. complain() masks passwords in URLs, and escapes control characters, so that no id can
 * send commands to a terminal. */
#ifndef DW_CLI_ERRORS_H
#define DW_CLI_ERRORS_H

#include "durawheel/durawheel.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_ABSENT = 3, /* there is no such timer */
	EXIT_EXISTS = 4, /* with DW_NEW: the id has a timer already */
	EXIT_LATE = 5,   /* the timer is being delivered */
	/* the store is unreachable, full, owned by another process, or written by a newer
	 * durawheel */
	EXIT_STORE = 6
};

/* exit_of returns the exit code of an enum dw_error. */
int exit_of(int error);

/* complain writes the message to stderr with one write(), after "durawheel: " or in the form of
 * --log. Returns code, so that a caller can return it in turn. With EXIT_DONE it is no complaint,
 * but news. Any thread may call it. */
int complain(int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* warn is like complain, for something that went wrong and does not end the command. A repeated
 * warning is left out (cli/run/log.h). warn_each never leaves one out. */
void warn(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
void warn_each(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* tell_store writes a line of the library, which each handle of the process logs for itself. The
 * end of a trouble is news, and no warning. What is not for users is left out. */
void tell_store(dw_log_level, const char *line);

/* complain_about lets each complaint of this thread begin with a place, "FILE:LINE: ", and write
 * the name of an option as the file does: exec_output for --exec-output. NULL ends it. The text
 * must live until then. */
void complain_about(const char *place);

/* presentable returns a misplaced word for a message. A word that may be a URL with a password is
 * replaced. */
const char *presentable(const char *word);

/* mask_passwords takes user and password out of the URLs in the text, in place. */
void mask_passwords(char *text);

#endif
