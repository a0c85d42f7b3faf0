#include "store/sqlite/file/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durawheel/durawheel.h"

static const char *const endings[FILE_COUNT] = {"",         "-wal",  "-shm",    "-owner",
						"-reserve", "-wake", "-standby"};
enum { ENDING_SIZE = sizeof "-reserve" }; /* size of the longest ending */

/* user_of returns the user to whom a file beside a database belongs. It is this process's user. But
 * root gives its files to the user of the database, as SQLite does. */
static uid_t user_of(const char *path)
{
	size_t size = strlen(path);
	char database[PATH_MAX];
	struct stat status;

	for (int i = 1; i < FILE_COUNT && geteuid() == 0; i++) {
		size_t end = strlen(endings[i]);

		if (size <= end || size - end >= sizeof database ||
		    strcmp(path + size - end, endings[i]) != 0)
			continue;
		memcpy(database, path, size - end);
		database[size - end] = '\0';
		if (stat(database, &status) == 0)
			return status.st_uid;
	}
	return geteuid();
}

bool sqlite_files_is_ours(const char *path, const struct stat *status)
{
	return status->st_nlink == 1 &&
	       (status->st_uid == geteuid() || status->st_uid == user_of(path));
}

void sqlite_files_give(const char *path, int fd)
{
	uid_t user = user_of(path);
	struct stat status;

	if (user != geteuid() && fstat(fd, &status) == 0 && status.st_size == 0 &&
	    status.st_nlink == 1 && status.st_uid == geteuid())
		(void)!fchown(fd, user, (gid_t)-1); /* if this fails, its opening says why */
}

int sqlite_files_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size == 0 &&
	    (status.st_mode & (S_IRUSR | S_IWUSR)) != (S_IRUSR | S_IWUSR))
		(void)fchmod(fd, S_IRUSR | S_IWUSR); /* if this fails, the next opening says why */
	if (fd >= 0)
		sqlite_files_give(path, fd);
	return fd;
}

int sqlite_files_name(struct sqlite_files *ret_files, const struct alloc *alloc, const char *path,
		      char *ret_message)
{
	char real[PATH_MAX];
	size_t size;
	char *names;

	if (!realpath(path, real)) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: %.120s", path,
			       strerror(errno));
		return DW_ESTORE;
	}
	size = strlen(real) + ENDING_SIZE;
	names = alloc_new(alloc, FILE_COUNT * size);
	if (!names)
		return DW_ENOMEM;
	*ret_files = (struct sqlite_files){.names = names};
	for (size_t i = 0; i < FILE_COUNT; i++) {
		ret_files->path[i] = names + i * size;
		/* The text always fits. */
		(void)snprintf(names + i * size, size, "%s%s", real, endings[i]);
	}
	return DW_OK;
}

void sqlite_files_free(struct sqlite_files *files, const struct alloc *alloc)
{
	alloc_free(alloc, files->names);
}

bool sqlite_files_note(struct sqlite_files *files, enum sqlite_file which)
{
	struct stat status;

	if (stat(files->path[which], &status) != 0)
		return false;
	files->known[which] = (struct sqlite_file_identity){
	    .device = status.st_dev, .number = status.st_ino, .known = true};
	return true;
}

enum sqlite_file_state sqlite_files_look(const struct sqlite_files *files, enum sqlite_file which)
{
	const struct sqlite_file_identity *known = &files->known[which];
	struct stat status;

	if (!known->known)
		return FILE_IS_SAME;
	if (stat(files->path[which], &status) != 0)
		return errno == ENOENT || errno == ENOTDIR ? FILE_IS_MISSING : FILE_IS_HIDDEN;
	return status.st_dev == known->device && status.st_ino == known->number ? FILE_IS_SAME
										: FILE_IS_ANOTHER;
}

enum sqlite_file sqlite_files_find(const struct sqlite_files *files)
{
	int which = 0;

	while (which < FILE_COUNT && sqlite_files_look(files, which) == FILE_IS_SAME)
		which++;
	return which;
}
