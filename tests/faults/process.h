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
	int fd; /* -1: ended */
	char *bytes;
	size_t size;
	size_t capacity;
	size_t taken; /* of the bytes, by stream_line() */
};

struct process {
	pid_t pid; /* 0: none, or it has ended */
	int pidfd;
	int in; /* what it reads, or -1 */
	struct stream out;
	struct stream err;
	bool stalled;  /* nobody reads its stdout */
	int code;      /* its exit code, or 128 + the signal that ended it */
	dw_usec ended; /* when that was noticed, on the wall clock */
};

#define PROCESS_NONE                                                                               \
	{                                                                                          \
		.pidfd = -1, .in = -1, .out = {.fd = -1}, .err = {.fd = -1 }                       \
	}

/* process_fork starts body(user), of which the result becomes the exit code. Its standard input
 * is a pipe: process->in. */
void process_fork(struct process *ret_process, int (*body)(void *user), void *user);

/* process_start starts a command: argv ends with NULL. */
void process_start(struct process *ret_process, const char *const *argv);

/* process_poll waits for something to happen to one of them, at most until that time (wall clock),
 * and takes what they printed. At most PROCESS_POLL_MAX; those that have ended are passed over. */
enum { PROCESS_POLL_MAX = 8 };
void process_poll(struct process **, size_t count, dw_usec until);

/* process_wait: until it has ended. False: it takes longer than the patience of faults.h. */
bool process_wait(struct process *);

/* process_wait_text: until its stderr has a text, or it has ended, or patience is over. */
bool process_wait_text(struct process *, const char *text);

/* process_wait_closed: until nobody has its stdout and stderr open, not even a child it left. */
bool process_wait_closed(struct process *);

/* process_signal: nothing if it has ended. */
void process_signal(const struct process *, int signal);

/* process_kill: SIGKILL, and what it had printed until then. */
void process_kill(struct process *);

/* process_close_in: what it reads has an end. */
void process_close_in(struct process *);

/* process_free kills it if need be; PROCESS_NONE is accepted. */
void process_free(struct process *);

/* stream_line: the next whole line, without its newline, which is replaced by a NUL; NULL: none. */
char *stream_line(struct stream *, size_t *ret_size);

/* stream_text: all of it, as a string. */
const char *stream_text(struct stream *);

#endif
