/* A folder for one test, which is deleted with its files afterwards. */
#ifndef DW_TESTS_TEMP_H
#define DW_TESTS_TEMP_H

#define TEMP_SIZE 512

/* temp_make writes the path of a new folder into path (TEMP_SIZE bytes). */
void temp_make(char *path);
void temp_remove(const char *path);

/* temp_copy copies a file by another process. Closing a database file in this process would drop
 * the locks that it has on the file. */
void temp_copy(const char *from, const char *to);

/* temp_file writes folder/name into path (TEMP_SIZE bytes). Returns path. */
char *temp_file(char *path, const char *folder, const char *name);

#endif
