/* Calls the scripts of the Redis store, one at a time, on the test's own server. */
#ifndef DW_TESTS_SCRIPT_FIXTURE_H
#define DW_TESTS_SCRIPT_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#if DW_WITH_REDIS

#include <hiredis/hiredis.h>

#include "support/redis_server.h"

#define CALL_WORDS_MAX 1600
#define CALL_BYTES_MAX (256 * 1024)

struct scripts {
	struct redis_server server;
	redisContext *link;
	unsigned shard;  /* the shard, one of 16 in the namespace "t" */
	char token[128]; /* the token of the owner */
	uint64_t fence;
	uint64_t mark; /* the owner's last operation number */
	uint64_t sent; /* the client's last operation number; its conn is 1 */
	unsigned owners;
	redisReply *reply; /* the last reply; the next call frees it */

	/* The command that is being built. */
	const char *words[CALL_WORDS_MAX];
	size_t sizes[CALL_WORDS_MAX];
	int count;
	char bytes[CALL_BYTES_MAX];
	size_t used;
};

/* These functions are for a test program. They start the server once, and end it. */
int scripts_set_up(void **state);
int scripts_tear_down(void **state);
/* scripts_empty is for each test. It empties the server, and makes one owner (see own()) and one
 * session. */
int scripts_empty(void **state);

/* command sends any command, which is formatted as for hiredis' redisCommand(). */
redisReply *command(struct scripts *, const char *format, ...);

/* call begins a script's call with its keys. The functions below add words. call_go returns the
 * reply. */
void call(struct scripts *, const char *name);
void call_topic(struct scripts *, const char *name, const char *topic); /* and queue keys */
void call_word(struct scripts *, const void *bytes, size_t size);
void call_text(struct scripts *, const char *text);
void call_number(struct scripts *, uint64_t number);
void call_due(struct scripts *, int64_t due); /* adds 8 bytes */
redisReply *call_go(struct scripts *);

/* call_owner and call_client begin a call with the six common words and the next number. */
void call_owner(struct scripts *, const char *name);
void call_client(struct scripts *, const char *name);

/* own takes the lease with a new token, even from another owner. */
void own(struct scripts *);

/* call_puts adds the operands of a put, column by column. The header of a value has the caller's
 * version (0: the script chooses one). */
struct put {
	unsigned flags;
	const char *id;
	uint64_t ver;
	int64_t due;
	const void *body;
	size_t body_size;
};
void call_puts(struct scripts *, const struct put *, size_t count);

/* put_one puts a timer with topic "b" and no data. Returns its version. */
uint64_t put_one(struct scripts *, bool owner, const char *id, int64_t due, unsigned flags);

/* is returns true if this word is the first item of the reply, or the beginning of its error. */
bool is(const redisReply *, const char *word);

uint64_t version_in(const redisReply *header);

#endif
#endif
