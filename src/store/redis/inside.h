/* The Redis store's insides, shared by its files:
 *
 *	store.c      the class: submit, turn, collect, stop
 *	open.c       opening: the URL, the shards, the lease
 *	layout.c     the number of shards: known, guessed, fixed, another one
 *	dispatch.c   commands out and replies in, shard by shard; a connection that was lost
 *	shape.c      what the reply to each command may be
 *	completion.c in which order operations are answered, and when they are given up
 *	session.c    a new connection replaces the token, or the session, of the old one
 *	lease.c      acquiring, renewing, giving back; losing
 *	restore.c    a shard that was emptied, or set back
 *	write.c      the operations on one timer, as script calls
 *	batch.c      the words of those calls
 *	inbox.c      the inbox of the clients
 *	scan.c       pages in order over all shards
 *	audit.c      what is overdue, in no order
 *	namespace.c  status, purge, report, the drop of all: what asks every shard
 *	check.c      a check of everything
 *	repair.c     compares the entries of the order with the values
 *	key_types.c  keys of another type than ours
 *	misplaced.c  timers in a shard to which they do not belong
 *	value.c      a timer as bytes;  script.h  lua/, in the program
 *	src/redis/   the connection
 *
 * Everything happens inside the engine's turns, in one thread; nothing blocks but opening and
 * stopping. Down: an operation goes into its shard's queue; what stands next in it becomes a
 * command as soon as the shard was greeted on the connection that is up. Up: replies come in the
 * order of the commands, whichever the shard.
 *
 * Numbers. Each command that changes something carries the shard's next number, and the script
 * refuses any but the one after the last it has applied. So a command that failed stops those
 * behind it, which are sent again; and after a lost connection the greeting says which were
 * applied. */
#ifndef DW_STORE_REDIS_INSIDE_H
#define DW_STORE_REDIS_INSIDE_H

#include <stdbool.h>

#include "base/rng.h"
#include "base/usec.h"
#include "port/op.h"
#include "redis/link.h"
#include "store/redis/rows.h"
#include "store/redis/script.h"
#include "store/redis/value.h"
#include "redis/url.h"
#include "redis/command.h"

#define SHARDS_DEFAULT 16u
#define SHARDS_MAX 256u
#define BATCH_MAX 512u                    /* operations of one command */
#define BATCH_GOOD 256u                   /* so many are not waited for */
#define GATHER_MAX (2 * BATCH_MAX)        /* so far others of the kind are looked for */
#define COMMANDS_MAX 32u                  /* of a shard under way, where kinds mix */
#define BATCH_BYTES_MAX ((size_t)1 << 20) /* of their bodies */
#define TOKEN_SIZE 96
#define ERA_SIZE 40
#define LEASE_DEFAULT DW_SECONDS(5)
#define SESSION_TTL DW_HOURS(1)
#define PAUSE DW_MILLISECONDS(100)       /* after a refusal that will pass */
#define PATIENCE DW_SECONDS(5)           /* an operation that somebody waits for is answered then */
#define REPLY_TIME DW_MILLISECONDS(1500) /* and is not sent later than so long before */
#define DOUBTS_MAX 1024u
#define TROUBLE_AFTER DW_MILLISECONDS(200) /* without a connection it is told */
#define OP_OURS (1u << 31)                 /* of dw_op.flags: nobody has submitted it */
#define OP_TORN (1u << 30)                 /* the value was gone once, and is pushed for it */
#define OP_MISREAD (1u << 29)              /* its answer had a wrong shape once */
#define PLACE_SIZE 32                      /* a score, as the server writes it */

enum key {
	KEY_LEASE,
	KEY_META,
	KEY_Z,
	KEY_H,
	KEY_INBOX,
	KEY_DEAD,
	KEY_LETTERS,
	KEY_NAMES,
	KEY_SESSION,
	KEY_COUNT
};

struct redis_store;
struct shard;

/* A command that waits for its reply. */
struct request {
	struct request *next;
	/* Exactly one of them is called, and frees the request or keeps it. answered: by an error,
	 * or by a reply of the command's shape. lost: the connection is gone, and nobody knows
	 * whether it was done. */
	void (*answered)(struct redis_store *, struct request *, const struct reply *);
	void (*lost)(struct redis_store *, struct request *);
	struct shard *shard;
	uint64_t number; /* 0: it changes nothing */
	dw_usec sent;
	struct op_queue ops;
	const struct redis_script *script; /* NULL: a plain command */
	const struct shape *shape;         /* of the reply */
	bool as_owner;                     /* sent as the owner, with a number of its token */
	void *context;
};

