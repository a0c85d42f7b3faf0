/* The model's insides:
 *
 *	model.c      commands, and which script is which
 *	keys.c       the keys and what is in them
 *	copy.c       all of them at once
 *	common.c     lua/common/
 *	transition.c put, claim, settle, retry, cancel, move
 *	lease.c      acquire, renew, release, session, status, types, report, purge
 *	dead.c       bury, next, requeue, drop, forget, dead_of, dead_page
 *	pages.c      page, inbox, ack
 *	restore.c    repush, redelete
 *	repair.c     orphans, mend
 *	index.c      the index by topic: index, topic_page
 *	hand.c       add, cancel_one, shard
 *	ends.c       the ends of timers; ended
 *
 * The scripts read all, then write; the model writes as it goes, which is the same, because nothing
 * can fail in between. */
#ifndef DW_SCRIPT_MODEL_INSIDE_H
#define DW_SCRIPT_MODEL_INSIDE_H

#include <stdint.h>

#include "script_model/model.h"

#define AHEAD 3600000000.0 /* so far ahead of the clock a version may be, in us */

/* The codes of an answer. */
enum {
	EEXIST_CODE = 1,
	ENOENT_CODE,
	STALE_CODE,
	LATE_CODE,
	CORRUPT_CODE,
	TORN_CODE,
	NEWER_CODE,
	WAIT_CODE
};

enum { HEAD_SIZE = 36, VALUE_MIN = 42 };

struct bytes {
	const char *at; /* NULL: none */
	size_t size;
};

struct entry {
	char *name;
	size_t name_size;
	char *value;
	size_t value_size;
	double score;
};

enum kind { KIND_NONE, KIND_STRING, KIND_HASH, KIND_SORTED };

/* A key; of kind NONE it is only a name. A hash is in the order of its fields, a sorted set in that
 * of Redis; a string is one entry. */
struct key {
	char *name;
	enum kind kind;
	struct entry *entries;
	size_t count;
	size_t room;
	int64_t ends_ms; /* 0: never */
};

struct script_model {
	struct alloc alloc;
	struct key **keys; /* by name */
	size_t key_count;
	size_t key_room;
	dw_usec now;
	bool full;
	bool strict; /* what an owner knows must be so */
	void (*known)(void *user, const char *value, size_t size);
	void *known_user;
	enum model_bug bug;
	bool *loaded; /* of each script */
	unsigned (*heard)(void *user, const char *channel, size_t size, long long shard);
	void *heard_user;
};

/* One call of a script: its arguments, and the locals of the parts. */
struct run {
	struct script_model *model;
	struct reply *reply;
	struct key *lease, *meta, *timers, *values, *inbox, *dead, *letters, *names, *session;
	struct key *index, *ends, *untils;
	int argc;
	const char *const *argv; /* from 0: ARGV[1] is argv[0] */
	const size_t *sizes;
	bool owner;
	bool news;  /* for the inbox */
	bool ended; /* an end was kept */
	double now, first, last, shard, shards, fence;
};

typedef void (*script_fn)(struct run *);

/* ---- model_keys.c ---- */
struct key *key_of(struct script_model *, const char *name, size_t size);
struct entry *key_find(const struct key *, struct bytes name);
/* key_value, key_text: of a field; key_text of a missing one is at NULL. */
struct bytes key_value(const struct key *, struct bytes name);
struct bytes key_text(const struct key *, const char *field);
struct bytes key_string(const struct key *);
void key_set(struct script_model *, struct key *, struct bytes name, struct bytes value);
void key_set_text(struct script_model *, struct key *, const char *field, struct bytes value);
void key_set_string(struct script_model *, struct key *, struct bytes value);
void key_set_score(struct script_model *, struct key *, struct bytes name, double score);
bool key_remove(struct script_model *, struct key *, struct bytes name);
void key_clear(struct script_model *, struct key *);
void key_expire(struct script_model *, struct key *, double ttl_ms);
long long key_ttl(const struct script_model *, const struct key *);
/* key_compare: as Redis compares bytes. */
int key_compare(struct bytes a, struct bytes b);
struct bytes entry_name(const struct entry *);
struct bytes entry_value(const struct entry *);

/* ---- model_common.c ---- */
struct words {
	double flags, attempt, v0, v1, d0, d1, c0, c1, crc;
};

struct bytes text_of(const char *);
bool same(struct bytes, struct bytes);
/* arg: ARGV[number], from 1; past the end at NULL. number_of: tonumber, NAN: it is none. */
struct bytes arg(const struct run *, int number);
double number_of(struct bytes);
/* digits writes a whole number into room (32 bytes). */
struct bytes digits(double, char *room);
bool decode(struct bytes value, struct words *ret_words);
/* encode writes a header into room (HEAD_SIZE bytes). */
struct bytes encode(const struct words *, char *room);
double ver_of(const struct words *);
double claim_of(const struct words *);
/* jump_of: how far the attempt of a version that an owner that was cut off may have started is
 * raised; 0: it is none of them. */
double jump_of(const struct run *, const struct words *);
void halves(double, double *ret_low, double *ret_high);
double byte_of(double flags, unsigned number);
double score_of(double d0, double d1);
/* word_at: the word of four bytes there. */
double word_at(struct bytes, size_t at);
void due_of(struct bytes, double *ret_d0, double *ret_d1);
bool is_open(struct bytes value);
/* is_newer: of a later version; may_have_newer: the shard's mark says so. NEWER_ERROR is what
 * scripts for people answer. */
