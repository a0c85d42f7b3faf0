/* One command, gathered word by word without a copy: the words point to bytes that the caller keeps
 * until the command is sent. Only numbers are copied, into a buffer of the command. */
#ifndef DW_REDIS_COMMAND_H
#define DW_REDIS_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

#define COMMAND_WORDS_MAX 3100
#define COMMAND_WORDS_FIRST 32 /* enough for the words before the operations: script, keys, guard */

struct redis_command {
	struct alloc alloc;
	/* DW_OK; DW_ELIMIT or DW_ENOMEM if a word is missing; then do not send the command. */
	int status;
	int count;
	int most;    /* number of words for which there is memory; the memory grows */
	size_t used; /* bytes of `room` that are used */
	const char **word;
	size_t *size;
	char *room; /* buffer for the digits of numbers */
	char *kept; /* memory from command_keep(); NULL if there is none */
};

/* command_clear begins a command. command_free frees its memory. The other functions, but not
 * command_keep, add one word each. Without memory, or beyond COMMAND_WORDS_MAX, they only set
 * `status`. */
void command_clear(struct redis_command *);
void command_free(struct redis_command *);
void command_bytes(struct redis_command *, const void *bytes, size_t size);
void command_text(struct redis_command *, const char *text);
void command_number(struct redis_command *, int64_t number);
void command_unsigned(struct redis_command *,
		      /* Unsigned, because a damaged version may be above INT64_MAX. */
		      uint64_t number);
/* command_keep returns memory that lasts as long as the command. Call it at most once for each
 * command. Without memory it returns NULL and sets `status`. */
char *command_keep(struct redis_command *, size_t size);
/* command_time adds the eight bytes of a deadline, little-endian. */
void command_time(struct redis_command *, int64_t time);

#endif
