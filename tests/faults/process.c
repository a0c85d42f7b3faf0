#include "faults/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/faults.h"

enum { READ_SIZE = 64 * 1024, FDS_EACH = 3 };

/* must aborts the test if it cannot get descriptors or memory. */
static void must(bool done, const char *what)
{
	if (!done) {
		perror(what);
		abort();
	}
}

/* ---- Streams ------------------------------------------------------------------------------- */

static void stream_reserve(struct stream *stream, size_t more)
{
	size_t capacity = stream->capacity ? stream->capacity * 2 : 2 * (size_t)READ_SIZE;

	if (stream->size + more <= stream->capacity)
		return;
	stream->bytes = realloc(stream->bytes, capacity);
	must(stream->bytes != NULL, "realloc");
	stream->capacity = capacity;
}

/* stream_fill reads the bytes that are there. */
static void stream_fill(struct stream *stream)
{
	while (stream->fd >= 0) {
		ssize_t got;

		stream_reserve(stream, READ_SIZE + 1);
		got = read(stream->fd, stream->bytes + stream->size, READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		must(got >= 0, "read");
		stream->size += (size_t)got;
		if (got == 0) {
			(void)close(stream->fd); /* no writes can be lost */
			stream->fd = -1;
		}
	}
}

char *stream_line(struct stream *stream, size_t *ret_size)
{
	char *line, *newline;

	if (stream->size == stream->taken)
		return NULL;
	line = stream->bytes + stream->taken;
	newline = memchr(line, '\n', stream->size - stream->taken);
	if (!newline)
		return NULL;
	*newline = '\0';
	*ret_size = (size_t)(newline - line);
	stream->taken += *ret_size + 1;
	return line;
}

const char *stream_text(struct stream *stream)
{
	stream_reserve(stream, 1);
	stream->bytes[stream->size] = '\0';
	return stream->bytes;
}

static void stream_free(struct stream *stream)
{
	if (stream->fd >= 0)
		(void)close(stream->fd); /* no writes can be lost */
	free(stream->bytes);
	*stream = (struct stream){.fd = -1};
}

/* ---- Starting ------------------------------------------------------------------------------ */

/* become sets up the child between fork() and its body. */
static void become(const int in[2], const int out[2], const int err[2], pid_t parent)
{
	must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "prctl");
	if (getppid() != parent)
		_exit(EXIT_FAILURE); /* the parent died in between */
	must(dup2(in[0], STDIN_FILENO) == STDIN_FILENO, "dup2");
	must(dup2(out[1], STDOUT_FILENO) == STDOUT_FILENO, "dup2");
	must(dup2(err[1], STDERR_FILENO) == STDERR_FILENO, "dup2");
	for (int i = 0; i < 2; i++) {
		(void)close(in[i]); /* duplicates, or descriptors that the child does not need */
		(void)close(out[i]);
		(void)close(err[i]);
	}
}