#define NEWER_ERROR "ERR the timer is of a newer durawheel, and left alone"
bool is_newer(struct bytes value);
/* recurs: a timer with a rule; is_same: two of them that differ at most in their occurrence. */
bool recurs(struct bytes value);
bool is_same(struct bytes a, struct bytes b);
/* missing: the code for a timer that the owner knows and that has no value. */
int missing(const struct run *, struct bytes id, double ver);
bool may_have_newer(const struct run *);
double next_ver(struct run *, double floor);
double congruent(const struct run *, double least);
/* enter: the guard of either role. False: the refusal is the reply. */
bool enter(struct run *);
bool owner_enters(struct run *);
void begin(struct run *, struct bytes ver, struct bytes count);
void touch(struct run *);
void use_up(struct run *);
/* no_room: the script's first write finds no memory, and that is the reply. */
bool no_room(struct run *);
void leave(struct run *);
/* publish: how many have heard it. */
unsigned publish(struct run *, struct bytes channel);
void post(struct run *, struct bytes id, double score);
bool left_open(const struct run *, struct bytes id);
/* must_wait: a client's change is certain only when the owner has acknowledged it; item_wait says
 * so of the change of that version, whose code is certain then. late_next cuts the first change off
 * that came too late. */
bool must_wait(const struct run *);
void item_wait(struct run *, size_t at, double ver, int code);
struct late_change {
	struct bytes ver, id;
	bool gone;
};
bool late_next(struct bytes *left, struct late_change *ret_change);
/* letter_name writes a member into room (NAME_ROOM bytes). */
enum { NAME_ROOM = 400 };
struct bytes letter_name(struct bytes id, double ver, char *room);
struct raw {
	double state, open, ver, claim;
};
struct raw raw_of(struct bytes value);
/* client_cancels: whether it comes too late; ret_open: an earlier claim may still start. */
bool client_cancels(struct bytes value, bool *ret_open);
/* store puts header and body where a timer is, and changes its member in the index. body may be a
 * part of the present value. store_value leaves the index alone. */
void store_value(struct run *, struct bytes id, struct bytes header, struct bytes body);
void store(struct run *, struct bytes id, struct bytes header, struct bytes body);
/* store_told: the body of value, with this text of dw_why() instead of its own. told_value: value
 * with this text, for free(). */
void store_told(struct run *, struct bytes id, struct bytes header, struct bytes value,
		struct bytes why);
char *told_value(struct bytes value, struct bytes why, size_t *ret_size);
void set_rank(struct run *, struct bytes id, const struct words *);
/* remove_timer deletes entry, value and member of a timer, whichever there are. */
void remove_timer(struct run *, struct bytes id);

/* member_of writes a timer's member of the index into room. member_add, member_remove: the member
 * of the present value. */
enum { MEMBER_ROOM = 1024 };
struct bytes member_of(struct bytes id, struct bytes value, char *room);
void member_add(struct run *, struct bytes id);
void member_remove(struct run *, struct bytes id);
/* members_are_even: each value has its member, and there are no others. */
bool members_are_even(const struct key *index, const struct key *values);

/* ---- ends.c ---- */
enum { ENDED_DONE = 1, ENDED_CANCELLED, ENDED_DEAD };
struct ending {
	struct bytes id, value; /* value: intact */
	double how, reason;
	struct bytes started, result; /* started: 8 bytes, or at NULL */
};
void end_timer(struct run *, const struct ending *);
/* topic_keep: how long a topic keeps the ends of its timers (us). */
double topic_keep(const struct run *, struct bytes topic);
/* write_ends drops old ones, if one was kept; forget_ends does in any case. */
void write_ends(struct run *);
void forget_ends(struct run *);
bool is_remembered(const struct run *, struct bytes id);

/* Replies. answer_ok begins {'OK', ...} of so many items, counted from 1. */
void answer_ok(struct run *, size_t items);
void item_code(struct run *, size_t at, int code);
void item_bytes(struct run *, size_t at, struct bytes);
void item_pair(struct run *, size_t at, int code, struct bytes value);
/* refuse replies {word, text}, without text at NULL only {word}. */
void refuse(struct run *, const char *word, struct bytes text);
void say(struct run *, struct reply *, struct bytes); /* at NULL: nil */
void say_number(struct reply *, double);
void fail(struct run *, const char *words);

/* ---- The scripts ---- */
void model_put(struct run *);
void model_claim(struct run *);
void model_settle(struct run *);
void model_claim_known(struct run *);
void model_confirm(struct run *);
void model_settle_known(struct run *);
void model_retry(struct run *);
void model_cancel(struct run *);
void model_move(struct run *);
void model_acquire(struct run *);
void model_renew(struct run *);
void model_release(struct run *);
void model_session(struct run *);
void model_status(struct run *);
void model_topic_changes(struct run *);
void model_topic_list(struct run *);
void model_types(struct run *);
void model_replay(struct run *);
void model_report(struct run *);
void model_purge(struct run *);
void model_bury(struct run *);
void model_next(struct run *);
void model_next_known(struct run *);
void model_requeue(struct run *);
void model_drop(struct run *);
void model_ended(struct run *);
void model_forget(struct run *);
void model_dead_of(struct run *);
void model_dead_page(struct run *);
void model_page(struct run *);
void model_inbox(struct run *);
void model_ack(struct run *);
void model_add(struct run *);
void model_cancel_one(struct run *);
void model_shard(struct run *);
void model_repush(struct run *);
void model_redelete(struct run *);
void model_orphans(struct run *);
void model_mend(struct run *);
void model_index(struct run *);
void model_topic_page(struct run *);

#endif
