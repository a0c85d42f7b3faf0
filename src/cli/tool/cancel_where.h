/* durawheel cancel with options instead of ids. */
#ifndef DW_CLI_CANCEL_WHERE_H
#define DW_CLI_CANCEL_WHERE_H

#include "cli/options.h"

/* cancel_where cancels the timers that the options mean, or counts them. An exit code. */
int cancel_where(const struct options *);

/* cancel_stream cancels the timers whose ids stand on stdin, one on a line. An exit code. */
int cancel_stream(const struct options *);

#endif
