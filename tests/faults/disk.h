/* A small real file system that a test can fill.
 *
 * It is a tmpfs mounted where only this process and its children see it. Root mounts it in a mount
 * namespace, other users also need a user namespace. If neither is permitted, as in most
 * containers, a /dev/shm that is already small is used. If there is none of these, the test is
 * skipped. */
#ifndef DW_TESTS_FAULTS_DISK_H
#define DW_TESTS_FAULTS_DISK_H

#include <stdbool.h>

#include "support/temp.h"

struct disk {
	char folder[TEMP_SIZE]; /* a folder on the file system */
	char ballast[TEMP_SIZE];
	bool borrowed; /* the file system belongs to the system */
};

/* disk_make mounts the file system on the empty folder. The process must have one thread and must
 * be the test's own, because it cannot leave the namespace. False: the reason is on stdout. */
bool disk_make(struct disk *ret_disk, const char *folder);
void disk_free(struct disk *);

/* disk_fill fills the file system to the last byte. disk_clear frees the space again. */
void disk_fill(const struct disk *);
void disk_clear(const struct disk *);

#endif
