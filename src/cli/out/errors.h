/* Reports a failure by one message on stderr and one exit code.
 *
 * Only this file turns errors of the library into exit codes, and only complain() writes messages
 * to stderr. complain() masks passwords in URLs. It also escapes control characters, so that an id
 * cannot send commands to a terminal. */
#ifndef DW_CLI_ERRORS_H
#define DW_CLI_ERRORS_H

#include "durawheel/durawheel.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_ABSENT = 3, /* the timer does not exist */
	EXIT_EXISTS = 4, /* with DW_NEW: the id already has a timer */
	EXIT_LATE = 5,   /* the timer is being delivered */
	/* The store is unreachable or full, another process owns it, or a newer durawheel wrote
	 * it. */
	EXIT_STORE = 6
};

/* exit_of returns the exit code for an enum dw_error. */
int exit_of(int error);

/* complain writes the message to stderr with one write(), after "durawheel: " or in the format of
 * --log. With EXIT_DONE the message is information and no error. Returns `code`. Any thread may
 * call it. */
int complain(int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* warn writes a warning about a problem that does not end the command. It leaves out a repeated
 * warning (cli/run/log.h). warn_each writes every warning. */
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

/* tell_store writes a log line of the library. Each handle of the process logs the state of the
 * store, so tell_store leaves out repeated lines. A line about the end of a problem counts as
 * information and not as a warning. Lines that are not for users are dropped. */
void tell_store(dw_log_level, const char *line);

/* complain_about puts a place, "FILE:LINE: ", before each complaint of this thread. Complaints then
 * also write options as the file does: exec_output for --exec-output. complain_about(NULL) ends
 * this. The text must live until then. */
void complain_about(const char *place);

/* presentable returns a misplaced word for a message. If the word may be a URL with a password, it
 * returns a text in its place. */
const char *presentable(const char *word);

/* mask_passwords hides user and password in the URLs of the text, in place. */
void mask_passwords(char *text);

#endif
