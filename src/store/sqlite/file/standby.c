#include "store/sqlite/file/standby.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/identity.h"
#include "store/sqlite/file/files.h"

static void read_text(const char *path, char ret_text[STANDBY_LINE_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t size = fd < 0 ? -1 : read(fd, ret_text, STANDBY_LINE_SIZE - 1);

	ret_text[size > 0 ? size : 0] = '\0';
	if (fd >= 0)
		(void)close(fd); /* the file was only read */
}

void sqlite_standby_read(const char *path, char ret_line[STANDBY_LINE_SIZE])
{
	char *bar;

	read_text(path, ret_line);
	bar = strchr(ret_line, '|');
	if (!bar || !identity_is_alive(bar + 1))
		bar = ret_line;
	*bar = '\0';
}

void sqlite_standby_enter(const char *path)
{
	char text[STANDBY_LINE_SIZE];
	int fd;

	sqlite_standby_read(path, text);
	if (text[0] != '\0')
		return;
	identity_write(text, sizeof text);
	fd = sqlite_files_open(path, O_WRONLY | O_TRUNC | O_NONBLOCK);
	if (fd < 0)
		return;
	/* If only a part of the text is written, readers find no process in it. */
	(void)!write(fd, text, strlen(text));
	(void)close(fd);
}

void sqlite_standby_leave(const char *path)
{
	char text[STANDBY_LINE_SIZE], self[STANDBY_LINE_SIZE];

	read_text(path, text);
	identity_write(self, sizeof self);
	if (strcmp(text, self) == 0)
		(void)unlink(path);
}
