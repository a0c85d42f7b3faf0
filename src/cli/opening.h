/* Lets a signal or a key end the process while dw_open() waits for a store.
 *
 * The thread that calls dw_open() cannot read signals or keys meanwhile. A second thread reads them
 * and ends the process. This loses nothing, because the process has not asked the store for
 * anything yet. */
#ifndef DW_CLI_OPENING_H
#define DW_CLI_OPENING_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct opening {
	/* The store's name for messages. NULL means that no keys are read and no message is
	 * shown. */
	const char *name;
	/* The second thread calls this function with the signal that it has read, or with 0 for the
	 * key that quits. The function must end the process. */
	void (*end)(int signal, void *user);
	void *user;
	int signal_fd, over_fd;
	pthread_t thread;
	bool runs;
};

/* opening_begin starts the second thread. Call it before dw_open(), with the signals blocked. The
 * caller sets name, end and user. If there is no memory for a thread, signals wait until dw_open()
 * returns. */
void opening_begin(struct opening *, const int *signals, size_t count);

/* opening_begin_plain is for a program without a terminal. SIGTERM and SIGINT end the process. */
void opening_begin_plain(struct opening *);

/* opening_end stops the second thread. Call it after dw_open(). If the store is open, the program
 * can still read a signal that arrived meanwhile. Otherwise that signal ends the process. */
void opening_end(struct opening *, bool opened);

#endif
