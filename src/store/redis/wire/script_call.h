/* Begins calls of the scripts, and sorts their refusals. */
#ifndef DW_STORE_REDIS_SCRIPT_CALL_H
#define DW_STORE_REDIS_SCRIPT_CALL_H

#include <stdbool.h>

#include "store/redis/wire/number.h"
#include "store/redis/wire/node.h"
#include "store/redis/wire/script.h"
#include "store/redis/wire/shape.h"

struct nodes;

/* What the caller must do with the operations of a refused call. */
enum failure {
	FAILURE_NONE,
	FAILURE_AGAIN, /* not applied: send the operations again, at once or after a pause */
	/* Not applied, because our knowledge may be old: send the operations again without
	 * DW_OP_KNOWN. */
	FAILURE_LOOK,
	FAILURE_FENCED,  /* the token or the session is no longer the current one */
	FAILURE_FULL,    /* the server has no memory or no disk space left */
	FAILURE_REFUSED, /* the reason will not pass by itself */
	FAILURE_LOST     /* the shard was emptied or set back */
};

/* command_begin begins the draft with a plain command. */
void command_begin(struct redis_draft *, enum redis_command_id);

/* call_begin begins the draft with EVALSHA of a script and the shard's keys. If the script gets
 * keys of a topic's queue, the caller adds these next. call_begin_rare sends the whole text with
 * EVAL, so that a call to a server that does not know the script need not be repeated.
 * call_begin_topics also sends the whole text, for a script that gets the keys of the queues of
 * `topics` topics. It returns a buffer of `size` bytes, which lasts as long as the command, or NULL
 * without memory. */
void call_begin(struct redis_draft *, enum redis_script_id, const struct shard *);
void call_begin_rare(struct redis_draft *, enum redis_script_id, const struct shard *);
char *call_begin_topics(struct redis_draft *, enum redis_script_id, const struct shard *,
			size_t topics, size_t size);

/* call_guard adds the words with which every changing script begins. `number` is the number of this
 * command. */
void call_guard(struct redis_store *, const struct shard *, uint64_t number);

/* call_failed returns FAILURE_NONE if the reply is not a refusal, otherwise the kind of the
 * refusal. */
enum failure call_failed(struct redis_store *, struct redis_request *, const struct reply *);

/* call_is_of_shard returns true if the reason of an error may be this shard alone: its keys, or its
 * slot. All other errors concern the whole server. */
bool call_is_of_shard(const struct reply *error);

/* call_passes returns true if an error will pass by itself. In a cluster this includes the errors
 * while a slot moves. */
bool call_passes(const struct nodes *, const struct reply *error);

/* call_number_done counts a numbered command as answered. `applied` says whether the server has
 * applied it. */
void call_number_done(const struct redis_request *, bool applied);

#endif
