/* Identifies a process by more than its number, because the kernel uses numbers again. So another
 * process on the same machine can see that an owner is dead. */
#ifndef DW_STORE_IDENTITY_H
#define DW_STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BOOT_SIZE 64

struct identity {
	int64_t pid;
	int64_t start;     /* in ticks since boot; 0: /proc could not be read */
	int64_t pid_space; /* the pid namespace in which pid is valid */
	char boot[IDENTITY_BOOT_SIZE];
};

struct identity identity_of_process(void);

/* identity_lives: true if that process still runs on this machine, as far as this process can
 * see. */
bool identity_lives(int64_t pid, int64_t start, const char *boot);

/* identity_line writes one line for people: "HOST, pid N, durawheel V". identity_write writes the
 * same line, a '|' and the part that identity_is_dead reads. */
void identity_line(char *ret_text, size_t size);
void identity_write(char *ret_text, size_t size);

/* identity_is_dead takes the part behind the '|'. True: it names a process of this machine and this
 * pid namespace, and either kill() does not find the process, or its start time differs. If
 * anything is unknown, the answer is false. identity_is_alive is identity_lives() of that part. */
bool identity_is_dead(const char *text);
bool identity_is_alive(const char *text);

#endif
