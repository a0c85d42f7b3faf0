#include "cli/run/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/descendants.h"
#include "cli/out/errors.h"
#include "cli/run/relay.h"
#include "cli/session.h"

enum { NOT_STARTED = 126, NO_COMMAND = 127 };

/* SIGKILL is sent every KILL_AGAIN, for processes that were started meanwhile. KILL_PATIENCE limits
 * this, because a process of another user, or one that hangs in the kernel, may never end. */
#define KILL_AGAIN DW_MILLISECONDS(20)
#define KILL_PATIENCE DW_MILLISECONDS(500)

struct supervisor {
	pid_t command; /* also the number of its process group */
	int status;    /* the command's exit code */
	bool gone;     /* it has ended */
	bool alone;    /* no descendant is left */
	bool ending;   /* SIGTERM is sent */
	dw_usec kill_at;
	int signals; /* a signalfd */
	struct relay relay;
	bool drained; /* all that is in the relay's pipe is written */
};

/* is_one_file: stdout and stderr go to the same file, so what is written must stay in order. */
static bool is_one_file(void)
{
	struct stat out, err;

	return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/* write_into lets stderr, and what shares its file, lead into the pipe. */
static void write_into(int writer)
{
	if (is_one_file())
		(void)dup2(writer, STDOUT_FILENO);
	(void)dup2(writer, STDERR_FILENO);
}

/* run_command: in the child. */
static void run_command(char *const *words, int writer, pid_t parent)
{
	sigset_t none;

	(void)setpgid(0, 0);
	write_into(writer);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() == parent) {
		(void)execvp(words[0], words);
		(void)complain(NO_COMMAND, "%s: %s", words[0], strerror(errno));
	}
	_exit(NO_COMMAND);
}

/* start starts the command, which dies with this process. 0, or an errno. */
static int start(struct supervisor *supervisor, char *const *words)
{
	pid_t parent = getpid();
	int writer;
	int error = relay_open(&supervisor->relay, &writer);

	if (error != 0)
		return error;

	supervisor->command = fork();
	if (supervisor->command < 0)
		return errno;
	if (supervisor->command == 0)
		run_command(words, writer, parent);
	(void)close(writer); /* the command has it */
	/* Parent and child both call setpgid(), so that it does not matter which runs first. */
	(void)setpgid(supervisor->command, supervisor->command);
	return 0;
}

/* reap collects the exit status of the command and of adopted orphans. */
static void reap(struct supervisor *supervisor)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != supervisor->command)
			continue;
		supervisor->gone = true;
		supervisor->status =
		    WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	supervisor->alone = pid < 0 && errno == ECHILD;
}

/* end_command sends SIGTERM the first time, and SIGKILL after the grace period. */
static void end_command(struct supervisor *supervisor)
{
	dw_usec now = session_steady();

	if (!supervisor->ending) {
		supervisor->ending = true;
		supervisor->kill_at = now + SUPERVISOR_GRACE;
		descendants_signal(supervisor->command, SIGTERM);
	} else if (now >= supervisor->kill_at) {
		descendants_signal(supervisor->command, SIGKILL);
	}
}

/* take_signals returns true if one was SIGTERM. */
static bool take_signals(const struct supervisor *supervisor)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(supervisor->signals, &info, sizeof info) == (ssize_t)sizeof info)
		ends = ends || info.ssi_signo == SIGTERM;
	return ends;
}

/* wait_on waits for a signal, or for work of the relay, at most until the next SIGKILL is due. */
static void wait_on(const struct supervisor *supervisor)
{
	dw_usec left = supervisor->kill_at - session_steady();
	struct pollfd fds[] = {{.fd = supervisor->signals, .events = POLLIN},
			       relay_wants(&supervisor->relay)};

	if (left < KILL_AGAIN)
		left = KILL_AGAIN;
	(void)poll(fds, 2, supervisor->ending ? (int)(left / 1000) + 1 : -1);
}

/* tell writes the last line of the command where its starter reads it. */
static void tell(struct supervisor *supervisor)
{
	size_t size;
	const char *last = relay_last(&supervisor->relay, &size);

	(void)!write(SUPERVISOR_NOTE, last, size); /* without it, only the status is known */
}

/* prepare: 0, or an errno. This process ignores what the command must not: a closed stderr. */
static int prepare(struct supervisor *supervisor)
{
	sigset_t signals;

	(void)sigemptyset(&signals); /* cannot fail for these sets and signals */
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)fcntl(SUPERVISOR_NOTE, F_SETFD, FD_CLOEXEC);
	supervisor->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (supervisor->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0)
		return errno;
	return 0;
}

/* is_over: a command that ends by itself may leave orphans, which keep running. A command that we
 * end is over when no descendant is left, or KILL_PATIENCE after the first SIGKILL. */
static bool is_over(const struct supervisor *supervisor)
{
	if (!supervisor->ending)
		return supervisor->gone && supervisor->drained;
	return supervisor->alone || session_steady() - supervisor->kill_at >= KILL_PATIENCE;
}

int supervise(const char *parent, char *const *words)
{
	struct supervisor supervisor = {0};
	int error = prepare(&supervisor);

	if (error == 0 &&
	    getppid() != strtol(parent, NULL, 10)) /* `run` ended before the prctl() */
		return NOT_STARTED;
	if (error == 0)
		error = start(&supervisor, words);
	if (error != 0)
		return complain(NOT_STARTED, "cannot start the command: %s", strerror(error));
	while (!is_over(&supervisor)) {
		wait_on(&supervisor);
		if (take_signals(&supervisor) || supervisor.ending)
			end_command(&supervisor);
		reap(&supervisor);
		/* After reap(): all that the command has written is in the pipe. */
		supervisor.drained = relay_work(&supervisor.relay);
	}
	tell(&supervisor);
	relay_pass_on(&supervisor.relay);
	return supervisor.status;
}
