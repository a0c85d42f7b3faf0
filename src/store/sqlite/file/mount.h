/* Finds out whether a path is a single file that is mounted (a bind mount). Such a file has another
 * name in the file system from which it comes. */
#ifndef DW_STORE_SQLITE_MOUNT_H
#define DW_STORE_SQLITE_MOUNT_H

#include <stdbool.h>
#include <stdio.h>

/* sqlite_mount_is_file returns true if a file is mounted on this real path. It returns false if
 * none is, or if the kernel does not say. */
bool sqlite_mount_is_file(const char *path);

/* sqlite_mount_is_listed returns true if the table of mounts contains the path. The table has the
 * format of /proc/self/mountinfo. */
bool sqlite_mount_is_listed(FILE *table, const char *path);

#endif
