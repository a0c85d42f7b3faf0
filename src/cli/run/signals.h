/* Makes signals readable for a command that should not die from them. */
#ifndef DW_CLI_SIGNALS_H
#define DW_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* signals_open makes SIGTERM and SIGINT readable, and also the signals `besides` and `also` unless
 * they are 0. Call it before the library starts threads, because they inherit the signal mask.
 * Returns a descriptor, or -1 with errno set. */
int signals_open(int besides, int also);

/* The signals that interrupt a command with many steps. The command can then report its
 * progress. */
struct interrupts {
	int fd;
	int signal;      /* the signal that arrived; 0 if none did */
	sigset_t before; /* the signal mask before interrupts_open() */
};

/* interrupts_open makes SIGINT, SIGTERM and SIGHUP readable. An ignored signal stays ignored, as
 * under nohup(1). Call it before the library starts threads. Returns false if it fails; errno has
 * the error. */
bool interrupts_open(struct interrupts *);

/* interrupts_take reads the signal and restores the signal mask. If the store is slow after that,
 * the next signal ends the process. */
void interrupts_take(struct interrupts *);

#endif
