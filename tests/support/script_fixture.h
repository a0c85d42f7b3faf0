/* Calls the scripts of the Redis store, one at a time, on a server of the test's own. */
#ifndef DW_TESTS_SCRIPT_FIXTURE_H
#define DW_TESTS_SCRIPT_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#if DW_WITH_REDIS

#include <hiredis/hiredis.h>

#include "support/redis_server.h"

#define CALL_WORDS_MAX 1600
#define CALL_BYTES_MAX (256 * 1024)
#define CALL_KEYS 9

struct scripts {
	struct redis_server server;
	redisContext *link;
	unsigned shard;  /* of 16, in the namespace "t" */
	char token[128]; /* the owner's */
	uint64_t fence;
	uint64_t mark; /* the owner's last operation number */
	uint64_t sent; /* the client's; its conn is 1 */
	unsigned owners;
	redisReply *reply; /* the last one; freed by the next call */

	/* The command being made. */
	const char *words[CALL_WORDS_MAX];
	size_t sizes[CALL_WORDS_MAX];
	int count;
	char bytes[CALL_BYTES_MAX];
	size_t used;
};

/* Of a test program: the server is started once. */
int scripts_set_up(void **state);
int scripts_tear_down(void **state);
/* Of each test: an empty server, one owner (see own()) and one session. */
int scripts_empty(void **state);

/* command: any other one, printf-like as hiredis' redisCommand. */
redisReply *command(struct scripts *, const char *format, ...);

/* The words of a script's call: its keys, then what is said; call_go gives the reply. */
void call(struct scripts *, const char *name);
void call_word(struct scripts *, const void *bytes, size_t size);
void call_text(struct scripts *, const char *text);
void call_number(struct scripts *, uint64_t number);
void call_due(struct scripts *, int64_t due); /* 8 bytes */
redisReply *call_go(struct scripts *);

/* call_owner, call_client: call() with the six common words, and the next number. */
void call_owner(struct scripts *, const char *name);
void call_client(struct scripts *, const char *name);

/* own takes the lease with a token of its own, whoever has it. */
void own(struct scripts *);

/* call_puts says the operands of a put, column by column. The value's header is what a caller makes
 * of a version of its own (0: none, the script gives one). */
struct put {
	unsigned flags;
	const char *id;
	uint64_t ver;
	int64_t due;
	const void *body;
	size_t body_size;
};
void call_puts(struct scripts *, const struct put *, size_t count);

/* put_one: a timer with topic "b" and no data; returns its version. */
uint64_t put_one(struct scripts *, bool owner, const char *id, int64_t due, unsigned flags);

/* is: the reply's first item is that word (or the reply is an error that begins with it). */
bool is(const redisReply *, const char *word);

uint64_t version_in(const redisReply *header);

#endif
#endif
