#include "store/sqlite/file/denied.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durawheel/error.h"

/* cut_name turns a path into the path of its folder. Returns false if the path has no folder. */
static bool cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
		return false;
	if (!slash)
		path[0] = '.';
	path[!slash || slash == path ? 1 : slash - path] = '\0';
	return true;
}

void sqlite_denied(const char *path, char *ret_message)
{
	char at[PATH_MAX];
	struct stat status;
	bool is_file = true, is_found;

	(void)snprintf(at, sizeof at, "%s", path); /* the path of a file that was opened fits */
	while (!(is_found = stat(at, &status) == 0) && cut_name(at))
		is_file = false;
	if (!is_found)
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%.120s: Permission denied", path);
	else if (is_file)
		(void)snprintf(
		    ret_message, DW_MESSAGE_SIZE,
		    "%.90s: Permission denied: it belongs to user %u (mode %03o), and this "
		    "process is user %u: run as that user, or let this one read and write it",
		    path, status.st_uid, status.st_mode & 07777u, geteuid());
	else
		(void)snprintf(
		    ret_message, DW_MESSAGE_SIZE,
		    "%.70s: Permission denied: the folder %.50s belongs to user %u (mode "
		    "%03o), and this process is user %u: let it search and write the folder",
		    path, at, status.st_uid, status.st_mode & 07777u, geteuid());
}