struct request_list {
	struct request *first;
	struct request *last;
};

/* A put that was given up after it was sent: whether it was applied is learnt by the greeting. */
struct doubt {
	struct doubt *next;
	uint64_t number;
	bool resolved;
	bool applied;
	char id[];
};

/* What became of a shard that was emptied or set back: it is taken again, with another token; then
 * told to the engine, which pushes what it knows. Meanwhile nothing else is sent to it. FOUND: the
 * taking has failed, the next greeting begins it once more. HELD: another process has it. */
enum loss { LOSS_NONE, LOSS_FOUND, LOSS_TAKING, LOSS_HELD, LOSS_TAKEN, LOSS_TOLD };

/* A timer that this owner has seen deleted: should it come back by itself, it is deleted again. */
struct grave {
	struct grave *next;
	struct grave *same;  /* the next of its bucket */
	uint64_t generation; /* 0: of nothing any more */
	dw_usec at;          /* steady */
	bool letter;         /* it is a dead letter now */
	char id[];
};

#define GRAVE_BUCKETS 256u

enum greeting { GREETING_NONE, GREETING_ASKED, GREETING_DONE };

struct shard {
	unsigned number;
	char *keys[KEY_COUNT];
	size_t key_sizes[KEY_COUNT];

	/* The owner's. */
	uint64_t fence; /* 0: not owned */
	char token[TOKEN_SIZE];
	char era[ERA_SIZE];
	dw_usec lease_until; /* steady */
	bool renewing;
	uint64_t high;  /* the highest version that the server has told of */
	unsigned newer; /* the version of a timer because of which the lease is given back; 0 */

	/* The numbers, of the token or of the session. */
	enum greeting greeting; /* on this connection */
	uint64_t next;          /* the one of the next command */
	uint64_t acked;         /* known to be applied */
	unsigned under_way;     /* commands with numbers */
	bool is_new;            /* it has no number of shards: the first shard is asked */
	bool fixes;             /* and gets ours with the next greeting */
	bool broken;            /* one failed: those under way are refused, then numbered anew */
	dw_usec pause_until;    /* steady */

	struct op_queue redo; /* before waiting: sent already, not applied; as submitted */
	struct op_queue waiting;
	struct request_list limbo; /* sent over a connection that was lost */
	struct doubt *doubts;
	unsigned doubt_count;

	enum loss loss;
	uint64_t session;       /* the connection of its last greeting, as a client; 0: none */
	bool in_doubt;          /* another shard is HELD, and perhaps this one is, too */
	struct op_queue pushes; /* sent while it is lost */
	struct grave *grave_first, *grave_last;
	struct grave *graves[GRAVE_BUCKETS];
	unsigned grave_count;
	uint64_t grave_high; /* no generation above it has a grave */

	unsigned uneven;  /* renewals in a row that counted more entries than values, or fewer */
	uint64_t entries; /* as the last renewal counted them */
	bool torn;   /* an entry has no value, or a value no entry: it is looked through next */
	bool pushed; /* it was looked through before, and the engine has pushed since */
	bool naming; /* the key of another type */
	char audited_score[24]; /* how far the last audit came; "": it begins at the start */
	char audited_id[DW_ID_MAX + 1];
	bool news;     /* the inbox may have something */
	uint64_t seen; /* the last version in the inbox: a client's, which no mark counts */
	bool reading_news;
	uint64_t dead_count;
};

/* What is known of the number of shards. */
struct layout {
	bool is_fixed; /* shard_count is what the first shard says; else there is none, we guess */
	bool is_fresh; /* the guess was looked at since something was submitted */
	bool is_asked; /* a question is under way */
	bool is_answered;
	bool is_wrong;       /* it was no number */
	bool passes;         /* it was refused, for a while */
	dw_usec pause_until; /* steady; after a refusal */
	unsigned found;      /* by the last question; 0: none */
	dw_usec empty_since; /* steady; 0: it is not, or nobody has noticed */
	char words[DW_MESSAGE_SIZE];
};

struct scan;

/* The pass of mend.c through all shards, a page at a time. */
struct mending {
	unsigned number; /* of the shard */
	bool under_way;  /* a page was asked for */
	bool in_values;  /* values are looked through; else the order */
	char cursor[24]; /* "": at the start */
	unsigned found;  /* ids of the shard that were given to mend.lua */
	bool pushes;     /* an entry of it has no value, which the engine may know */
	dw_usec at;      /* steady; the next page is asked for */
};

