#include "store/sqlite/file/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/usec.h"
#include "store/sqlite/file/files.h"

enum { MODE = 0600 };

int sqlite_wake_init(struct sqlite_wake *wake)
{
	wake->fd = -1;
	wake->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return wake->event_fd >= 0 ? DW_OK : DW_ESYS;
}

static void close_pipe(struct sqlite_wake *wake)
{
	if (wake->fd >= 0)
		(void)close(wake->fd); /* unread bytes of the pipe mean nothing */
	wake->fd = -1;
}

void sqlite_wake_free(struct sqlite_wake *wake)
{
	close_pipe(wake);
	if (wake->event_fd >= 0)
		(void)close(wake->event_fd); /* the count in it means nothing */
	wake->event_fd = -1;
}

/* is_ours returns true for a pipe of ours. Root as a client also writes to the pipe of another
 * user's owner. */
static bool is_ours(const char *path, const struct stat *status, int access)
{
	bool root_writes = access == O_WRONLY && geteuid() == 0 && status->st_nlink == 1;

	return S_ISFIFO(status->st_mode) && (root_writes || sqlite_files_is_ours(path, status));
}

/* open_pipe opens the pipe. It never follows a link, never waits for the other end, and accepts no
 * other kind of file. */
static bool open_pipe(struct sqlite_wake *wake, int access)
{
	struct stat status;

	wake->fd = open(wake->path, access | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (wake->fd < 0)
		return false;
	if (fstat(wake->fd, &status) == 0 && is_ours(wake->path, &status, access))
		return true;
	close_pipe(wake);
	errno = EEXIST;
	return false;
}

/* sqlite_wake_make opens the pipe for reading and writing, so that the owner sees no end of file
 * when a client leaves. */
bool sqlite_wake_make(struct sqlite_wake *wake)
{
	close_pipe(wake);
	if (mkfifo(wake->path, MODE) == 0)
		(void)chmod(wake->path, MODE); /* the pipe gets this mode under any umask */
	else if (errno != EEXIST)
		return false;
	if (!open_pipe(wake, O_RDWR))
		return false;
	sqlite_files_give(wake->path, wake->fd);
	return true;
}

bool sqlite_wake_exists(const struct sqlite_wake *wake)
{
	struct stat ours;
	struct stat named;

	return wake->fd >= 0 && fstat(wake->fd, &ours) == 0 && lstat(wake->path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

void sqlite_wake_remove(struct sqlite_wake *wake)
{
	if (sqlite_wake_exists(wake))
		/* If this fails, the next owner uses the pipe that is left. */
		(void)unlink(wake->path);
	close_pipe(wake);
}

/* write_once writes a byte. Returns false if the process that read the open pipe is gone. A full
 * pipe is fine, because it wakes its reader, too. */
static bool write_once(struct sqlite_wake *wake)
{
	if (wake->fd < 0 && !open_pipe(wake, O_WRONLY))
		return true; /* nobody reads the pipe: ENXIO, ENOENT and others */
	if (write(wake->fd, "", 1) == 1 || errno != EPIPE)
		return true;
	close_pipe(wake);
	return false;
}

void sqlite_wake_owner(struct sqlite_wake *wake)
{
	if (!write_once(wake))
		(void)write_once(wake); /* now write to the pipe of a new owner, if there is one */
}

void sqlite_wake_thread(struct sqlite_wake *wake)
{
	uint64_t one = 1;

	(void)!write(wake->event_fd, &one,
		     /* fails only if the count is at its maximum, and then the thread wakes anyway
		      * */
		     sizeof one);
}

static bool drain(int fd)
{
	char bytes[4096];
	bool any = false;

	while (read(fd, bytes, sizeof bytes) > 0)
		any = true;
	return any;
}

bool sqlite_wake_wait(struct sqlite_wake *wake, bool heed, dw_usec most)
{
	struct timespec patience = {.tv_sec = most / 1000000, .tv_nsec = most % 1000000 * 1000};
	struct pollfd fds[] = {
	    {.fd = wake->event_fd, .events = POLLIN},
	    {.fd = heed ? wake->fd : -1, .events = POLLIN},
	};

	if (ppoll(fds, 2, most == DW_NEVER ? NULL : &patience, NULL) <= 0)
		return false;
	if (fds[0].revents)
		(void)drain(wake->event_fd); /* the count that was read means nothing */
	return fds[1].revents && drain(wake->fd);
}
