#include "redis/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "durawheel/durawheel.h"

static int refuse_open(const struct secret_file *file, char *message)
{
	if (file->is_hidden)
		return message_refuse(message, "the %s cannot be opened: %s", file->nameless,
				      strerror(errno));
	return message_refuse(message, "the %s \"%.120s\" cannot be opened: %s", file->what,
			      file->path, strerror(errno));
}

static int open_file(const struct secret_file *file, int *ret_fd, size_t *ret_size, char *message)
{
	struct stat status;
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result = DW_OK;

	if (fd < 0)
		return refuse_open(file, message);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		result = message_refuse(message, "the %s \"%.120s\" is not a regular file",
					file->what, file->path);
	else if (file->is_private && (status.st_mode & 077))
		result = message_refuse(message,
					"the %s \"%.120s\" may be read or changed by others than "
					"its owner: chmod 600",
					file->what, file->path);
	else if (status.st_size < 0 || (size_t)status.st_size > file->most)
		result = message_refuse(message, "the %s \"%.120s\" is longer than %zu bytes",
					file->what, file->path, file->most);
	if (result != DW_OK)
		(void)close(fd); /* the file was only read */
	else
		*ret_size = (size_t)status.st_size;
	*ret_fd = fd;
	return result;
}

/* read_all reads at most *size bytes, and sets *size to what it has read, because the file may have
 * become shorter. It returns 0 or an errno. */
static int read_all(int fd, char *text, size_t *size)
{
	size_t end = 0;
	ssize_t got = 1;

	while (end < *size && got > 0) {
		got = read(fd, text + end, *size - end);
		if (got < 0 && errno == EINTR)
			got = 1;
		else
			end += got > 0 ? (size_t)got : 0;
	}
	*size = end;
	return got < 0 ? errno : 0;
}

int secret_file_read(const struct secret_file *file, const struct alloc *alloc, char **ret_text,
		     size_t *ret_size, char *ret_message)
{
	char *text;
	int fd = -1;
	int error;
	int status = open_file(file, &fd, ret_size, ret_message);

	if (status != DW_OK)
		return status;
	text = alloc_new(alloc, *ret_size + 1);
	error = text ? read_all(fd, text, ret_size) : 0;
	(void)close(fd); /* the file was only read */
	if (!text)
		return DW_ENOMEM;
	*ret_text = text;
	if (error == 0)
		return DW_OK;
	secret_file_free(alloc, text, *ret_size);
	return message_refuse(ret_message, "the %s \"%.120s\" cannot be read: %s", file->what,
			      file->path, strerror(error));
}

void secret_file_free(const struct alloc *alloc, char *text, size_t size)
{
	if (text)
		explicit_bzero(text, size);
	alloc_free(alloc, text);
}
