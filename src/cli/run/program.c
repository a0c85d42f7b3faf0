#include "cli/run/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path that execvp() searches if PATH is not set. */
#define PATH_DEFAULT "/bin:/usr/bin"

/* is_program returns true if the path is an executable file. A folder has the same permission bit,
 * so it is excluded. */
static bool is_program(const char *path)
{
	struct stat file;

	return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

bool program_is_there(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/'))
		return is_program(name);
	for (at = at ? at : PATH_DEFAULT;; at++) {
		size_t size = strcspn(at, ":"); /* an empty entry means the current folder */
		int length = snprintf(path, sizeof path, "%.*s%s%s", (int)size, at,
				      size > 0 ? "/" : "", name);

		if (length > 0 && length < (int)sizeof path && is_program(path))
			return true;
		at += size;
		if (!*at)
			return false;
	}
}
