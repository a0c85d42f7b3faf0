#include "redis/reply.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdalign.h>
#include <string.h>

#include "durawheel/durawheel.h"

/* A reply is allocated in one arena of chunks, whose sizes double. The first chunk has space for an
 * integer or a short status, so the thousands of small replies of a pipeline stay small, and a page
 * of a scan needs only a few blocks. The memory of a chunk is not cleared, because nobody sees a
 * reply before it is complete.
 *
 * The bounds apply to the whole reply, not to each array. Otherwise seven nested arrays that each
 * announce a million items would need only 70 bytes from the server, and exhaust our memory. */
#define CHUNK_FIRST 256u
#define CHUNK_MAX (64u << 10)
#define LINE_MAX (64u << 10) /* most bytes of a status, an error or a length */
#define LENGTH_MAX 32u       /* most bytes of a length's digits and the end of the line */
#define ITEM_MIN 4u          /* bytes of the shortest item: ":1\r\n" */

/* hiredis frees an empty buffer that has grown beyond this size. It keeps a smaller one, because
 * the link uses the buffer again at once. */
#define BUFFER_KEPT (1u << 20)

struct chunk {
	struct chunk *next;
};

struct arena {
	struct reply root; /* must be first: reply_free() gets this address */
	struct alloc alloc;
	struct chunk *chunks;
	unsigned char *at;
	size_t left;
	size_t next_size;
	alignas(max_align_t) unsigned char first[CHUNK_FIRST];
};

static struct arena *arena_of(struct reply *root)
{
	return (struct arena *)(void *)root;
}

/* ---- The arena ----------------------------------------------------------------------------- */

struct reply *reply_new(const struct alloc *alloc)
{
	struct arena *arena = alloc->resize(alloc->user, NULL, sizeof *arena);

	if (!arena)
		return NULL;
	arena->root = (struct reply){.kind = REPLY_NIL};
	arena->alloc = *alloc;
	arena->chunks = NULL;
	arena->at = arena->first;
	arena->left = sizeof arena->first;
	arena->next_size = 4 * (size_t)CHUNK_FIRST;
	return &arena->root;
}

void reply_free(struct reply *root)
{
	struct arena *arena = arena_of(root);
	struct chunk *chunk = arena ? arena->chunks : NULL;

	while (chunk) {
		struct chunk *next = chunk->next;

		alloc_free(&arena->alloc, chunk);
		chunk = next;
	}
	if (arena)
		alloc_free(&arena->alloc, arena);
}

/* add_chunk adds a chunk, and takes the object's memory from it. A large object gets a chunk of its
 * own, and the current chunk stays in use. */
static void *add_chunk(struct arena *arena, size_t size)
{
	const size_t head = alignof(max_align_t);
	bool own = size > arena->next_size / 2;
	size_t room = own ? size : arena->next_size;
	struct chunk *chunk = arena->alloc.resize(arena->alloc.user, NULL, head + room);
	unsigned char *bytes = (unsigned char *)chunk;

	static_assert(sizeof(struct chunk) <= alignof(max_align_t), "the head keeps alignment");
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	if (!own) {
		arena->at = bytes + head + size;
		arena->left = room - size;
	}
	if (arena->next_size < CHUNK_MAX)
		arena->next_size *= 2;
	return bytes + head;
}

static void *take(struct arena *arena, size_t size, size_t alignment)
{
	size_t skipped = (size_t)(-(uintptr_t)arena->at & (alignment - 1));
	unsigned char *at = arena->at + skipped;

	if (arena->left < skipped || arena->left - skipped < size)
		return add_chunk(arena, size);
	arena->at = at + size;
	arena->left -= skipped + size;
	return at;
}

bool reply_bytes(struct reply *root, struct reply *reply, enum reply_kind kind, const void *bytes,
		 size_t size)
{
	char *copy = size < SIZE_MAX / 2 ? take(arena_of(root), size + 1, 1) : NULL;

	if (!copy)
		return false;
	if (size > 0)
		memcpy(copy, bytes, size);
	copy[size] = '\0';
	*reply = (struct reply){.kind = kind, .bytes = copy, .size = size};
	return true;
}

/* new_items makes an array, but does not clear its items. */
static bool new_items(struct reply *root, struct reply *reply, size_t count)
{
	struct reply *items = NULL;

	if (count > SIZE_MAX / 2 / sizeof *items)
		return false;
	if (count > 0) {
		items = take(arena_of(root), count * sizeof *items, alignof(struct reply));
		if (!items)
			return false;
	}
	*reply = (struct reply){.kind = REPLY_ARRAY, .items = items, .count = count};
	return true;
}

bool reply_items(struct reply *root, struct reply *reply, size_t count)
{
	if (!new_items(root, reply, count))
		return false;
	for (size_t i = 0; i < count; i++)
		reply->items[i] = (struct reply){.kind = REPLY_NIL};
	return true;
}

