#include "store/sqlite/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/usec.h"

enum { MODE = 0600 };

int sqlite_bell_init(struct sqlite_bell *bell)
{
	bell->fd = -1;
	bell->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return bell->event_fd >= 0 ? DW_OK : DW_ESYS;
}

static void close_pipe(struct sqlite_bell *bell)
{
	if (bell->fd >= 0)
		(void)close(bell->fd); /* what it holds is no loss */
	bell->fd = -1;
}

void sqlite_bell_free(struct sqlite_bell *bell)
{
	close_pipe(bell);
	if (bell->event_fd >= 0)
		(void)close(bell->event_fd); /* the same */
	bell->event_fd = -1;
}

/* is_ours: a pipe under one name, of this user. Root as a client also rings at the pipe of another
 * user's owner. */
static bool is_ours(const struct stat *status, int access)
{
	bool root_rings = access == O_WRONLY && geteuid() == 0;

	return S_ISFIFO(status->st_mode) && status->st_nlink == 1 &&
	       (status->st_uid == geteuid() || root_rings);
}

/* open_pipe never follows a link, never waits for the other end, and accepts no other file. */
static bool open_pipe(struct sqlite_bell *bell, int access)
{
	struct stat status;

	bell->fd = open(bell->path, access | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (bell->fd < 0)
		return false;
	if (fstat(bell->fd, &status) == 0 && is_ours(&status, access))
		return true;
	close_pipe(bell);
	errno = EEXIST;
	return false;
}

/* The owner's end is open for both directions: so it has no end of file when a client leaves. */
bool sqlite_bell_hang(struct sqlite_bell *bell)
{
	close_pipe(bell);
	if (mkfifo(bell->path, MODE) != 0 && errno != EEXIST)
		return false;
	return open_pipe(bell, O_RDWR);
}

bool sqlite_bell_hangs(const struct sqlite_bell *bell)
{
	struct stat ours;
	struct stat named;

	return bell->fd >= 0 && fstat(bell->fd, &ours) == 0 && lstat(bell->path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

void sqlite_bell_take_down(struct sqlite_bell *bell)
{
	if (sqlite_bell_hangs(bell))
		(void)unlink(bell->path); /* or it stays for the next one */
	close_pipe(bell);
}

/* ring_once: false: nobody listens any more at what is open. A full pipe is a bell that rings. */
static bool ring_once(struct sqlite_bell *bell)
{
	if (bell->fd < 0 && !open_pipe(bell, O_WRONLY))
		return true; /* nobody does: ENXIO, ENOENT and others */
	if (write(bell->fd, "", 1) == 1 || errno != EPIPE)
		return true;
	close_pipe(bell);
	return false;
}

void sqlite_bell_ring(struct sqlite_bell *bell)
{
	if (!ring_once(bell))
		(void)ring_once(bell); /* of a new owner, or none */
}

void sqlite_bell_wake(struct sqlite_bell *bell)
{
	uint64_t one = 1;

	(void)!write(bell->event_fd, &one, sizeof one); /* fails only when it is awake for ever */
}

static bool drain(int fd)
{
	char bytes[4096];
	bool any = false;

	while (read(fd, bytes, sizeof bytes) > 0)
		any = true;
	return any;
}

bool sqlite_bell_wait(struct sqlite_bell *bell, bool heed, dw_usec most)
{
	struct timespec patience = {.tv_sec = most / 1000000, .tv_nsec = most % 1000000 * 1000};
	struct pollfd fds[] = {
	    {.fd = bell->event_fd, .events = POLLIN},
	    {.fd = heed ? bell->fd : -1, .events = POLLIN},
	};

	if (ppoll(fds, 2, most == DW_NEVER ? NULL : &patience, NULL) <= 0)
		return false;
	if (fds[0].revents)
		(void)drain(bell->event_fd); /* that it woke us is all it says */
	return fds[1].revents && drain(bell->fd);
}
