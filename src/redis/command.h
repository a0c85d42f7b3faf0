/* The words of one command, gathered without a copy: they point to what the caller keeps until the
 * command is sent. Numbers are written into room of their own. */
#ifndef DW_REDIS_COMMAND_H
#define DW_REDIS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_MAX 2500
#define WORDS_FIRST 32 /* more than a command has before its operations: script, keys, guard */
#define WORDS_ROOM (WORDS_MAX * 21)

struct words {
	bool cut; /* there were more than that: it must not be sent */
	int count;
	size_t used;
	const char *word[WORDS_MAX];
	size_t size[WORDS_MAX];
	char room[WORDS_ROOM];
};

void words_clear(struct words *);
void words_bytes(struct words *, const void *bytes, size_t size);
void words_text(struct words *, const char *text);
void words_number(struct words *, int64_t number);
void words_unsigned(struct words *, uint64_t number); /* a generation, which may be damaged */
/* words_time adds the eight bytes of a deadline, little-endian. */
void words_time(struct words *, int64_t time);

#endif