bool reply_is(const struct reply *reply, const char *text)
{
	size_t size = strlen(text);

	return (reply->kind == REPLY_STATUS || reply->kind == REPLY_BULK) && reply->size == size &&
	       memcmp(reply->bytes, text, size) == 0;
}

bool reply_fails(const struct reply *reply, const char *prefix)
{
	size_t size = strlen(prefix);

	return reply->kind == REPLY_ERROR && reply->size >= size &&
	       memcmp(reply->bytes, prefix, size) == 0 &&
	       (reply->size == size || reply->bytes[size] == ' ');
}

bool reply_passes(const struct reply *reply)
{
	static const char *const prefixes[] = {"BUSY",        "LOADING",    "MASTERDOWN",
					       "READONLY",    "NOREPLICAS", "TRYAGAIN",
					       "CLUSTERDOWN", "UNKILLABLE", "MISCONF"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (reply_fails(reply, prefixes[i]))
			return true;
	return false;
}

/* ---- The reader ---------------------------------------------------------------------------- */

struct reply_reader {
	struct alloc alloc;
	redisReader *hiredis;
	redisReplyObjectFunctions functions; /* not const, because hiredis' pointer to it is not */
	struct reply *root;                  /* the reply that is being read; NULL if none is */
	size_t items_left;
	size_t bytes_left;
	/* The bounds or the types of the reply were violated. hiredis reports this in the same way
	 * as a lack of memory. */
	bool corrupt;
};

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

/* place_of returns the reply that this task of hiredis fills. Returns NULL without memory. */
static struct reply *place_of(const redisReadTask *task)
{
	struct reply_reader *reader = task->privdata;
	struct reply *above;

	if (task->parent) {
		above = task->parent->obj;
		return &above->items[task->idx];
	}
	assert(!reader->root);
	reader->root = reply_new(&reader->alloc);
	return reader->root;
}

static void *refuse(const redisReadTask *task)
{
	struct reply_reader *reader = task->privdata;

	reader->corrupt = true;
	return NULL;
}

/* size_without_script returns the size of an error without what Redis 7 adds to an error in a
 * script: " script: ", the 40 digits of the script's checksum, and a line. Users do not know our
 * scripts. */
static size_t size_without_script(const char *bytes, size_t size)
{
	static const char words[] = " script: ";
	enum { WORDS = sizeof words - 1, DIGITS = 40 };
	const char *at = size > WORDS + DIGITS ? memmem(bytes, size, words, WORDS) : NULL;
	size_t digits = 0;

	if (!at || (size_t)(bytes + size - at) < WORDS + DIGITS)
		return size;
	while (digits < DIGITS && strchr("0123456789abcdef", at[WORDS + digits]))
		digits++;
	return digits == DIGITS ? (size_t)(at - bytes) : size;
}

static void *create_bytes(const redisReadTask *task, char *bytes, size_t size)
{
	struct reply_reader *reader = task->privdata;
	struct reply *place;
	enum reply_kind kind;

	if (task->type == REDIS_REPLY_STRING)
		kind = REPLY_BULK;
	else if (task->type == REDIS_REPLY_STATUS)
		kind = REPLY_STATUS;
	else if (task->type == REDIS_REPLY_ERROR)
		kind = REPLY_ERROR;
	else
		return refuse(task); /* a type of RESP3, which we do not use */
	if (size > REPLY_BULK_MAX || size > reader->bytes_left)
		return refuse(task);
	reader->bytes_left -= size;
	if (kind == REPLY_ERROR)
		size = size_without_script(bytes, size);
	place = place_of(task);
	return place && reply_bytes(reader->root, place, kind, bytes, size) ? place : NULL;
}

static unsigned depth_of(const redisReadTask *task)
{
	unsigned depth = 1;

	while (task->parent && depth <= REPLY_DEPTH_MAX) {
		task = task->parent;
		depth++;
	}
	return depth;
}

static void *create_array(const redisReadTask *task, array_size count)
{
	struct reply_reader *reader = task->privdata;
	struct reply *place;

	if (task->type != REDIS_REPLY_ARRAY || depth_of(task) > REPLY_DEPTH_MAX ||
	    (size_t)count > reader->items_left)
		return refuse(task);
	reader->items_left -= (size_t)count;
	place = place_of(task);
	return place && new_items(reader->root, place, (size_t)count) ? place : NULL;
}

static void *create_integer(const redisReadTask *task, long long value)
{
	struct reply *place = place_of(task);

	if (place)
		*place = (struct reply){.kind = REPLY_INTEGER, .integer = value};
	return place;
}

static void *create_nil(const redisReadTask *task)
{
	struct reply *place = place_of(task);

	if (place)
		*place = (struct reply){.kind = REPLY_NIL};
	return place;
}

#if HIREDIS_MAJOR >= 1
static void *create_double(const redisReadTask *task, double value, char *bytes, size_t size)
{
	(void)value;
	(void)bytes;
	(void)size;
	return refuse(task);
}

static void *create_bool(const redisReadTask *task, int value)
{
	(void)value;
	return refuse(task);
}
#endif

static void begin_reply(struct reply_reader *reader)
{
	reader->root = NULL;
	reader->items_left = REPLY_ITEMS_MAX;
	reader->bytes_left = REPLY_BYTES_MAX;
}

struct reply_reader *reply_reader_new(const struct alloc *alloc)
{
	struct reply_reader *reader = alloc_new(alloc, sizeof *reader);

	if (!reader)
		return NULL;
	reader->alloc = *alloc;
	begin_reply(reader);
	/* There is no freeObject, because the objects are in our arena. */
	reader->functions = (redisReplyObjectFunctions)
	{
		.createString = create_bytes, .createArray = create_array,
		.createInteger = create_integer,
#if HIREDIS_MAJOR >= 1
		.createDouble = create_double, .createBool = create_bool,
#endif
		.createNil = create_nil
	};
	reader->hiredis = redisReaderCreateWithFunctions(&reader->functions);
	if (!reader->hiredis) {
		alloc_free(alloc, reader);
		return NULL;
	}
	reader->hiredis->maxbuf = BUFFER_KEPT;
	reader->hiredis->privdata = reader;
	return reader;
}

void reply_reader_free(struct reply_reader *reader)
{
	struct alloc alloc;

	if (!reader)
		return;
	alloc = reader->alloc;
	redisReaderFree(reader->hiredis);
	reply_free(reader->root);
	alloc_free(&alloc, reader);
}

bool reply_feed(struct reply_reader *reader, const void *bytes, size_t size)
{
	return redisReaderFeed(reader->hiredis, bytes, size) == REDIS_OK;
}

/* awaited returns the type of the item that hiredis is reading, or -1 if it is not known yet. */
static int awaited(const redisReader *hiredis)
{
	if (hiredis->ridx < 0)
		return -1;
#if HIREDIS_MAJOR >= 1
	return hiredis->task[hiredis->ridx]->type;
#else
	return hiredis->rstack[hiredis->ridx].type;
#endif
}

static bool is_bulk(const redisReader *hiredis)
{
	return awaited(hiredis) == REDIS_REPLY_STRING;
}

/* bulk_fits checks the announced length of an incomplete bulk, because hiredis would wait for all
 * of it, however large it is. */
static bool bulk_fits(const char *line, size_t size, size_t *ret_length)
{
	size_t length = 0;
	size_t i = size > 0 && line[0] == '-';

	for (; i < size && line[i] >= '0' && line[i] <= '9'; i++) {
		length = 10 * length + (size_t)(line[i] - '0');
		if (length > REPLY_BULK_MAX || i >= LENGTH_MAX)
			return false;
	}
	*ret_length = length;
	return i >= size || (line[i] == '\r' && (i + 1 == size || line[i + 1] == '\n'));
}

/* may_wait returns true if the reply may still be completed within the bounds. */
static bool may_wait(const redisReader *hiredis)
{
	size_t size = hiredis->len - hiredis->pos;
	size_t length;

	if (is_bulk(hiredis))
		return bulk_fits(hiredis->buf + hiredis->pos, size, &length);
	return size <= LINE_MAX;
}

int reply_next(struct reply_reader *reader, struct reply **ret_reply)
{
	void *whole = NULL;

	if (redisReaderGetReply(reader->hiredis, &whole) != REDIS_OK)
		return reader->hiredis->err == REDIS_ERR_OOM && !reader->corrupt ? DW_ENOMEM
										 : DW_ECORRUPT;
	if (!whole) {
		if (!may_wait(reader->hiredis))
			return DW_ECORRUPT;
		*ret_reply = NULL;
		return DW_OK;
	}
	*ret_reply = reader->root;
	begin_reply(reader);
	return DW_OK;
}

size_t reply_announced(const struct reply_reader *reader)
{
	const redisReader *hiredis = reader->hiredis;
	size_t unread = hiredis->len - hiredis->pos;
	size_t strings = REPLY_BYTES_MAX - reader->bytes_left;
	size_t items = REPLY_ITEMS_MAX - reader->items_left;
	size_t length = 0;

	if (!reader->root && awaited(hiredis) < 0 && unread == 0)
		return 0;
	if (is_bulk(hiredis))
		(void)bulk_fits(hiredis->buf + hiredis->pos, unread,
				&length); /* this cannot fail: may_wait() has looked at the line */
	return 1 + strings + ITEM_MIN * items + length;
}
