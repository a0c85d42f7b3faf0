#include "store/sqlite/file/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_SIZE = 16 * 1024 };
#define TABLE "/proc/self/mountinfo"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000 /* the kernel sets this flag since Linux 5.8 */
#endif

/* next_of returns the next character of a name in the table. The table writes blanks and some other
 * characters as a backslash and three octal digits. */
static char next_of(const char **at)
{
	const char *text = *at;

	*at = text + 1;
	if (text[0] != '\\' || !text[1] || !text[2] || !text[3])
		return text[0];
	*at = text + 4;
	return (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
}

static bool is_name(const char *at, const char *path)
{
	while (*path && *at && *at != ' ')
		if (next_of(&at) != *path++)
			return false;
	return *path == '\0' && *at == ' ';
}

/* is_mounted returns true if the fifth word of the line is the path. */
static bool is_mounted(const char *line, const char *path)
{
	for (int words = 4; words > 0; words--) {
		while (*line && *line != ' ')
			line++;
		if (*line++ == '\0')
			return false;
	}
	return is_name(line, path);
}

bool sqlite_mount_is_listed(FILE *table, const char *path)
{
	char line[LINE_SIZE];
	bool begins = true, found = false;

	while (!found && fgets(line, sizeof line, table)) {
		found = begins && is_mounted(line, path);
		begins = strchr(line, '\n') != NULL;
	}
	return found;
}

bool sqlite_mount_is_file(const char *path)
{
	FILE *table;
	bool found;

#ifdef STATX_TYPE /* musl has it since 1.2.4 */
	struct statx status;

	if (statx(AT_FDCWD, path, 0, STATX_TYPE, &status) == 0 &&
	    status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return S_ISREG(status.stx_mode) && status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
#endif
	table = fopen(TABLE, "re");
	if (!table)
		return false;
	found = sqlite_mount_is_listed(table, path);
	(void)fclose(table); /* the file was only read */
	return found;
}
