/* FILE-standby names a process that waits to become the owner. It is shown to whoever asks for the
 * store's status. The file counts only while that process lives. Nothing depends on it, so no
 * failure is reported. */
#ifndef DW_STORE_SQLITE_STANDBY_H
#define DW_STORE_SQLITE_STANDBY_H

#include <stddef.h>

enum { STANDBY_LINE_SIZE = 320 };

/* sqlite_standby_enter writes this process into the file, unless the file names another process
 * that lives. */
void sqlite_standby_enter(const char *path);

/* sqlite_standby_leave removes the file if it names this process. */
void sqlite_standby_leave(const char *path);

/* sqlite_standby_read reads the file as one line for people. The line is "" if no process waits. */
void sqlite_standby_read(const char *path, char ret_line[STANDBY_LINE_SIZE]);

#endif
