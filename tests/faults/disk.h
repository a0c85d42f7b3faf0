/* A small real file system for a test to fill.
 *
 * A tmpfs mounted where only this process and its children see it: as root in a mount namespace, as
 * anybody else in a user namespace, too. Where neither is permitted, as in most containers, a
 * /dev/shm that is small already, as in most containers. Where there is none of these the test
 * fails: a full disk that was not tested must not look tested. */
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