void process_fork(struct process *ret_process, int (*body)(void *user), void *user)
{
	struct process process = PROCESS_NONE;
	pid_t parent = getpid();
	int in[2], out[2], err[2];

	must(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0,
	     "pipe");
	(void)fflush(stdout); /* otherwise the child would print it, too */
	process.pid = fork();
	must(process.pid >= 0, "fork");
	if (process.pid == 0) {
		become(in, out, err, parent);
		_exit(body(user));
	}
	process.pidfd = pidfd_open(process.pid, 0);
	must(process.pidfd >= 0, "pidfd_open");
	(void)close(in[0]); /* the child's ends */
	(void)close(out[1]);
	(void)close(err[1]);
	must(fcntl(out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(err[0], F_SETFL, O_NONBLOCK) == 0,
	     "fcntl");
	process.in = in[1];
	process.out.fd = out[0];
	process.err.fd = err[0];
	*ret_process = process;
}

static int exec_body(void *user)
{
	char *const *argv = user;

	(void)execv(argv[0], argv);
	perror(argv[0]);
	return 127;
}

void process_start(struct process *ret_process, const char *const *argv)
{
	union {
		const char *const *given;
		void *user;
	} words = {.given = argv};

	process_fork(ret_process, exec_body, words.user);
}

/* ---- Waiting ------------------------------------------------------------------------------- */

static void reap(struct process *process)
{
	pid_t pid;
	int status = 0;

	do
		pid = waitpid(process->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	must(pid == process->pid, "waitpid");
	process->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	process->pid = 0;
	(void)close(process->pidfd); /* no writes can be lost */
	process->pidfd = -1;
}

/* see handles the events of poll(). It reads the output before it notices the end. */
static void see(struct process *process, const struct pollfd *fds)
{
	if (fds[0].revents) {
		process->ended = faults_now();
		reap(process);
	}
	if (!process->stalled)
		stream_fill(&process->out);
	stream_fill(&process->err);
}

void process_poll(struct process **processes, size_t count, dw_usec until)
{
	struct pollfd fds[PROCESS_POLL_MAX * FDS_EACH];
	dw_usec left = until - faults_now();
	struct timespec patience = {0};

	must(count <= PROCESS_POLL_MAX, "process_poll");
	if (left > 0)
		patience = (struct timespec){left / 1000000, left % 1000000 * 1000};
	for (size_t i = 0; i < count; i++) {
		const struct process *process = processes[i];
		struct pollfd *at = &fds[i * FDS_EACH];
		bool alive = process->pid != 0;

		at[0] = (struct pollfd){.fd = alive ? process->pidfd : -1, .events = POLLIN};
		at[1] = (struct pollfd){.fd = alive && !process->stalled ? process->out.fd : -1,
					.events = POLLIN};
		at[2] = (struct pollfd){.fd = alive ? process->err.fd : -1, .events = POLLIN};
	}
	must(ppoll(fds, count * FDS_EACH, &patience, NULL) >= 0 || errno == EINTR, "ppoll");
	for (size_t i = 0; i < count; i++)
		if (processes[i]->pid != 0)
			see(processes[i], &fds[i * FDS_EACH]);
}

bool process_wait(struct process *process)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (process->pid != 0 && faults_now() < until)
		process_poll(&process, 1, until);
	return process->pid == 0;
}

bool process_wait_text(struct process *process, const char *text)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (!strstr(stream_text(&process->err), text)) {
		if (process->pid == 0 || faults_now() >= until)
			return false;
		process_poll(&process, 1, until);
	}
	return true;
}

bool process_wait_closed(struct process *process)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while ((process->out.fd >= 0 || process->err.fd >= 0) && faults_now() < until) {
		struct pollfd fds[] = {
		    {.fd = process->out.fd, .events = POLLIN},
		    {.fd = process->err.fd, .events = POLLIN},
		};

		must(poll(fds, 2, 100) >= 0 || errno == EINTR, "poll");
		stream_fill(&process->out);
		stream_fill(&process->err);
	}
	return process->out.fd < 0 && process->err.fd < 0;
}

/* ---- Ending -------------------------------------------------------------------------------- */

void process_signal(const struct process *process, int signal)
{
	if (process->pid != 0)
		(void)pidfd_send_signal(process->pidfd, signal, NULL,
					0); /* the process may have ended */
}

void process_kill(struct process *process)
{
	if (process->pid == 0)
		return;
	process_signal(process, SIGKILL);
	reap(process);
	process->ended = faults_now();
	stream_fill(&process->out);
	stream_fill(&process->err);
}

void process_close_in(struct process *process)
{
	if (process->in >= 0)
		(void)close(process->in); /* a pipe reports no error */
	process->in = -1;
}

void process_free(struct process *process)
{
	process_kill(process);
	stream_free(&process->out);
	stream_free(&process->err);
	process_close_in(process);
}
