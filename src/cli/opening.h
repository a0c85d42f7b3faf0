/* While dw_open() waits for a store, the thread that called it reads no signals and no keys.
 * Another thread does, and ends the process: nothing was asked of the store yet. */
#ifndef DW_CLI_OPENING_H
#define DW_CLI_OPENING_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct opening {
	const char *name; /* the store's name; NULL: the terminal has no keys and shows nothing */
	/* Called in the other thread for a signal, which is not read, or 0 for the key that quits.
	 * It ends the process. */
	void (*end)(int signal, void *user);
	void *user;
	int signal_fd, over_fd;
	pthread_t thread;
	bool runs;
};

/* opening_begin is called before dw_open(). The signals must be blocked. The caller sets name, end
 * and user. If there is no memory for a thread, signals wait for dw_open(). */
void opening_begin(struct opening *, const int *signals, size_t count);

/* opening_begin_plain is for a program without a terminal that SIGTERM and SIGINT stop. */
void opening_begin_plain(struct opening *);

/* opening_end is called after dw_open(). If the store is open, a signal that came meanwhile can
 * still be read. Otherwise the signal ends the process, as it would have a moment earlier. */
void opening_end(struct opening *, bool opened);

#endif