/* An acquisition of all shards under way. */
struct taking {
	bool active;
	unsigned left; /* shards not answered */
	dw_op *op;     /* the OWN that asked; NULL: the opening */
	int status;
	bool passes; /* it failed of what will pass */
	char words[DW_MESSAGE_SIZE];
};

struct redis_store {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	struct redis_url url;
	struct link *link;
	struct link *ear;     /* hears the wake channel */
	int descriptor;       /* an epoll set of both links'; -1 in a simulation */
	uint64_t connection;  /* of link, as last seen; 0: down */
	uint64_t connections; /* how many tokens were made */
	dw_usec down_since;   /* steady, while connection is 0 */
	uint64_t ear_connection;
	char name[64]; /* the namespace */
	char nonce[20];
	char holder[256];
	char token[TOKEN_SIZE]; /* room for one that is asked for */
	char era[ERA_SIZE];     /* the same */
	unsigned eras;
	char channel[80];

	dw_role role;
	bool owned; /* it is the owner, or was */
	bool opened;
	bool stopped;
	dw_usec lease;
	dw_usec renew_at; /* steady */
	struct taking taking;

	unsigned shard_count; /* 0: not known yet */
	struct shard *shards;
	struct layout layout;

	struct request_list under_way; /* in the order of the link */
	struct op_queue answers;
	dw_op *order_first, *order_last; /* operations that are answered in their order */
	bool in_turn;
	bool *loading;                     /* of each script: SCRIPT LOAD is under way */
	bool more;                         /* replies are left for the next turn */
	const struct redis_script *script; /* of store->words */
	const struct shape *shape;         /* of the reply to them */
	dw_usec now;                       /* steady, of the turn or call */

	dw_op *parked; /* the INBOX that waits for news */
	dw_op *told;   /* the LOSS that waits for one */
	/* A shard is HELD: it is found out which others are. Then what we know of them is pushed as
	 * a client, and we have lost. */
	bool ousting;
	bool ousted;
	dw_usec ousted_until;     /* steady: then we give up, unless a push is done */
	struct op_queue withheld; /* meanwhile: answers that say so */
	struct {
		unsigned left; /* shards not answered */
		struct rows rows;
		bool failed;
		dw_usec since;
	} reading;
	struct {
		dw_op *op;     /* NULL: none is under way */
		unsigned left; /* shards not answered */
		bool more;
		int status;
	} audit;
	struct mending mending;
	struct scan *scans;    /* under way, or with commands under way */
	struct op_queue later; /* they ask every shard, when all before them is sent */
	dw_op *barrier;        /* until it is answered, what comes after it waits: */
	struct op_queue behind;

	dw_usec server_time; /* at server_at */
	dw_usec server_at;   /* steady */
	uint64_t floor;      /* of the last generation asked for, or seen */
	uint64_t submitted;  /* operations, which numbers them */

	unsigned char *packed; /* room for the bodies of one command */
	size_t packed_size;
	char flags[BATCH_MAX]; /* of the puts of one command */
	struct redis_command words;
	dw_usec complained_at;
	dw_usec overdue_at;            /* steady; then operations are given up again */
	bool unloadable;               /* the server refused the last script that was sent it */
	char refusal[DW_MESSAGE_SIZE]; /* the server's words for the last thing it refused */
};

/* ---- flow.c ---- */

/* request_new: NULL: no memory. */
struct request *request_new(struct redis_store *, struct shard *,
			    void (*answered)(struct redis_store *, struct request *,
					     const struct reply *),
			    void (*lost)(struct redis_store *, struct request *));
void request_free(struct redis_store *, struct request *);
/* request_send sends store->words. DW_OK: the request is taken over; else it is the caller's. */
int request_send(struct redis_store *, struct request *);
/* command_begin starts store->words with a plain command. */
void command_begin(struct redis_store *, const char *name);
/* call_begin starts store->words with EVALSHA of a script and a shard's keys, call_begin_rare with
 * its whole text, so that it need not be repeated when the server does not know it; call_guard adds
 * what every changing script wants first, with the number it is to have. */
void call_begin(struct redis_store *, const char *script, const struct shard *);
void call_begin_rare(struct redis_store *, const char *script, const struct shard *);
void call_guard(struct redis_store *, const struct shard *, uint64_t number);
/* call_failed sorts a reply that is no success of a script: what is to be done with its
 * operations. */
