#include "support/temp.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void temp_make(char *path)
{
	const char *parent = getenv("TMPDIR");
	int size = snprintf(path, TEMP_SIZE, "%s/dw-test-XXXXXX", parent ? parent : "/tmp");

	if (size < 0 || size >= TEMP_SIZE || !mkdtemp(path)) {
		perror("temp_make");
		abort();
	}
}

char *temp_file(char *path, const char *folder, const char *name)
{
	int size = snprintf(path, TEMP_SIZE, "%s/%s", folder, name);

	if (size < 0 || size >= TEMP_SIZE)
		abort();
	return path;
}

void temp_copy(const char *from, const char *to)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execlp("cp", "cp", from, to, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		abort();
}

/* The folder contains only files, because tests make no folders in it. */
void temp_remove(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char name[TEMP_SIZE];

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			(void)unlink(temp_file(name, path, entry->d_name)); /* rmdir() tells */
	if (folder)
		(void)closedir(folder); /* the folder was only read */
	if (rmdir(path) != 0)
		perror(path);
}
