/* The forms of `durawheel cancel` that take no ids as arguments. */
#ifndef DW_CLI_CANCEL_WHERE_H
#define DW_CLI_CANCEL_WHERE_H

#include "cli/options.h"

/* cancel_where cancels or counts the timers that the options select. Returns an exit code. */
int cancel_where(const struct options *);

/* cancel_stream cancels the timers whose ids are on stdin, one id a line. Returns an exit code. */
int cancel_stream(const struct options *);

#endif
