/* Begins calls of the scripts, and sorts their refusals. */
#ifndef DW_STORE_REDIS_SCRIPT_CALL_H
#define DW_STORE_REDIS_SCRIPT_CALL_H

#include <stdbool.h>

#include "store/redis/wire/number.h"
#include "store/redis/wire/pipeline.h"
#include "store/redis/wire/script.h"
#include "store/redis/wire/shape.h"

struct redis_ownership;

struct scripts {
	bool loading[SCRIPT_COUNT];    /* SCRIPT LOAD is under way */
	bool unloadable;               /* the server refused the last script that was sent to it */
	char refusal[DW_MESSAGE_SIZE]; /* the server's words for the last thing it refused */
	dw_usec refused_at;            /* steady */
	char missing[DW_MESSAGE_SIZE]; /* when it was opened: which command is refused; "": none */
	bool is_unknown;               /* the server does not know that command */
};

/* What the caller must do with the operations of a refused call. */
enum failure {
	FAILURE_NONE,
	FAILURE_AGAIN,   /* not applied: send them again, now or after a pause */
	FAILURE_LOOK,    /* the same, but without DW_OP_KNOWN: our knowledge may be old */
	FAILURE_FENCED,  /* the token or the session is not the current one any more */
	FAILURE_FULL,    /* no memory, or no disk, at the server */
	FAILURE_REFUSED, /* the reason will not pass by itself */
	FAILURE_LOST     /* the shard was emptied or set back */
};

/* command_begin starts pipeline.words with a plain command. */
void command_begin(struct pipeline *, enum redis_command_id);

/* call_begin starts pipeline.words with EVALSHA of a script and the shard's keys. call_begin_rare
 * sends the whole text with EVAL, so that a call to a server that does not know the script need not
 * be repeated. */
void call_begin(struct pipeline *, enum redis_script_id, const struct shard *);
void call_begin_rare(struct pipeline *, enum redis_script_id, const struct shard *);

/* call_begin_bare begins without a key: call_add_key adds them. rare: as call_begin_rare. */
void call_begin_bare(struct pipeline *, enum redis_script_id, bool rare);

/* call_add_key adds a key behind those that are there. */
void call_add_key(struct pipeline *, const char *key);

/* call_guard adds the words with which every changing script begins; `number` is the number of this
 * command. */
void call_guard(struct redis_store *, const struct shard *, uint64_t number);

/* call_failed says whether a reply is a refusal, and of which sort. */
enum failure call_failed(struct redis_store *, struct redis_request *, const struct reply *);

/* call_number_done counts a command with a number as answered: applied or not. */
void call_number_done(struct redis_ownership *, struct redis_request *, bool applied);

#endif
