#include "store/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "durawheel/durawheel.h"

enum { HOST_SIZE = 65, STAT_SIZE = 1024, THREADS_FIELD = 20, START_FIELD = 22 };

/* read_file reads the beginning of a file of /proc as a string; "" if it cannot be read. */
static void read_file(const char *path, char *ret_text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, ret_text, size - 1);

	ret_text[length > 0 ? length : 0] = '\0';
	if (fd >= 0)
		(void)close(fd); /* the file was only read, so close() loses nothing */
}

/* field_of returns the number in a field of /proc/PID/stat, or 0 if the field cannot be read. The
 * name in field 2 may hold spaces, so the count begins behind its closing parenthesis. */
static int64_t field_of(const char *stat, int number)
{
	const char *at = strrchr(stat, ')');

	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at, NULL, 10) : 0;
}

static void read_stat(int64_t pid, char ret_text[STAT_SIZE])
{
	char path[64];

	/* The path always fits. */
	(void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
	read_file(path, ret_text, STAT_SIZE);
}

static int64_t start_of(int64_t pid)
{
	char text[STAT_SIZE];

	read_stat(pid, text);
	return field_of(text, START_FIELD);
}

/* has_ended returns true if the process is a zombie without threads: it has ended, and its parent
 * has not waited for it yet. If only its first thread has ended, the process still runs. */
static bool has_ended(const char *stat)
{
	const char *name_end = strrchr(stat, ')');

	return name_end && strncmp(name_end, ") Z", 3) == 0 && field_of(stat, THREADS_FIELD) <= 1;
}

/* pid_space returns the number of this process's pid namespace, 4026531836 in "pid:[4026531836]".
 * Returns 0 if it cannot be read. */
static int64_t pid_space(void)
{
	char text[64] = "";
	const char *bracket;

	if (readlink("/proc/self/ns/pid", text, sizeof text - 1) < 0)
		return 0;
	bracket = strchr(text, '[');
	return bracket ? strtoll(bracket + 1, NULL, 10) : 0;
}

struct identity identity_of_process(void)
{
	struct identity self = {
	    .pid = getpid(), .start = start_of(getpid()), .pid_space = pid_space()};

	read_file("/proc/sys/kernel/random/boot_id", self.boot, sizeof self.boot);
	self.boot[strcspn(self.boot, "\n")] = '\0';
	return self;
}

/* is_gone returns true if the kernel says that the process has ended, or that another process has
 * its number now. If /proc cannot be read (hidepid=2), the start time is unknown and the process
 * counts as alive. */
static bool is_gone(int64_t pid, int64_t start)
{
	char stat[STAT_SIZE];
	int64_t found;

	if (pid <= 0 || pid > INT_MAX)
		return false;
	if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
		return true;
	read_stat(pid, stat);
	found = field_of(stat, START_FIELD);
	return has_ended(stat) || (start != 0 && found != 0 && found != start);
}

bool identity_lives(int64_t pid, int64_t start, const char *boot)
{
	struct identity self = identity_of_process();

	return strcmp(boot, self.boot) == 0 && pid > 0 && !is_gone(pid, start);
}

void identity_line(char *ret_text, size_t size)
{
	char host[HOST_SIZE] = "unknown";

	(void)gethostname(host, sizeof host - 1); /* if this fails, the host stays "unknown" */
	(void)snprintf(ret_text, size, "%s, pid %ld, durawheel %s", host, (long)getpid(),
		       dw_version()); /* a long line is cut */
}

void identity_write(char *ret_text, size_t size)
{
	struct identity self = identity_of_process();
	size_t used;

	identity_line(ret_text, size);
	used = strlen(ret_text);
	(void)snprintf(ret_text + used, size - used, "|%s %" PRId64 " %" PRId64 " %" PRId64,
		       self.boot, self.pid_space, self.pid, self.start); /* the text always fits */
}

/* identity_read reads the part of an identity line behind the '|'. Returns false if the text is not
 * such a part. */
static bool identity_read(const char *text, struct identity *ret_identity)
{
	size_t boot_size = strcspn(text, " ");
	const char *at = text + boot_size;
	int64_t numbers[3];

	if (boot_size == 0 || boot_size >= IDENTITY_BOOT_SIZE)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		char *end;

		numbers[i] = strtoll(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	*ret_identity =
	    (struct identity){.pid_space = numbers[0], .pid = numbers[1], .start = numbers[2]};
	memcpy(ret_identity->boot, text, boot_size);
	return true;
}

bool identity_is_dead(const char *text)
{
	struct identity self = identity_of_process(), other;

	return identity_read(text, &other) && strcmp(other.boot, self.boot) == 0 &&
	       self.pid_space != 0 && other.pid_space == self.pid_space &&
	       is_gone(other.pid, other.start);
}

bool identity_is_alive(const char *text)
{
	struct identity other;

	return identity_read(text, &other) && identity_lives(other.pid, other.start, other.boot);
}
