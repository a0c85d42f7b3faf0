/* The numbers that peers write into the first shard: each peer its report, and its numbers of
 * topics. */
#ifndef DW_STORE_REDIS_MEMBER_NUMBERS_H
#define DW_STORE_REDIS_MEMBER_NUMBERS_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"
#include "store/reports.h"

struct redis_store;

/* The kinds of numbers. */
#define NUMBERS_REPORT "r"
#define NUMBERS_TOPICS "t"

/* numbers_tell begins a call that writes the body of the operation as this peer's numbers.
 * numbers_tell_topics also sends the call; if this fails, the next call replaces the numbers
 * anyway. numbers_ask begins a call that reads the numbers of all peers. */
void numbers_tell(struct redis_store *, const char *kind, const dw_op *);
void numbers_tell_topics(struct redis_store *, const dw_op *);
void numbers_ask(struct redis_store *, const char *kind);

/* numbers_are_needed returns true if this store has to read the numbers of peers, and can do so. An
 * owner that is not a peer (DW_OWNER) has all shards, and so all numbers itself. */
bool numbers_are_needed(const struct redis_store *);

/* What all peers together have told. */
struct peers_status {
	struct report_sum sum;
	char owner[256]; /* the holder of the peer that has shards, or "N peers" */
	dw_usec since;   /* when the first peer that has shards joined */
	/* The oldest report of a peer that has shards was told at this time. */
	dw_usec seen;
};

/* numbers_read reads the reports. It returns false if no peer has a shard. */
bool numbers_read(const struct reply *, struct peers_status *);

/* numbers_add_topics adds a row for each line of a topic, as counts_add_rows() does, and sets
 * *ret_any if a peer has a shard. Returns false without memory. */
bool numbers_add_topics(const struct alloc *, dw_op *, dw_row ***tail, const struct reply *,
			bool *ret_any);

/* numbers_ask_members answers the MEMBERS operation with all peers. */
void numbers_ask_members(struct redis_store *, dw_op *);

#endif
