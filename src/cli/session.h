/* The steps that all commands share: opening and closing the store, waiting, and standard
 * streams. */
#ifndef DW_CLI_SESSION_H
#define DW_CLI_SESSION_H

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* How long a command waits for the store before it gives up. */
#define SESSION_PATIENCE DW_SECONDS(30)

/* session_prepare opens the descriptors 0 to 2 if they are closed, so that no file of the store
 * becomes stdout. It also ignores SIGPIPE and SIGXFSZ, so that a closed pipe or a limit on file
 * sizes is an error instead of a signal. */
int session_prepare(void);

/* session_open opens the store that the options name. base holds the role and the hooks. Returns
 * EXIT_DONE, or complains. */
int session_open(const struct options *, dw_options base, dw **ret_dw);

/* session_check: does the library take the store? It is not opened for longer than that takes, and
 * not made. Returns EXIT_DONE, or complains. */
int session_check(const struct options *);

/* session_log_line prints a line of the library that is for users, as commands do without a log. */
void session_log_line(dw_log_level, const char *line, void *user);

/* session_look is session_open for a command that adds no timers. It refuses a file that does not
 * exist instead of creating it. It reports that a namespace is new, because a mistyped name looks
 * like an empty store. */
int session_look(const struct options *, dw_options base, dw **ret_dw);

/* session_sync waits until every operation is answered, at most SESSION_PATIENCE. Returns
 * EXIT_DONE, or complains. */
int session_sync(dw *);

/* session_wait: the same, without a limit of time. */
int session_wait(dw *);

/* session_turn waits at most patience_ms for work and does it. DW_OK, DW_ETIMEOUT, DW_ESYS. */
int session_turn(dw *, int patience_ms);

/* session_tell_journaled: the journal has it, and Redis not yet. It says so on stderr. */
bool session_tell_journaled(const dw_result *);

/* session_close closes the handle and flushes stdout. Returns code, or the code of an error in
 * doing so. */
int session_close(dw *, int code);

/* session_torn: stdout cannot be written. EXIT_FAILED; it complains, unless the reader of a pipe
 * has left since the command began, as in `list | head`. */
int session_torn(const char *words);

/* session_flush returns EXIT_DONE if all output was written to stdout, else session_torn. */
int session_flush(void);

/* session_name returns the namespace, or the name of the file; no path and no address. */
const char *session_name(const struct options *);

/* session_now is the wall clock. session_steady is the monotonic clock. */
dw_usec session_now(void);
dw_usec session_steady(void);

/* why returns the library's message for its last failure on this handle, or else the text of
 * error. */
const char *why(const dw *, int error);

#endif
