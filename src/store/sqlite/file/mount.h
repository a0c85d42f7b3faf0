/* Is a file mounted alone? Then it has another name in the file system that it comes from. */
#ifndef DW_STORE_SQLITE_MOUNT_H
#define DW_STORE_SQLITE_MOUNT_H

#include <stdbool.h>
#include <stdio.h>

/* sqlite_mount_is_file returns true if the real path is that of a file which is mounted there.
 * False: it is not, or the kernel does not say. */
bool sqlite_mount_is_file(const char *path);

/* sqlite_mount_is_listed returns true if the table of mounts, as /proc/self/mountinfo, has the
 * path. */
bool sqlite_mount_is_listed(FILE *table, const char *path);

#endif
