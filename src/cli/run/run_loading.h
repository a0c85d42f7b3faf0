/* The part of run that shows on a terminal how many timers are loaded. */
#ifndef DW_CLI_RUN_LOADING_H
#define DW_CLI_RUN_LOADING_H

#include "cli/run/progress.h"
#include "durawheel/durawheel.h"

/* run_loading_begin starts the display. run_loading_show redraws it. run_loading_end removes it. */
void run_loading_begin(struct progress *, dw *);
void run_loading_show(struct progress *, const dw *);
void run_loading_end(struct progress *);

#endif
