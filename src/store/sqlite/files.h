/* The files of a store, by name and by what they are: the database, SQLite's two beside it, and
 * ours. A name may be taken from an open file, or given to another one, and neither SQLite nor the
 * kernel says so: what is committed then is gone with the last process that has it open. */
#ifndef DW_STORE_SQLITE_FILES_H
#define DW_STORE_SQLITE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/alloc.h"

enum sqlite_file {
	FILE_DATABASE,
	FILE_LOG,
	FILE_MEMORY, /* shared by all connections: SQLite's index of the log */
	FILE_OWNER,
	FILE_RESERVE,
	FILE_WAKE,
	FILE_COUNT
};

struct sqlite_files {
	const char *path[FILE_COUNT];
	char *names; /* one block of them */
	struct sqlite_file_identity {
		dev_t device;
		ino_t number;
		bool known;
	} known[FILE_COUNT];
};

enum sqlite_file_state {
	FILE_IS_SAME, /* as it was noted; or it was not, and nothing is expected */
	FILE_IS_MISSING,
	FILE_IS_ANOTHER
};

/* sqlite_files_name names them as SQLite knows the path: through a symbolic link it is the same
 * file and must have the same owner. DW_OK, DW_ESTORE, DW_ENOMEM. */
int sqlite_files_name(struct sqlite_files *ret_files, const struct alloc *, const char *path,
		      char *ret_message);
void sqlite_files_free(struct sqlite_files *, const struct alloc *);

/* sqlite_files_note remembers which file has the name now. False: no file has it. */
bool sqlite_files_note(struct sqlite_files *, enum sqlite_file);

/* sqlite_files_look costs one system call. */
enum sqlite_file_state sqlite_files_look(const struct sqlite_files *, enum sqlite_file);

/* sqlite_files_find: the first file that is not as it was noted, or FILE_COUNT. */
enum sqlite_file sqlite_files_find(const struct sqlite_files *);

#endif
