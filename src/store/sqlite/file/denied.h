/* Says which permission is missing when a file cannot be opened. */
#ifndef DW_STORE_SQLITE_DENIED_H
#define DW_STORE_SQLITE_DENIED_H

/* sqlite_denied writes (DW_MESSAGE_SIZE bytes) what keeps this process from the file, and what to
 * do about it. Call it when a system call has failed with EACCES. */
void sqlite_denied(const char *path, char *ret_message);

#endif
