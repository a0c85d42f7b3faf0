#include "store/sqlite/file/locker.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_LOCK 120 /* the byte of FILE-shm that a writer locks, in SQLite's file format */

/* is_writer reads one line of /proc/locks, like "1: POSIX  ADVISORY  WRITE 42 08:01:1234 120 120".
 * It returns true if the line is a writer's lock on that file. */
static bool is_writer(const char *line, ino_t inode, long *ret_pid)
{
	char kind[16], mode[16], type[16], last[24];
	unsigned major, minor;
	unsigned long found;
	unsigned long long first;

	if (sscanf(line, "%*[^:]: %15s %15s %15s %ld %x:%x:%lu %llu %23s", kind, mode, type,
		   ret_pid, &major, &minor, &found, &first, last) != 9)
		return false;
	return strcmp(type, "WRITE") == 0 && found == inode && first <= WRITE_LOCK &&
	       (strcmp(last, "EOF") == 0 || strtoull(last, NULL, 10) >= WRITE_LOCK);
}

/* find returns the pid of the process that holds the lock, 0 if the process cannot be seen from
 * here, or -1 if nobody holds the lock. */
static long find(ino_t inode)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	long pid = -1;

	while (locks && fgets(line, sizeof line, locks))
		if (is_writer(line, inode, &pid))
			break;
		else
			pid = -1;
	if (locks)
		(void)fclose(locks); /* the file was only read */
	return pid > 0 ? pid : pid == -1 ? -1 : 0;
}

static void name_of(long pid, char *ret_name, size_t size)
{
	char path[64];
	FILE *file;

	ret_name[0] = '\0';
	(void)snprintf(path, sizeof path, "/proc/%ld/comm", pid); /* the path always fits */
	file = fopen(path, "re");
	if (file && fgets(ret_name, (int)size, file))
		ret_name[strcspn(ret_name, "\n")] = '\0';
	if (file)
		(void)fclose(file); /* the file was only read */
}

void locker_words(const char *path, char *ret_words, size_t size)
{
	char shared[PATH_MAX], name[32];
	struct stat status;
	long pid;

	ret_words[0] = '\0';
	if (snprintf(shared, sizeof shared, "%s-shm", path) >= (int)sizeof shared ||
	    stat(shared, &status) != 0)
		return;
	pid = find(status.st_ino);
	if (pid > 0 && pid != getpid()) {
		name_of(pid, name, sizeof name);
		(void)snprintf(ret_words, size,
			       "%.100s is locked by process %ld%s%s%s, which is in a transaction",
			       path, pid, name[0] ? " (" : "", name, name[0] ? ")" : "");
	} else if (pid == 0) {
		(void)snprintf(ret_words, size,
			       "%.100s is locked by a process of another container, which is in "
			       "a transaction",
			       path);
	}
}
