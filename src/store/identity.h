/* Which process this is, by more than its number, which is used again: so that another process of
 * the same machine can see that an owner is dead. */
#ifndef DW_STORE_IDENTITY_H
#define DW_STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BOOT_SIZE 64

struct identity {
	int64_t pid;
	int64_t start;     /* in ticks since boot; 0: /proc could not be read */
	int64_t pid_space; /* the namespace that pid is of */
	char boot[IDENTITY_BOOT_SIZE];
};

struct identity identity_of_process(void);

/* identity_lives: that process is still there, as far as this one can see. */
bool identity_lives(int64_t pid, int64_t start, const char *boot);

/* identity_line writes one line for people: "HOST, pid N, durawheel V". identity_write adds '|' and
 * what identity_is_dead reads. */
void identity_line(char *ret_text, size_t size);
void identity_write(char *ret_text, size_t size);

/* identity_is_dead: text (behind the '|') is a process of this machine and of this pid namespace
 * that is not there any more: kill() does not find it, or its start time can be read and is another
 * one. Anything else is not known to be dead. */
bool identity_is_dead(const char *text);

#endif
