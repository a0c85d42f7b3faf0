/* The steps that all commands share: opening and closing the store, waiting for answers, and the
 * standard streams. */
#ifndef DW_CLI_SESSION_H
#define DW_CLI_SESSION_H

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* How long a command waits for an answer before it gives up. */
#define SESSION_PATIENCE DW_SECONDS(30)

/* session_prepare opens the descriptors 0 to 2 if they are closed. Otherwise a file of the store
 * could become stdout. It also ignores SIGPIPE and SIGXFSZ, so that a closed pipe or a file-size
 * limit causes an error and no signal. Returns EXIT_DONE or EXIT_FAILED. */
int session_prepare(void);

/* session_open opens the store that the options name. base holds the role and the callbacks. The
 * caller closes *ret_dw with session_close(). Returns EXIT_DONE, or complains. */
int session_open(const struct options *, dw_options base, dw **ret_dw);

/* session_check asks the library whether it accepts the options, without creating or using the
 * store. Returns EXIT_DONE, or complains. */
int session_check(const struct options *);

/* session_log_line prints a line of the library that users should see. It is the on_log callback of
 * commands that have no log. */
void session_log_line(dw_log_level, const char *line, void *user);

/* session_look opens the store for a command that adds no timers. It refuses a file that does not
 * exist. It reports a new namespace, because a mistyped name looks like an empty store. Returns
 * EXIT_DONE, or complains. */
int session_look(const struct options *, dw_options base, dw **ret_dw);

/* session_try opens the store like session_look(). If dw_open() fails, it does not complain, but
 * writes the reason to ret_message. Returns EXIT_DONE, or the exit code of the failure. */
int session_try(const struct options *, dw **ret_dw, char ret_message[DW_MESSAGE_SIZE]);

/* session_sync waits for the answers to all operations, at most SESSION_PATIENCE. Returns
 * EXIT_DONE, or complains. After that time no callback runs any more, so what a callback uses may
 * be freed: later calls fail at once, and session_close() leaves the handle open. */
int session_sync(dw *);

/* session_try_sync does what session_sync() does, but does not complain. Returns the status of
 * dw_sync(). */
int session_try_sync(dw *);

/* session_wait waits for the answers to all operations, without a limit. Returns EXIT_DONE, or
 * complains. */
int session_wait(dw *);

/* session_turn waits at most patience_ms for work, and does it. Returns DW_OK, DW_ETIMEOUT or
 * DW_ESYS. */
int session_turn(dw *, int patience_ms);

/* session_tell_journaled returns true if the operation is in the journal and not yet in Redis. It
 * then says so on stderr. */
bool session_tell_journaled(const dw_result *);

/* session_close closes the handle and flushes stdout. Returns `code`, or another exit code if one
 * of the two fails. */
int session_close(dw *, int code);

/* session_torn reports that stdout cannot be written, and returns EXIT_FAILED. It prints nothing if
 * the reader of the pipe has left since the command began, as in `list | head`. */
int session_torn(const char *words);

/* session_flush writes all buffered output to stdout. Returns EXIT_DONE, or the result of
 * session_torn(). */
int session_flush(void);

/* session_name returns the namespace, or the name of the file. It never contains a path or an
 * address. */
const char *session_name(const struct options *);

/* session_now returns the time of the wall clock. session_steady returns the time of the monotonic
 * clock, which never steps back. */
dw_usec session_now(void);
dw_usec session_steady(void);

/* why returns the library's message about its last failure on this handle. Without a message it
 * returns the text of the error. */
const char *why(const dw *, int error);

/* session_why returns a text for a status. If the status is DW_EFULL and the store is a file, the
 * text also says how much disk space is free and which limit on file sizes applies. That text is in
 * ret_words. */
enum { SESSION_WHY_SIZE = 256 };
const char *session_why(const struct options *, int status, char ret_words[SESSION_WHY_SIZE]);

/* session_store writes a name of the store for a message: its URL, and the namespace if the store
 * can have several. The URL may contain a password, which complain() hides. */
enum { SESSION_STORE_SIZE = 600 };
void session_store(const struct options *, char ret_text[SESSION_STORE_SIZE]);

/* session_file writes the path of a store in a file to ret_path and returns it. Returns NULL if the
 * store is no file. */
const char *session_file(const struct options *, char ret_path[SESSION_STORE_SIZE]);

#endif
