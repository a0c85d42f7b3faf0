/* Signals that a command reads instead of dying by them. */
#ifndef DW_CLI_SIGNALS_H
#define DW_CLI_SIGNALS_H

/* signals_open makes SIGTERM and SIGINT readable, and `besides` and `also` (0: no other one). Call
 * it before the library starts threads, which inherit the signal mask. -1: errno says why not. */
int signals_open(int besides, int also);

#endif