enum failure {
	FAILURE_NONE,
	FAILURE_AGAIN,   /* not applied; sent again, now or after a pause */
	FAILURE_LOOK,    /* the same, but what we know of the timers may be old */
	FAILURE_FENCED,  /* the token or the session is not the one any more */
	FAILURE_FULL,    /* no memory, or no disk, at the server */
	FAILURE_REFUSED, /* for good */
	FAILURE_LOST     /* rolled back */
};
enum failure call_failed(struct redis_store *, struct request *, const struct reply *);

void flow_work(struct redis_store *);
/* flow_wire writes what was sent, and takes the replies that have come. */
void flow_wire(struct redis_store *);
void flow_flush(struct redis_store *);
void flow_flush_shard(struct redis_store *, struct shard *);
/* flow_number_done: a numbered command of the shard was answered; applied or not. */
void flow_number_done(struct redis_store *, struct request *, bool applied);
void flow_limbo(struct shard *, struct request *);
struct request *flow_limbo_pop(struct shard *);
dw_usec flow_due(const struct redis_store *);
/* flow_refuses: the server is there, and in trouble. flow_trouble: as dw_store_class.trouble. */
bool flow_refuses(const struct redis_store *);
int flow_trouble(const struct redis_store *, char *ret_words, size_t size);

/* ---- shape.c ---- */
/* shape_of: what the reply to the command, or of the script, may be. shape_fits: it is that, or an
 * error; to a command that carries so many operations (0: none). */
struct shape {
	const char *command; /* or the script */
	const char *alternatives;
};
const struct shape *shape_of(const char *command);
bool shape_fits(const struct shape *, const struct reply *, size_t operations);
/* shape_misread: the reply to it is not the command's, so those behind it may be others', too: the
 * connection is dropped, with all that is under way. An operation that this befalls twice is given
 * up. */
void shape_misread(struct redis_store *, struct request *);

/* ---- answers.c ---- */
/* answer_take puts a submitted operation into the order. */
void answer_take(struct redis_store *, dw_op *);
void answer(struct redis_store *, dw_op *, int status);
void answer_all(struct redis_store *, struct op_queue *, int status);
/* answer_known hands over what waits only for answers before it. */
void answer_known(struct redis_store *);
/* answer_withheld ends our being ousted, and says so. */
void answer_withheld(struct redis_store *);
/* answer_doubtful: DW_EUNKNOWN, and it stays so: what is sent again of them is not done. */
void answer_doubtful(struct redis_store *, struct op_queue *);
/* answer_behind: of an operation that reads, after all that change and were submitted before
 * now. */
