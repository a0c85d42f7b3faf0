#include "cli/run/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals_open(int besides, int also)
{
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGTERM) != 0 ||
	    sigaddset(&set, SIGINT) != 0 || (besides && sigaddset(&set, besides) != 0) ||
	    (also && sigaddset(&set, also) != 0) || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool interrupts_open(struct interrupts *interrupts)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;

	(void)sigemptyset(&set); /* cannot fail for these signals */
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (!is_ignored(signals[i]))
			(void)sigaddset(&set, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &interrupts->before);
	interrupts->signal = 0;
	interrupts->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return interrupts->fd >= 0;
}

void interrupts_take(struct interrupts *interrupts)
{
	struct signalfd_siginfo signal;

	if (read(interrupts->fd, &signal, sizeof signal) == (ssize_t)sizeof signal)
		interrupts->signal = (int)signal.ssi_signo;
	(void)sigprocmask(SIG_SETMASK, &interrupts->before, NULL); /* cannot fail for this set */
}
