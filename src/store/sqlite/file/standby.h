/* FILE-standby names a process that waits to become the owner, for those who ask for the status.
 * The file counts only while that process lives. Nothing depends on it, so no failure is told. */
#ifndef DW_STORE_SQLITE_STANDBY_H
#define DW_STORE_SQLITE_STANDBY_H

#include <stddef.h>

enum { STANDBY_LINE_SIZE = 320 };

/* sqlite_standby_enter names this process, unless another one that lives is named. */
void sqlite_standby_enter(const char *path);

/* sqlite_standby_leave removes the file if it names this process. */
void sqlite_standby_leave(const char *path);

/* sqlite_standby_read reads one line for people, or "". */
void sqlite_standby_read(const char *path, char ret_line[STANDBY_LINE_SIZE]);

#endif
