/* A process that a test has started: its output, its end, and how to kill it.
 *
 * It is known by its pid and by a descriptor of the process, so no signal ever reaches another
 * process. It dies with the test program. Its output is read, without a limit, whenever the test
 * waits for anything: a test knows how much output it has asked for. */
#ifndef DW_TESTS_FAULTS_PROCESS_H
#define DW_TESTS_FAULTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "durawheel/durawheel.h"

struct stream {
	int fd; /* -1: the stream has ended */
	char *bytes;
	size_t size;
	size_t capacity;
	size_t taken; /* the number of bytes that stream_line() has returned */
};

struct process {
	pid_t pid; /* 0: the process has ended, or there is none */
	int pidfd;
	int in; /* the stdin of the process, or -1 */
	struct stream out;
	struct stream err;
	bool stalled;  /* its stdout is not read */
	int code;      /* its exit code, or 128 + the signal that ended it */
	dw_usec ended; /* the wall-clock time at which the end was noticed */
};

#define PROCESS_NONE                                                                               \
	{                                                                                          \
		.pidfd = -1, .in = -1, .out = {.fd = -1}, .err = {.fd = -1 }                       \
	}

/* process_fork starts a process that calls body(user). The result of body is the exit code.
 * process->in is a pipe to its standard input. */
void process_fork(struct process *ret_process, int (*body)(void *user), void *user);

/* process_start starts the command argv, which ends with NULL. */
void process_start(struct process *ret_process, const char *const *argv);

/* process_poll waits until one of the processes has written something or ended, at most until the
 * wall-clock time, and reads their output. It takes at most PROCESS_POLL_MAX processes, and skips
 * those that have ended. */
enum { PROCESS_POLL_MAX = 12 };
void process_poll(struct process **, size_t count, dw_usec until);

/* process_wait waits until the process has ended. Returns false after FAULTS_PATIENCE. */
bool process_wait(struct process *);

/* process_wait_text waits until the process's stderr has the text, the process has ended, or
 * FAULTS_PATIENCE is over. Returns true if the stderr has the text. */
bool process_wait_text(struct process *, const char *text);

/* process_wait_closed waits until no process has the other ends of its stdout and stderr open. A
 * child of the process may keep them open. */
bool process_wait_closed(struct process *);

/* process_signal sends a signal, unless the process has ended. */
void process_signal(const struct process *, int signal);

/* process_kill sends SIGKILL and reads the rest of the output. */
void process_kill(struct process *);

/* process_close_in closes the standard input of the process. */
void process_close_in(struct process *);

/* process_free kills the process if it still runs. PROCESS_NONE is allowed. */
void process_free(struct process *);

/* stream_line returns the next whole line, or NULL. A NUL replaces its newline. */
char *stream_line(struct stream *, size_t *ret_size);

/* stream_text returns the whole stream as a string. */
const char *stream_text(struct stream *);

#endif
