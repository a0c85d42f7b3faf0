/* Identifies a process by more than its pid, because the kernel gives the same pid to later
 * processes. So another process on the same machine can see that an owner is dead. */
#ifndef DW_STORE_IDENTITY_H
#define DW_STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BOOT_SIZE 64

struct identity {
	int64_t pid;
	/* When the process started, in ticks since boot; 0 if /proc could not be read. */
	int64_t start;
	int64_t pid_space; /* the pid namespace in which pid is valid */
	char boot[IDENTITY_BOOT_SIZE];
};

struct identity identity_of_process(void);

/* identity_lives returns true if that process still runs on this machine, as far as this process
 * can see. */
bool identity_lives(int64_t pid, int64_t start, const char *boot);

/* identity_line writes one line for people: "HOST, pid N, durawheel V". identity_write writes the
 * same line, a '|' and the part that identity_is_dead reads. */
void identity_line(char *ret_text, size_t size);
void identity_write(char *ret_text, size_t size);

/* identity_is_dead reads the part of an identity line behind the '|'. It returns true if that part
 * names a process of this machine and this pid namespace, and either kill() does not find the
 * process, or its start time differs. If anything is unknown, it returns false. identity_is_alive
 * reads the same part and returns the result of identity_lives() for it. */
bool identity_is_dead(const char *text);
bool identity_is_alive(const char *text);

#endif
