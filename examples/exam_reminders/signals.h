/* SIGINT and SIGTERM end the program between two turns. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/* signals_block blocks both signals, so that none is missed. Returns the mask for ppoll(), in which
 * they may come. */
sigset_t signals_block(void);
int signals_stopped(void);

#endif
