/* Signals that a command reads instead of dying by them. */
#ifndef DW_CLI_SIGNALS_H
#define DW_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* signals_open makes SIGTERM and SIGINT readable, and `besides` and `also` (0: no other one). Call
 * it before the library starts threads, which inherit the signal mask. -1: errno says why not. */
int signals_open(int besides, int also);

/* The signals that interrupt a command of many steps, so that it can say how far it came. */
struct interrupts {
	int fd;
	int signal;      /* the one that came; 0: none */
	sigset_t before; /* the signal mask before interrupts_open() */
};

/* interrupts_open makes SIGINT, SIGTERM and SIGHUP readable, but not one that is ignored: under
 * nohup(1) it stays ignored. Call it as early as signals_open(). Returns false if it fails; errno
 * says why not. */
bool interrupts_open(struct interrupts *);

/* interrupts_take takes the signal and restores the signal mask: if the store is slow, the next
 * signal ends the process. */
void interrupts_take(struct interrupts *);

#endif
