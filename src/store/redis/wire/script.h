/* The scripts of lua/. The build puts them into the program. The text of a script is the parts of
 * lua/common that it uses, followed by its own file. A part that several scripts use is in the
 * program only once. */
#ifndef DW_STORE_REDIS_SCRIPT_H
#define DW_STORE_REDIS_SCRIPT_H

#include <stddef.h>

/* Each script has its name here. The build fails if a name is missing, or has no file. */
enum redis_script_id {
	SCRIPT_ACK,
	SCRIPT_ACQUIRE,
	SCRIPT_ADD,
	SCRIPT_ANSWER,
	SCRIPT_AWAIT,
	SCRIPT_BURY,
	SCRIPT_CANCEL,
	SCRIPT_CANCEL_ONE,
	SCRIPT_CLAIM,
	SCRIPT_CLAIM_KNOWN,
	SCRIPT_CONFIRM,
	SCRIPT_DEAD_OF,
	SCRIPT_DEAD_PAGE,
	SCRIPT_DROP,
	SCRIPT_DUE,
	SCRIPT_ENDED,
	SCRIPT_FORGET,
	SCRIPT_INBOX,
	SCRIPT_LETTER,
	SCRIPT_MEMBER,
	SCRIPT_MEND,
	SCRIPT_MOVE,
	SCRIPT_NEXT,
	SCRIPT_NEXT_KNOWN,
	SCRIPT_ORPHANS,
	SCRIPT_PAGE,
	SCRIPT_PURGE,
	SCRIPT_PUSH,
	SCRIPT_PUT,
	SCRIPT_QUEUE_CHECK,
	SCRIPT_QUEUE_NUMBERS,
	SCRIPT_QUEUE_PURGE,
	SCRIPT_REDELETE,
	SCRIPT_RELEASE,
	SCRIPT_RENEW,
	SCRIPT_REPLAY,
	SCRIPT_REPORT,
	SCRIPT_REPORTS,
	SCRIPT_REPUSH,
	SCRIPT_REQUEUE,
	SCRIPT_RETRY,
	SCRIPT_SESSION,
	SCRIPT_SETTLE,
	SCRIPT_SETTLE_KNOWN,
	SCRIPT_SHARD,
	SCRIPT_STATUS,
	SCRIPT_TAKE,
	SCRIPT_TELL,
	SCRIPT_TOPIC_CHANGES,
	SCRIPT_TOPIC_COPY,
	SCRIPT_TOPIC_DROP,
	SCRIPT_TOPIC_LIST,
	SCRIPT_TOPIC_SET,
	SCRIPT_TYPES,
	SCRIPT_COUNT
};

enum { SCRIPT_TEXT_MAX = 32768 };

struct script_part {
	const char *text; /* the text does not end with a NUL */
	size_t size;
};

/* The keys of a shard. A script gets some of them, in this order, and then the keys of queues. */
enum redis_key {
	KEY_LEASE,
	KEY_META,
	KEY_TIMERS,
	KEY_VALUES,
	KEY_INBOX,
	KEY_DEAD,
	KEY_LETTERS,
	KEY_NAMES,
	KEY_SESSION,
	KEY_ENDS,
	KEY_UNTILS,
	/* While one of the keys before KEY_COUNT has a wrong type, the shard is cut off. */
	KEY_COUNT,
	KEY_TOPICS = KEY_COUNT,
	KEY_DROPPED,
	KEY_COUNTS,
	/* This key and the next two are only in the first shard. */
	KEY_MEMBERS,
	KEY_RECORDS,
	KEY_REPORTS,
	KEYS_OF_SHARD,
	KEY_INDEX = KEYS_OF_SHARD, /* of builds before 0.1.0; acquire.lua deletes it */
	NAME_WAKE,                 /* the name of a channel, not of a key */
	NAMES_OF_SHARD
};

/* How the names of the keys end. The name of KEY_SESSION continues with the nonce of the client. */
extern const char *const redis_key_ends[NAMES_OF_SHARD];

/* How the names of the keys of a topic's queue end. The name of the topic follows, except after the
 * last one. */
enum { QUEUE_KEYS = 5, QUEUE_KEYS_MAX };
extern const char *const redis_queue_ends[QUEUE_KEYS_MAX];

struct redis_script {
	const char *name; /* the name of the file, without .lua */
	const char *sha1; /* the SHA-1 of the whole text, as 40 hexadecimal digits */
	/* The parts in order, followed by NULL. */
	const struct script_part *const *parts;
	size_t size;               /* size of the whole text in bytes */
	const unsigned char *keys; /* key_count items, each an enum redis_key */
	unsigned key_count;
	unsigned queue_keys; /* how many of redis_queue_ends the script gets for each topic */
};

extern const struct redis_script redis_scripts[SCRIPT_COUNT];

/* script_text writes the whole text into `room`, which must have the script's size, and returns
 * `room`. */
const char *script_text(const struct redis_script *, char *room);

#endif
