/* Reads a file that the URL names. Reading never blocks, not even if the path is a pipe that nobody
 * writes to. */
#ifndef DW_REDIS_SECRET_FILE_H
#define DW_REDIS_SECRET_FILE_H

#include <stdbool.h>

#include "base/alloc.h"

struct secret_file {
	const char *path;
	const char *nameless; /* what messages call the file when they do not show its name */
	const char *what;     /* what messages call the file, in front of its name */
	/* The name may be a misplaced password, so messages show it only if there is such a
	 * file. */
	bool is_hidden;
	bool is_private; /* the file is refused if others than its owner may read it */
	size_t most;     /* the most bytes that it may have */
};

/* secret_file_read reads a regular file. On DW_OK *ret_text has *ret_size bytes and a NUL behind
 * them; secret_file_free overwrites and frees them. DW_EINVAL: ret_message (DW_MESSAGE_SIZE bytes)
 * says why. DW_ENOMEM. */
int secret_file_read(const struct secret_file *, const struct alloc *, char **ret_text,
		     size_t *ret_size, char *ret_message);
void secret_file_free(const struct alloc *, char *text, size_t size);

#endif
