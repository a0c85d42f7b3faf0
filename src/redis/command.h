/* One command, gathered word by word without a copy: the words point to bytes that the caller keeps
 * until the command is sent. Only numbers are copied, into the command's own room. */
#ifndef DW_REDIS_COMMAND_H
#define DW_REDIS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_WORDS_MAX 3100
#define COMMAND_WORDS_FIRST 32 /* enough for the words before the operations: script, keys, guard */
#define COMMAND_ROOM (COMMAND_WORDS_MAX * 21)

struct redis_command {
	bool cut; /* the command had more than COMMAND_WORDS_MAX words and must not be sent */
	int count;
	size_t used;
	const char *word[COMMAND_WORDS_MAX];
	size_t size[COMMAND_WORDS_MAX];
	char room[COMMAND_ROOM];
};

void command_clear(struct redis_command *);
void command_bytes(struct redis_command *, const void *bytes, size_t size);
void command_text(struct redis_command *, const char *text);
void command_number(struct redis_command *, int64_t number);
void command_unsigned(struct redis_command *,
		      uint64_t number); /* for versions: a damaged one may be above INT64_MAX */
/* command_replace_number puts a number in the place of a word. */
void command_replace_number(struct redis_command *, int word, int64_t number);
/* command_time adds the eight bytes of a deadline, little-endian. */
void command_time(struct redis_command *, int64_t time);

#endif
