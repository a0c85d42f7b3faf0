#include "faults/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Room for the reserve, for the timers of a test, and for a file that fills the rest. */
#define SIZE "48m"
#define BORROWED_MIN (40ULL << 20)
#define BORROWED_MAX (256ULL << 20) /* a larger one is too large to fill */

static const char borrowed[] = "/dev/shm";

static bool write_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);

	if (fd >= 0)
		(void)close(fd); /* the writes were checked */
	return done;
}

/* unshare_as_user enters a user namespace and gets all rights in it. The namespace has only this
 * user, under the same number. */
static bool unshare_as_user(void)
{
	char uid[64], gid[64];

	(void)snprintf(uid, sizeof uid, "%u %u 1", getuid(), getuid()); /* both fit */
	(void)snprintf(gid, sizeof gid, "%u %u 1", getgid(), getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_line("/proc/self/uid_map", uid) &&
	       write_line("/proc/self/setgroups", "deny") && write_line("/proc/self/gid_map", gid);
}

/* go_up changes to the root above that of a chroot. A process whose folder is outside of its root
 * can go up past the root. False: not permitted. */
static bool go_up(const char *folder)
{
	struct stat here, above;

	if (chdir("/") != 0 || chroot(folder) != 0)
		return false;
	do {
		if (stat(".", &here) != 0 || chdir("..") != 0 || stat(".", &above) != 0)
			return false;
	} while (here.st_ino != above.st_ino || here.st_dev != above.st_dev);
	return true;
}

/* make_private_above makes the mount private that contains "/". After a chroot, "/" is not a mount
 * itself, and its mount has no name here. A child does it from above: it shares all mounts with
 * this process, but not its root. */
static bool make_private_above(const char *folder)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(go_up(folder) && mount("none", ".", NULL, MS_REC | MS_PRIVATE, NULL) == 0
			  ? 0
			  : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool mount_own(const char *folder)
{
	if (unshare(CLONE_NEWNS) != 0 && !unshare_as_user())
		return false;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 && !make_private_above(folder))
		return false;
	return mount("tmpfs", folder, "tmpfs", 0, "size=" SIZE ",mode=0700") == 0;
}

static bool borrow(char folder[TEMP_SIZE])
{
	struct statvfs disk;
	unsigned long long left;

	if (statvfs(borrowed, &disk) != 0)
		return false;
	left = (unsigned long long)disk.f_bavail * disk.f_frsize;
	if ((unsigned long long)disk.f_blocks * disk.f_frsize > BORROWED_MAX || left < BORROWED_MIN)
		return false;
	return mkdtemp(temp_file(folder, borrowed, "dw-test-XXXXXX")) != NULL;
}

bool disk_make(struct disk *ret_disk, const char *folder)
{
	struct disk disk = {{0}, {0}, false};
	int error;

	(void)snprintf(disk.folder, TEMP_SIZE, "%s", folder); /* the same size */
	if (!mount_own(folder)) {
		error = errno;
		if (!borrow(disk.folder)) {
			(void)printf("no namespace to mount a small file system in (%s), and"
				     " /dev/shm does not have between %llu and %llu MiB: run as"
				     " root, or permit user namespaces",
				     strerror(error), BORROWED_MIN >> 20, BORROWED_MAX >> 20);
			return false;
		}
		disk.borrowed = true;
	}
	temp_file(disk.ballast, disk.folder, "ballast");
	*ret_disk = disk;
	return true;
}

void disk_free(struct disk *disk)
{
	disk_clear(disk);
	if (disk->borrowed)
		temp_remove(disk->folder);
}

/* fill_by writes pieces of a size until there is no space for another one. */
static void fill_by(int fd, size_t size)
{
	static const char piece[64 * 1024] = "ballast";

	for (;;) {
		ssize_t written = write(fd, piece, size);

		if (written < 0 && errno == ENOSPC)
			return;
		if (written < 0 && errno != EINTR)
			abort(); /* the disk cannot be filled */
	}
}

void disk_fill(const struct disk *disk)
{
	int fd = open(disk->ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		abort(); /* the same */
	fill_by(fd, 64 * 1024);
	fill_by(fd, 1);
	(void)close(fd); /* the file's content does not matter */
}

void disk_clear(const struct disk *disk)
{
	(void)unlink(disk->ballast); /* the file may not exist */
}
