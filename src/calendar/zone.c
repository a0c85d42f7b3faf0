#include "calendar/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "calendar/tzif.h"
#include "durawheel/durawheel.h"

enum { FILE_MAX = 128 * 1024, ZONE_NAME_MAX = 64 };
#define DEFAULT_FOLDER "/usr/share/zoneinfo"

/* name_is_safe returns true if the name consists of words of letters, digits, '_', '-' and '+' with
 * slashes between them. Such a name does not lead out of the folder. */
static bool name_is_safe(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+/";
	size_t length = strnlen(name, ZONE_NAME_MAX + 1);

	return length > 0 && length <= ZONE_NAME_MAX && strspn(name, allowed) == length &&
	       *name != '/' && name[length - 1] != '/' && !strstr(name, "//");
}

/* is_of_machine returns true for file names that stand for the machine's own zone. They mean
 * another zone on each machine. */
static bool is_of_machine(const char *name)
{
	return strcmp(name, "localtime") == 0 || strcmp(name, "posixrules") == 0;
}

/* open_regular returns a descriptor, or -1 and the reason. Opening a pipe would block, and opening
 * a device may already do something. So the file is checked before it is opened, and again once it
 * is open. */
static int open_regular(const char *path, const char **ret_fault)
{
	struct stat status;
	int descriptor = -1;

	*ret_fault = "it is not a regular file";
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return -1;
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (descriptor < 0) {
		*ret_fault = strerror(errno);
		return -1;
	}
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
		return descriptor;
	(void)close(descriptor); /* nothing was written */
	return -1;
}

/* read_all fills bytes with at most max bytes. It returns the number of bytes that it has read, or
 * -1. */
static ssize_t read_all(int descriptor, unsigned char *bytes, size_t max)
{
	size_t size = 0;

	while (size < max) {
		ssize_t count = read(descriptor, bytes + size, max - size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		if (count == 0)
			break;
		size += (size_t)count;
	}
	return (ssize_t)size;
}

/* load_file reads the file into bytes (FILE_MAX of them) and makes the table. */
static int load_file(const struct alloc *alloc, const char *path, unsigned char *bytes,
		     struct zone_table **ret_table, char *ret_message)
{
	const char *fault = NULL;
	int descriptor = open_regular(path, &fault);
	int status;
	ssize_t size;

	if (descriptor < 0)
		return message_refuse(ret_message,
				      "zone: %.150s: %.60s; write an IANA name, as Europe/London",
				      path, fault);
	size = read_all(descriptor, bytes, FILE_MAX);
	(void)close(descriptor); /* nothing was written */
	if (size < 0)
		return message_refuse(ret_message, "zone: cannot read %.150s", path);
	if (size == FILE_MAX)
		return message_refuse(ret_message, "zone: %.150s is not a zone: it is too large",
				      path);
	status = tzif_read(alloc, bytes, (size_t)size, ret_table, &fault);
	if (status == DW_EINVAL)
		return message_refuse(ret_message, "zone: %.150s %s", path, fault);
	return status;
}

/* path_of writes the path of a zone's file (PATH_MAX bytes). It returns false if the path is too
 * long. */
static bool path_of(const char *name, char *ret_path)
{
	const char *folder = getenv("TZDIR");
	int length = snprintf(ret_path, PATH_MAX, "%s/%s",
			      folder && *folder ? folder : DEFAULT_FOLDER, name);

	return length >= 0 && length < PATH_MAX;
}

struct zone_stamp zone_stamp(const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	if (!name || strcmp(name, "UTC") == 0 || !name_is_safe(name) || !path_of(name, path) ||
	    stat(path, &status) != 0)
		return (struct zone_stamp){0};
	return (struct zone_stamp){status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size,
				   (int64_t)status.st_ino};
}

/* The first line of tzdata.zi is "# version 2025b". */
void zone_data_version(char *ret_version, size_t size)
{
	char path[PATH_MAX], version[16] = "";
	unsigned char line[64] = "";
	const char *fault;
	int descriptor = path_of("tzdata.zi", path) ? open_regular(path, &fault) : -1;

	if (descriptor >= 0 && read_all(descriptor, line, sizeof line - 1) > 0)
		/* if the file cannot be read, the version stays empty */
		(void)sscanf((const char *)line, "# version %15[0-9a-z]", version);
	if (descriptor >= 0)
		(void)close(descriptor);
	(void)snprintf(ret_version, size, "%s", version); /* a long one is cut */
}

int zone_load(const struct alloc *alloc, const char *name, struct zone_table **ret_table,
	      char *ret_message)
{
	unsigned char *bytes;
	char path[PATH_MAX];
	int status;

	if (!name || strcmp(name, "UTC") == 0) {
		*ret_table = NULL;
		return DW_OK;
	}
	if (!name_is_safe(name))
		return message_refuse(ret_message,
				      "zone: \"%.64s\" is not a name: write an IANA name, as "
				      "Europe/London",
				      name);
	if (is_of_machine(name))
		return message_refuse(ret_message,
				      "zone: %s is another zone on each machine: write an IANA "
				      "name, as Europe/London",
				      name);
	if (!path_of(name, path))
		return message_refuse(ret_message, "zone: TZDIR is too long");
	bytes = alloc_new(alloc, FILE_MAX);
	if (!bytes)
		return DW_ENOMEM;
	status = load_file(alloc, path, bytes, ret_table, ret_message);
	alloc_free(alloc, bytes);
	return status;
}

/* count_until returns how many changes are at second or earlier. */
static size_t count_until(const struct zone_table *table, int64_t second)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->changes[middle].at <= second)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct zone_span span_of_table(const struct zone_table *table, int64_t second)
{
	size_t count = count_until(table, second);
	struct zone_span span = {INT64_MIN, INT64_MAX, table->first, table->first};

	if (count > 0) {
		span.begin = table->changes[count - 1].at;
		span.offset = table->changes[count - 1].offset;
	}
	if (count > 1)
		span.before = table->changes[count - 2].offset;
	if (count < table->count)
		span.end = table->changes[count].at;
	return span;
}

