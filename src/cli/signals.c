#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int signals_open(int besides, int also)
{
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGTERM) != 0 ||
	    sigaddset(&set, SIGINT) != 0 || (besides && sigaddset(&set, besides) != 0) ||
	    (also && sigaddset(&set, also) != 0) || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
