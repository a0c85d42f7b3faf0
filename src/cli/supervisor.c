#include "cli/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/descendants.h"
#include "cli/errors.h"
#include "cli/session.h"

enum { NOT_STARTED = 126, NO_SHELL = 127 };

/* SIGKILL is sent every KILL_AGAIN, for processes that were started meanwhile. KILL_PATIENCE limits
 * this, because a process of another user, or one that hangs in the kernel, may never end. */
#define KILL_AGAIN DW_MILLISECONDS(20)
#define KILL_PATIENCE DW_MILLISECONDS(500)

struct supervisor {
	pid_t shell; /* also the number of its process group */
	int status;  /* the shell's exit code */
	bool gone;   /* the shell has ended */
	bool alone;  /* no descendant is left */
	bool ending; /* SIGTERM is sent */
	dw_usec kill_at;
};

/* start starts the shell, which dies with this process. 0, or an errno. */
static int start(struct supervisor *supervisor, const char *command)
{
	pid_t parent = getpid();
	sigset_t none;

	supervisor->shell = fork();
	if (supervisor->shell < 0)
		return errno;
	if (supervisor->shell > 0) {
		/* Parent and child both call setpgid(), so that it does not matter which runs
		 * first. */
		(void)setpgid(supervisor->shell, supervisor->shell);
		return 0;
	}
	(void)setpgid(0, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() == parent)
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NO_SHELL);
}

/* reap collects the exit status of the shell and of adopted orphans. */
static void reap(struct supervisor *supervisor)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != supervisor->shell)
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
		descendants_signal(supervisor->shell, SIGTERM);
	} else if (now >= supervisor->kill_at) {
		descendants_signal(supervisor->shell, SIGKILL);
	}
}

/* wait_for waits for one of the signals, at most until the next SIGKILL is due. -1: no signal
 * came. */
static int wait_for(const struct supervisor *supervisor, const sigset_t *signals)
{
	dw_usec left = supervisor->kill_at - session_steady();
	struct timespec time;

	if (!supervisor->ending)
		return sigwaitinfo(signals, NULL);
	if (left < KILL_AGAIN)
		left = KILL_AGAIN;
	time = (struct timespec){.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
	return sigtimedwait(signals, NULL, &time);
}

/* is_over: a command that ends by itself may leave orphans, which keep running. A command that we
 * end is over when no descendant is left, or KILL_PATIENCE after the first SIGKILL. */
static bool is_over(const struct supervisor *supervisor)
{
	if (!supervisor->ending)
		return supervisor->gone;
	return supervisor->alone || session_steady() - supervisor->kill_at >= KILL_PATIENCE;
}

int supervise(const char *parent, const char *command)
{
	struct supervisor supervisor = {0};
	sigset_t signals;
	int error;

	(void)sigemptyset(&signals); /* cannot fail for these sets and signals */
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0)
		return complain(NOT_STARTED, "cannot start the command: %s", strerror(errno));
	if (getppid() != strtol(parent, NULL, 10)) /* `run` ended before the prctl() */
		return NOT_STARTED;
	error = start(&supervisor, command);
	if (error != 0)
		return complain(NOT_STARTED, "cannot start the command: %s", strerror(error));
	while (!is_over(&supervisor)) {
		int signal = wait_for(&supervisor, &signals);

		if (signal == SIGTERM || supervisor.ending)
			end_command(&supervisor);
		reap(&supervisor);
	}
	return supervisor.status;
}
