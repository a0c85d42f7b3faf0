/* A reply of a Redis server, read by hiredis' RESP reader into one arena: many small strings that
 * are freed together. The size of a reply is bounded, so that no server can make us allocate
 * without end. Replies use the handle's allocator. hiredis allocates its own input buffer with
 * malloc, because its version 0.14 cannot use another allocator; this buffer is bounded, too. */
#ifndef DW_REDIS_REPLY_H
#define DW_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum reply_kind { REPLY_NIL, REPLY_INTEGER, REPLY_STATUS, REPLY_ERROR, REPLY_BULK, REPLY_ARRAY };

struct reply {
	enum reply_kind kind;
	int64_t integer;
	/* The text of a status, error or bulk. A NUL follows the text, and the text may contain
	 * NULs. */
	const char *bytes;
	size_t size;
	struct reply *items; /* the items of an array */
	size_t count;
};

/* reply_new makes a nil reply with an arena of its own. Fill it, and free it with reply_free.
 * Returns NULL without memory. reply_bytes and reply_items fill a reply of that arena: the root, or
 * an item below it. They return false without memory. */
struct reply *reply_new(const struct alloc *);
bool reply_bytes(struct reply *root, struct reply *, enum reply_kind, const void *bytes,
		 size_t size);
bool reply_items(struct reply *root, struct reply *, size_t count);
void reply_free(struct reply *root);

/* reply_is returns true for a status or bulk with exactly that text. reply_fails returns true for
 * an error whose first words are `prefix`; the words after it differ between servers. */
bool reply_is(const struct reply *, const char *text);
bool reply_fails(const struct reply *, const char *prefix);

/* reply_passes returns true for an error that may pass without our help: the server loads its data,
 * is busy, was demoted, has no replicas, or cannot write to its disk. */
bool reply_passes(const struct reply *);

/* A reader of RESP2 replies. The bounds below are for one reply. */
struct reply_reader;

#define REPLY_ITEMS_MAX (1u << 20)   /* most items in all arrays of a reply together */
#define REPLY_DEPTH_MAX 7            /* deepest nesting of arrays */
#define REPLY_BULK_MAX (64u << 20)   /* most bytes of one string */
#define REPLY_BYTES_MAX (256u << 20) /* most bytes of all strings of a reply together */

struct reply_reader *reply_reader_new(const struct alloc *); /* returns NULL without memory */
void reply_reader_free(struct reply_reader *);

/* reply_feed passes bytes to the reader. Returns false without memory. Feed about 64 KiB at a time,
 * and take the replies in between, because hiredis moves its unread bytes again and again. */
bool reply_feed(struct reply_reader *, const void *bytes, size_t size);

/* reply_next reads the next reply. Returns DW_OK and sets *ret_reply to the reply, or to NULL if it
 * is not complete yet. Returns DW_ECORRUPT if the bytes are not RESP, or are beyond the bounds, or
 * DW_ENOMEM. After a failure the reader can only be freed. */
int reply_next(struct reply_reader *, struct reply **ret_reply);

/* reply_announced returns the least size that the reply which has begun will have, by the lengths
 * in it. It returns 0 if none has begun. Call it after a reply_next() without a reply. */
size_t reply_announced(const struct reply_reader *);

#endif