void answer_behind(struct redis_store *, dw_op *, int status);
/* answer_overdue gives up what somebody has waited for too long. */
void answer_overdue(struct redis_store *);
void complain(struct redis_store *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* may_complain: somebody hears it, and it is some time since the last complaint. */
bool may_complain(const struct redis_store *);

/* ---- change.c ---- */
bool change_is_one(const dw_op *);
/* change_send makes a command of what stands first in the queue. DW_OK, or why it has to wait. */
int change_send(struct redis_store *, struct shard *, struct op_queue *);
/* change_give_up answers what the server has answered wrongly twice. */
void change_give_up(struct redis_store *, struct op_queue *);
void change_resolve(struct redis_store *, struct shard *, struct request *, bool applied);
/* change_forget drops old dead letters of the shard and then answers op. */
void change_forget(struct redis_store *, struct shard *, dw_op *);
void change_add_forget(struct redis_store *, const struct shard *);

/* ---- operands.c ---- */
/* operands_gather: others of the kind at the head of the queue come behind it; those of one id stay
 * in their order. */
void operands_gather(struct op_queue *);
/* operands_take_back puts what was sent from that queue, and comes back, where it was: in the order
 * in which all was submitted. */
void operands_take_back(struct op_queue *, struct op_queue *ops);
/* operands_run: how many operations at the head of the queue make one command, and the room that
 * their bytes need; operands_room makes it. operands_add says them; false: one cannot be stored. */
size_t operands_run(const struct op_queue *, size_t *ret_bytes);
int operands_room(struct redis_store *, size_t bytes);
bool operands_add(struct redis_store *, const struct shard *, const struct op_queue *,
		  size_t count);
/* operands_are_known: nobody has to look at the timer that is claimed or settled, unless a client
 * has written it since; operands_forget: somebody has to. */
bool operands_are_known(const dw_op *);
void operands_forget(struct op_queue *);
/* operands_version: what a put asks for; the script takes it if nobody was ahead of it. */
uint64_t operands_version(const struct redis_store *, const struct shard *, const dw_op *);

/* ---- greet.c ---- */
void greet(struct redis_store *, struct shard *);
void greeted(struct redis_store *, struct shard *, uint64_t mark);
/* greet_end takes the sessions of a client away that closes. */
void greet_end(struct redis_store *);

/* ---- layout.c ---- */
/* layout_ask asks the first shard; layout_await waits for the answer: DW_OK, DW_ENOMEM, DW_ESTORE:
 * there was none, or an error, which layout.words say. layout_is_known: what is sent now goes to
 * the right shards, as far as anyone can know; else it is asked. layout_doubt: a shard says another
 * number. */
void layout_ask(struct redis_store *);
int layout_await(struct redis_store *, dw_usec until);
bool layout_is_known(struct redis_store *);
void layout_doubt(struct redis_store *);
/* layout_change takes the number that was found, when nothing is under way any more. */
void layout_change(struct redis_store *);
/* layout_is_new: a greeted shard has no number, and so many listen for news of it; layout_is_ours:
 * it has ours. */
void layout_is_new(struct redis_store *, struct shard *, int64_t listeners);
void layout_is_ours(struct redis_store *, const struct shard *);
/* layout_stands: the emptied first shard is ours again, and a client had given it that number. */
void layout_stands(struct redis_store *, const struct reply *clients);
/* layout_words: what is wrong with the number found in a shard; DW_MESSAGE_SIZE bytes. */
void layout_words(const struct redis_store *, unsigned shard, const struct reply *found,
		  char *ret_words);
void layout_free(struct redis_store *, struct shard *, unsigned count);

/* ---- lease.c ---- */
/* lease_take acquires every shard for the opening (op NULL), or for an OWN, which it answers. */
void lease_take(struct redis_store *, dw_op *);
/* lease_taken: the lease is ours until so long after sent. */
void lease_taken(struct redis_store *, struct shard *, dw_usec sent);
void lease_renew(struct redis_store *, struct shard *);
void lease_work(struct redis_store *);
void lease_lose(struct redis_store *);
/* lease_give_way gives every lease back for a DISOWN, and marks the shard of the timer that only a
 * newer durawheel understands. */
void lease_give_way(struct redis_store *, dw_op *);
/* lease_refuse answers what was asked of an owner; reading goes on as a client, and so does pushing
 * while we are ousted. lease_refuse_all: all that was asked of the shard's. */
void lease_refuse(struct redis_store *, struct shard *, struct op_queue *);
void lease_refuse_all(struct redis_store *, struct shard *);
/* lease_went_back: what a renewal or greeting says is older than what we know. */
bool lease_went_back(const struct shard *, const struct reply *);
/* Acquiring: the command; a token from its OK; whether its HELD names a dead process. */
void lease_words(struct redis_store *, struct shard *, const char *replace);
/* lease_era: the era that the acquisition of that number makes, should the shard be new. */
void lease_era(const struct redis_store *, unsigned number, char *ret_era);
bool lease_take_token(struct shard *, const struct reply *);
/* lease_note_version: the shard has given it, so that a loss must not have it given again. */
void lease_note_version(struct shard *, uint64_t version);
void lease_note_row(struct shard *, const dw_row *);
bool lease_is_dead(const struct reply *held);
void lease_give_back(struct redis_store *);
dw_usec lease_until(const struct redis_store *);
void lease_learn_time(struct redis_store *, int64_t server_time);
uint64_t lease_floor(struct redis_store *);

/* ---- loss.c ---- */
/* loss_refused: a renewal or greeting was not let in. Another owner of the same era is a successor;
 * anything else says that the shard is not what it was. */
void loss_refused(struct redis_store *, struct shard *, const struct reply *);
/* loss_begin: the server does not have any more what it has confirmed. */
void loss_begin(struct redis_store *, struct shard *);
/* loss_is_sure: the shard was in doubt, and is ours. */
void loss_is_sure(struct redis_store *, struct shard *);
/* loss_push lets the engine push what it knows of the shard, which is still ours. */
void loss_push(struct redis_store *, struct shard *);
/* loss_tell tells the engine what is to be pushed, if it waits for that. */
void loss_tell(struct redis_store *);
/* loss_park: the engine waits for a loss, and has pushed all of the last one. */
void loss_park(struct redis_store *, dw_op *);
void loss_end(struct redis_store *, int status);
/* loss_rehome: there is another number of shards; who was ousted begins to push anew. loss_rebury:
 * what an old shard knows to be dead is kept in mind by the new ones. */
void loss_rehome(struct redis_store *);
void loss_rebury(struct redis_store *, struct shard *old);
bool loss_is_told(const struct redis_store *, const char *id);
/* loss_bury keeps in mind that the timer was deleted, or is a dead letter now. */
void loss_bury(struct redis_store *, struct shard *, const char *id, uint64_t generation,
	       bool letter);
/* loss_note_ended: what was read before its timer ended, and is told afterwards, says that it has:
 * memory would keep the timer, and write it again after a loss. op->store_floor: since then it was
 * read. */
void loss_note_ended(struct redis_store *, const dw_op *);
/* loss_unbury: it is stored now. Where the server was set back its generation may be below that of
 * an earlier timer of the id. */
void loss_unbury(struct shard *, const char *id, uint64_t generation);
/* loss_is_buried: that generation of the timer, or a later one, was deleted or is a letter. */
bool loss_is_buried(const struct shard *, const char *id, uint64_t generation);
void loss_free(struct redis_store *, struct shard *);

/* ---- news.c ---- */
void news_work(struct redis_store *);
void news_all(struct redis_store *);
void news_end(struct redis_store *, int status);

/* ---- scan.c ---- */
void scan_begin(struct redis_store *, dw_op *);
void scan_work(struct redis_store *);
/* scan_end_all answers every scan, overdue ones only scan_overdue; scan_free_all frees them. */
void scan_end_all(struct redis_store *, int status);
void scan_overdue(struct redis_store *);
void scan_free_all(struct redis_store *);

/* scan_letter: the row of a dead letter, of three items of dead_page.lua: a member, its score, a
 * letter. Its status says whether it can be trusted; number and generation are sound. */
dw_row *scan_letter(struct redis_store *, const struct shard *, const struct reply *items);

/* ---- audit.c ---- */
void audit_begin(struct redis_store *, dw_op *);

/* ---- whole.c ---- */
void whole_begin(struct redis_store *, dw_op *);
/* whole_is_barrier: what was submitted after it must not overtake it. */
bool whole_is_barrier(const dw_op *);

/* ---- mend.c ---- */
/* mend_work asks for the next page of the pass, mend_due says when. */
void mend_work(struct redis_store *);
dw_usec mend_due(const struct redis_store *);
/* mend_count: a renewal has counted the entries of the order, and the values. mend_soon: an entry
 * without a value was read. */
void mend_count(struct redis_store *, struct shard *, int64_t entries, int64_t values);
void mend_soon(struct redis_store *, struct shard *);

/* ---- types.c ---- */
/* types_ask sends the question, which types the shard's keys have, as request_send does. */
int types_ask(struct redis_store *, struct request *);
/* types_differ: whether the key, of those that the reply tells, has another type than ours, and
 * what is wrong, in words; TYPES_WORDS bytes. types_name: which key it is, in words, as far as the
 * reply says it; DW_MESSAGE_SIZE bytes. */
#define TYPES_WORDS 80
bool types_differ(const struct reply *, unsigned key, char *ret_words);
void types_name(const struct redis_store *, const struct shard *, const struct reply *,
		char *ret_words);
/* types_tell complains of the key that has another type, as soon as the server has told which. */
void types_tell(struct redis_store *, struct shard *);

/* ---- stray.c ---- */
bool stray_is(const struct redis_store *, const struct shard *, const char *id);
/* stray_row: a timer that was read in that shard; if it is a stray one it is damaged from now on,
 * and an owner sets it aside. stray_news: the same of a stray one in the inbox, which is
 * acknowledged. */
void stray_row(struct redis_store *, struct shard *, dw_row *);
void stray_news(struct redis_store *, struct shard *, dw_row *, int64_t score);

/* ---- check.c ---- */
void check_begin(struct redis_store *, dw_op *);

/* ---- store.c ---- */
struct shard *shard_of(struct redis_store *, const char *id);

/* ---- open.c ---- */
/* redis_listen opens the ear, for an owner. */
void redis_listen(struct redis_store *);
void redis_close_descriptor(struct redis_store *);

static inline bool is_number(const struct reply *reply)
{
	return reply->kind == REPLY_INTEGER;
}

/* reply_number: an integer, or a bulk of digits; 0 otherwise. */
int64_t reply_number(const struct reply *);

#endif
