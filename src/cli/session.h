/* What every command does with the library and with its standard streams. */
#ifndef DW_CLI_SESSION_H
#define DW_CLI_SESSION_H

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* How long a command waits for the store before it gives up. */
#define SESSION_PATIENCE DW_SECONDS(30)

/* session_prepare makes sure that the descriptors 0 to 2 are taken, so that no store's file becomes
 * stdout, and that a closed pipe or a limit on file sizes is an error and not a signal. */
int session_prepare(void);

/* session_open opens the store the options name, with role and hooks as in base. EXIT_DONE, or
 * complains. */
int session_open(const struct options *, dw_options base, dw **ret_dw);

/* session_look is session_open for a command that adds nothing. A file that does not exist is
 * refused and not made. A new namespace is told, as a mistyped name looks like an empty one. */
int session_look(const struct options *, dw_options base, dw **ret_dw);

/* session_sync waits until everything is answered. EXIT_DONE, or complains. */
int session_sync(dw *);

/* session_wait: the same, for what may take as long as it takes. */
int session_wait(dw *);

/* session_turn waits at most patience_ms for work and does it. DW_OK, DW_ETIMEOUT, DW_ESYS. */
int session_turn(dw *, int patience_ms);

/* session_close closes, flushes stdout and returns code, or what went wrong in doing so. */
int session_close(dw *, int code);

/* session_flush: EXIT_DONE if all that was printed is written, else complains. */
int session_flush(void);

/* session_now is the wall clock, session_steady one that nobody sets. */
dw_usec session_now(void);
dw_usec session_steady(void);

/* why is what the library says of its last failure on this handle, or of error. */
const char *why(const dw *, int error);

#endif
