/* A small real file system that a test can fill.
 *
 * It is a tmpfs mounted where only this process and its children see it. Root mounts it in a mount
 * namespace, other users also need a user namespace. If neither is permitted, as in most
 * containers, a /dev/shm that is already small is used. If there is none of these, the test fails:
 * a full disk that was not tested must not look tested. */
#ifndef DW_TESTS_FAULTS_DISK_H
#define DW_TESTS_FAULTS_DISK_H

#include <stdbool.h>

#include "support/temp.h"

struct disk {
	char folder[TEMP_SIZE]; /* on it */
	char ballast[TEMP_SIZE];
	bool borrowed; /* it is the system's */
};

/* disk_make: the process has one thread and is the test's own, because it does not return to where
 * it was. folder is an empty one to mount it on. False: and a word about it on stdout. */
bool disk_make(struct disk *ret_disk, const char *folder);
void disk_free(struct disk *);

/* disk_fill leaves no byte. disk_clear: the space that was filled is there again. */
void disk_fill(const struct disk *);
void disk_clear(const struct disk *);

#endif
