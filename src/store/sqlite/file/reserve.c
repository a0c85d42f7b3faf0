#include "store/sqlite/file/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/usec.h"
#include "port/clock.h"
#include "store/sqlite/file/files.h"

#define TRY_AGAIN DW_SECONDS(1)
#define SPENT_AT_ONCE (1024 * 1024) /* the longest write-ahead log on a full disk, in bytes */
#define PART (256 * 1024)

/* The first bytes of the reserve. They tell the reserve from a file of somebody else. */
static const char mark[] = "durawheel: space kept back for a full disk\n";

static dw_usec steady(void)
{
	struct clock clock = clock_system();

	return clock.steady(clock.user);
}

static bool is_want_of_space(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* may_fit returns false if the reserve cannot fit, so that making it is not even tried. The attempt
 * would take all the space for a moment, in which another session's cancel would fail. Beyond
 * RLIMIT_FSIZE it would raise a signal. */
static bool may_fit(int fd, const struct stat *before, off_t size)
{
	unsigned long long has = (unsigned long long)before->st_blocks * 512;
	unsigned long long wants = (unsigned long long)size;
	struct rlimit limit;
	struct statvfs disk;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < wants)
		return false;
	if (fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0 || has >= wants)
		return true; /* the free space is unknown, so try */
	return (unsigned long long)disk.f_bfree * disk.f_frsize >= wants - has;
}

/* is_ours returns true for an empty file of ours, or one with our mark. Any other file of that name
 * is left alone. */
static bool is_ours(const char *path, int fd, const struct stat *status)
{
	char found[sizeof mark];

	if (!S_ISREG(status->st_mode) || !sqlite_files_is_ours(path, status))
		return false;
	return status->st_size == 0 || (pread(fd, found, sizeof found, 0) == sizeof found &&
					memcmp(found, mark, sizeof found) == 0);
}

/* grow makes the reserve as large as `size`, and returns 0 or an errno. If it fails, it gives the
 * new space back. */
static int grow(const char *path, int fd, off_t size)
{
	struct stat before;
	int error;

	if (fstat(fd, &before) != 0)
		return errno;
	if (!is_ours(path, fd, &before))
		return EEXIST;
	if (!may_fit(fd, &before, size))
		return ENOSPC;
	error = pwrite(fd, mark, sizeof mark, 0) == sizeof mark ? 0 : errno;
	error = error ? error : posix_fallocate(fd, 0, size);
	if (error)
		/* A reserve that is not whole helps nobody, so the rest is given back. */
		(void)!ftruncate(fd, before.st_size);
	return error;
}

/* take opens the reserve and makes it as large as `size`. Returns 0 or an errno. It uses O_NONBLOCK
 * so that, if a pipe has that name, it does not wait for the other end of the pipe. */
static int take(struct sqlite_reserve *reserve, off_t size)
{
	int fd = sqlite_files_open(reserve->path, O_RDWR | O_NONBLOCK);
	int error = fd < 0 ? errno : grow(reserve->path, fd, size);

	if (fd >= 0)
		(void)close(fd); /* a failure loses nothing */
	return error;
}

/* space writes how much space is free beside the reserve, and the limit on file sizes. */
static void space(const struct sqlite_reserve *reserve, char *ret_words, size_t size)
{
	struct statvfs disk;
	struct rlimit limit;
	size_t used = 0;

	if (statvfs(reserve->path, &disk) == 0)
		used = (size_t)snprintf(ret_words, size, " (%llu KiB are free)",
					/* The buffer is large enough for both texts. */
					(unsigned long long)disk.f_bavail * disk.f_frsize / 1024);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(ret_words + used, size - used,
			       " (no file may exceed %llu KiB: ulimit -f)",
			       (unsigned long long)limit.rlim_cur / 1024);
}

void sqlite_reserve_words(const struct sqlite_reserve *reserve, bool full,
			  char ret_words[SQLITE_SPACE_SIZE])
{
	int used = snprintf(ret_words, SQLITE_SPACE_SIZE, "%s",
			    full ? "the disk is full: new timers are refused until there is space;"
				   " stored timers still fire, and a reserve lets them be settled"
				 : "the disk has space again: new timers are accepted"); /* fits */

	if (full)
		space(reserve, ret_words + used, (size_t)(SQLITE_SPACE_SIZE - used));
}

bool sqlite_reserve_take(struct sqlite_reserve *reserve)
{
	int error = take(reserve, SQLITE_RESERVE_SIZE);

	reserve->tried = steady();
	reserve->refused = is_want_of_space(error) ? 0 : error;
	return error == 0 || reserve->refused != 0;
}

void sqlite_reserve_take_part(struct sqlite_reserve *reserve)
{
	off_t size = SQLITE_RESERVE_SIZE;

	while (size > 0 && is_want_of_space(take(reserve, size)))
		size -= PART;
}

bool sqlite_reserve_is_whole(const struct sqlite_reserve *reserve)
{
	struct stat status;

	return reserve->refused != 0 ||
	       (stat(reserve->path, &status) == 0 && status.st_size >= SQLITE_RESERVE_SIZE);
}

/* shrink frees a piece of the reserve. Returns false if nothing was left. */
static bool shrink(const char *path, int fd)
{
	struct stat status;
	off_t rest;

	if (fstat(fd, &status) != 0 || !is_ours(path, fd, &status) || status.st_size == 0)
		return false;
	rest = status.st_size > SPENT_AT_ONCE ? status.st_size - SPENT_AT_ONCE : 0;
	return ftruncate(fd, rest) == 0;
}

bool sqlite_reserve_spend(struct sqlite_reserve *reserve)
{
	int fd = open(reserve->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool given;

	reserve->tried = steady();
	if (fd < 0)
		return false;
	given = shrink(reserve->path, fd);
	(void)close(fd); /* a failure loses nothing */
	return given;
}

bool sqlite_reserve_is_due(const struct sqlite_reserve *reserve)
{
	return usec_sub(steady(), reserve->tried) >= TRY_AGAIN;
}

void sqlite_reserve_put_off(struct sqlite_reserve *reserve)
{
	reserve->tried = steady();
}
