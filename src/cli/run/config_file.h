/* The lines of a configuration file: sections, and keys with values. */
#ifndef DW_CLI_CONFIG_FILE_H
#define DW_CLI_CONFIG_FILE_H

#include <stddef.h>

/* A line without its newline, shorter than this. */
#define CONFIG_LINE_MAX 4096

struct config_lines {
	/* A section begins. name NULL: a fault about it comes next. */
	void (*section)(size_t line, const char *name, void *user);
	/* The section has this key. */
	void (*key)(size_t line, const char *key, const char *value, void *user);
	/* The line is neither a section nor a key. */
	void (*fault)(size_t line, const char *why, void *user);
	void *user;
};

/* config_file_read calls a function for each line that has something. EXIT_DONE: the file was read
 * to its end; or it complains, with the path. */
int config_file_read(const char *path, const struct config_lines *);

#endif