/* go_on continues the last span of the table by the changes of the footer. A change that the
 * table also has begins no new span. */
static void go_on(const struct zone_table *table, int64_t second, struct zone_span *span)
{
	struct zone_change changes[FOOTER_CHANGES];
	int32_t of_table = span->offset;

	footer_changes(&table->footer, second, changes);
	for (int i = 0; i < FOOTER_CHANGES; i++) {
		bool last = i + 1 == FOOTER_CHANGES;

		/* Of two changes at one moment the later one counts. */
		if ((!last && changes[i + 1].at == changes[i].at) ||
		    changes[i].offset == span->offset)
			continue;
		if (changes[i].at > second) {
			span->end = changes[i].at;
			break;
		}
		if (changes[i].at > table->footer_from) {
			span->before = span->offset;
			span->begin = changes[i].at;
		}
		span->offset = changes[i].offset;
	}
	if (span->offset != of_table && span->begin < table->footer_from) {
		span->before = of_table;
		span->begin = table->footer_from;
	}
}

/* end_of_table returns where the table's last span ends. The last entry of a file may change
 * nothing. It then only marks the time from which the footer counts, so the span continues until
 * the footer's next change. */
static int64_t end_of_table(const struct zone_table *table, const struct zone_span *last)
{
	struct zone_span next = *last;

	go_on(table, table->footer_from, &next);
	return next.offset == last->offset ? next.end : table->footer_from;
}

struct zone_span zone_span_at(const struct zone_table *table, int64_t second)
{
	struct zone_span span = {INT64_MIN, INT64_MAX, 0, 0};

	if (!table)
		return span;
	span = span_of_table(table, second);
	if (!table->footer.changes)
		return span;
	if (second >= table->footer_from)
		go_on(table, second, &span);
	else if (span.end == INT64_MAX)
		span.end = end_of_table(table, &span);
	return span;
}
