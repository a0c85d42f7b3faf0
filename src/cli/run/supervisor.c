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

/* SIGKILL is sent every KILL_AGAIN, because processes may have started meanwhile. KILL_PATIENCE
 * limits this, because a process of another user, or a process that hangs in the kernel, may never
 * end. */
#define KILL_AGAIN DW_MILLISECONDS(20)
#define KILL_PATIENCE DW_MILLISECONDS(500)

struct supervisor {
	pid_t command; /* the process id and the process group of the command */
	int status;    /* the command's exit code */
	bool gone;     /* the command has ended */
	bool alone;    /* no descendant is left */
	bool ending;   /* SIGTERM was sent */
	dw_usec kill_at;
	int signals; /* a signalfd */
	struct relay relay;
	bool drained; /* everything in the relay's pipe has been written */
};

/* is_one_file returns true if stdout and stderr are the same file. Then both lead into the pipe, so
 * that the output keeps its order. */
static bool is_one_file(void)
{
	struct stat out, err;

	return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/* write_into makes stderr lead into the pipe, and also any stream that shares its file. */
static void write_into(int writer)
{
	if (is_one_file())
		(void)dup2(writer, STDOUT_FILENO);
	(void)dup2(writer, STDERR_FILENO);
}

/* run_command runs in the child. */
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

/* start starts the command. It dies together with this process. Returns 0 or an errno. */
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
	(void)close(writer); /* the command has its own copy */
	/* Parent and child both call setpgid(), so that either may run first. */
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

/* end_command sends SIGTERM at first, and SIGKILL after the grace period. */
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

/* take_signals returns true if one of the signals was SIGTERM. */
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

/* tell writes the command's last line on stderr to the file that the parent reads. */
static void tell(struct supervisor *supervisor)
{
	size_t size;
	const char *last = relay_last(&supervisor->relay, &size);

	(void)!write(SUPERVISOR_NOTE, last, size); /* if it fails, only the exit code is known */
}

/* prepare sets up this process. It ignores SIGPIPE, so that it survives a closed stderr. The
 * command gets the default action again. Returns 0 or an errno. */
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

/* is_over returns true if the supervisor may end. If the command ended by itself, it may leave
 * orphans, which keep running. If we end the command, no descendant may be left. KILL_PATIENCE
 * after the first SIGKILL we stop waiting for them. */
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
	    getppid() != strtol(parent, NULL, 10)) /* the parent has died before the prctl() */
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
		/* After reap() the pipe has everything that the command has written. */
		supervisor.drained = relay_work(&supervisor.relay);
	}
	tell(&supervisor);
	relay_pass_on(&supervisor.relay);
	return supervisor.status;
}
