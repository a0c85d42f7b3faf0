/* The files of a store: the database, the two files that SQLite keeps beside it, and our own. This
 * part remembers which file each name belongs to. When a program removes or replaces a file that is
 * open, neither SQLite nor the kernel reports it, and whatever is committed after that is lost with
 * the last process that has the file open. */
#ifndef DW_STORE_SQLITE_FILES_H
#define DW_STORE_SQLITE_FILES_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/alloc.h"

enum sqlite_file {
	FILE_DATABASE,
	FILE_LOG,
	FILE_MEMORY, /* SQLite's index of the log, shared by all connections */
	FILE_OWNER,
	FILE_RESERVE,
	FILE_WAKE,
	FILE_STANDBY,
	FILE_COUNT
};

struct sqlite_files {
	const char *path[FILE_COUNT];
	char *names; /* all names, in one allocated block */
	struct sqlite_file_identity {
		dev_t device;
		ino_t number;
		bool known;
	} known[FILE_COUNT];
};

enum sqlite_file_state {
	FILE_IS_SAME, /* the file that was noted, or none is there and none was noted */
	FILE_IS_MISSING,
	FILE_IS_ANOTHER,
	FILE_IS_HIDDEN /* this process may not look whether it is there; errno says why */
};

/* sqlite_files_name makes the names from the real path, as SQLite does: a symbolic link leads to
 * the same file, which must have the same owner. Returns DW_OK, DW_ESTORE or DW_ENOMEM. */
int sqlite_files_name(struct sqlite_files *ret_files, const struct alloc *, const char *path,
		      char *ret_message);
void sqlite_files_free(struct sqlite_files *, const struct alloc *);

/* sqlite_files_open opens one of our own files, or makes it, so that its user may read and write it
 * under any umask. `flags` is what open() gets besides O_CREAT, O_CLOEXEC and O_NOFOLLOW. Returns a
 * descriptor, or -1 with errno set. */
int sqlite_files_open(const char *path, int flags);

/* sqlite_files_give gives an empty file that root has made to the user of the database beside which
 * it lies. sqlite_files_open does so, too. */
void sqlite_files_give(const char *path, int fd);

/* sqlite_files_is_ours returns true for a file with one name that belongs to this user, or for root
 * to the user of the database beside which it lies. */
bool sqlite_files_is_ours(const char *path, const struct stat *);

/* sqlite_files_note remembers the file that has the name now. Returns false if there is none. */
bool sqlite_files_note(struct sqlite_files *, enum sqlite_file);

/* sqlite_files_look compares the file that has the name now with the one that was noted, by one
 * system call. */
enum sqlite_file_state sqlite_files_look(const struct sqlite_files *, enum sqlite_file);

/* sqlite_files_find returns the first of the files whose name no longer leads to the noted file, or
 * FILE_COUNT. */
enum sqlite_file sqlite_files_find(const struct sqlite_files *);

#endif
