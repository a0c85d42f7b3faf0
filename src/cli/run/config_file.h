/* Reads the lines of a configuration file: sections, and keys with values. */
#ifndef DW_CLI_CONFIG_FILE_H
#define DW_CLI_CONFIG_FILE_H

#include <stddef.h>

/* The limit for the length of a line, without its newline. */
#define CONFIG_LINE_MAX 4096

struct config_lines {
	/* A section begins here. If name is NULL, the section is invalid and a fault follows. */
	void (*section)(size_t line, const char *name, void *user);
	/* The current section has this key. */
	void (*key)(size_t line, const char *key, const char *value, void *user);
	/* The line is neither a section nor a key. */
	void (*fault)(size_t line, const char *why, void *user);
	void *user;
};

/* config_file_read calls one of the functions for each line that is not empty and not a comment.
 * Returns EXIT_DONE if it has read the whole file. Otherwise it complains and names the path. */
int config_file_read(const char *path, const struct config_lines *);

#endif
