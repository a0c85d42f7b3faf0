/* How the command fails: one message on stderr and one exit code.
 *
 * The only place where errors of the library become exit codes, and where anything is written to
 * stderr: whatever is said is masked (no password of a URL) and escaped (no control character of an
 * id reaches a terminal) on this one way out.
 */
#ifndef DW_CLI_ERRORS_H
#define DW_CLI_ERRORS_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_ABSENT = 3, /* no such timer */
	EXIT_EXISTS = 4, /* DW_NEW, and the id is taken */
	EXIT_LATE = 5,   /* the timer is being delivered */
	/* the store is unreachable, full, owned by another process, or of a newer durawheel */
	EXIT_STORE = 6
};

/* exit_of: the exit code of an enum dw_error. */
int exit_of(int error);

/* complain writes "durawheel: ", the message and a newline to stderr in one piece, and returns
 * code, so that a caller can return it in turn. Any thread. */
int complain(int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* presentable: a word that is not where it belongs, for a message: a URL with a password may be. */
const char *presentable(const char *word);

#endif
