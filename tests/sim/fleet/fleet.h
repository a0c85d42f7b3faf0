/* The simulation of the Redis store: several processes, each with an engine and the real store, one
 * server, which is the twin of the scripts, and the wires between them.
 *
 *	fleet.c     what happens next, faults, the quiet end
 *	process.c  a process: opening, a turn, crashing, closing
 *	observer.c      stands between engine and store, and tells the model what passes
 *	network.c     a link to the server, on which things are late, or lost, or later than lost
 *	server.c   what is on its way, and the twin
 *	data_faults.c     what befalls the server's data
 *	expected_losses.c     what may be expected then
 *	effects.c  what a script did, as the model wants to hear it
 *
 * One process is at work at a time; what the one-process simulation keeps in struct sim is its. */
#ifndef SIM_TOWN_H
#define SIM_TOWN_H

#include "sim/core/sim.h"
#include "store/redis/link.h"
#include "support/twin.h"

#define PROCESSES 3u /* the last one never owns */
#define SHARDS_MAX_SIM 4u

struct process;
struct redis_store;

/* What struct sim holds of the process that is at work. */
struct context {
	struct engine *engine;
	uint64_t life;
	bool dead;
	bool closing;
	dw_usec close_until;
	dw_usec armed;
	bool woken;
	dw_usec wake_at;
	dw_usec stalled_until;
	dw_usec open_at;
	uint64_t idle_turns;
	bool handled[TOPIC_COUNT];
	bool handled_any;
};

enum packet_kind { PACKET_REQUEST, PACKET_REPLY };

/* Something on its way. A request's words are in the block, behind it. */
struct packet {
	struct packet *next;
	enum packet_kind kind;
	dw_usec at;        /* it arrives */
	struct wire *wire; /* NULL: the process is gone */
	uint64_t connection;
	bool late; /* its connection was lost */
	struct reply *reply;
	int count;
	const char **words;
	size_t *sizes;
};

struct wire {
	struct link link; /* first */
	struct process *process;
	bool ear;
	bool up;
	uint64_t connection;
	dw_usec up_at;
	dw_usec sent_until; /* nothing overtakes */
	dw_usec reply_until;
	struct packet *first; /* replies to be taken */
	struct packet *last;
	unsigned under_way;   /* requests without a reply */
	dw_usec waiting_from; /* for the oldest of them */
};

/* The engine's store: the real one behind. */
struct spy {
	dw_store store; /* first */
	dw_store_class type;
	dw_store *real;
	struct process *process;
};

struct process {
	struct sim *sim;
	unsigned number;
	struct account account;
	struct context context;
	char nonce[20];
	struct wire *wire;
	struct wire *ear;
	struct spy spy;
	unsigned losses; /* that its engine was told of */
	uint64_t
	    known[NAMES_MAX]; /* the last generation that its engine has heard of, as the owner */
	uint64_t dead[NAMES_MAX];    /* the last one that it has seen end by its own doing */
	bool shaken[SHARDS_MAX_SIM]; /* set back to before it was the owner, and it need not know */
	dw_usec told_at;             /* steady: it was told of a loss */
	dw_usec grace[SHARDS_MAX_SIM]; /* until then it may think that it is the owner */
	bool is_beaten;                /* another one has a shard of its, which was set back */
	dw_usec leased;                /* until then, its store has said */
	uint32_t clock_seen;
};

struct town_knobs {
	uint32_t cut;    /* of 10,000 events: a connection is lost */
	uint32_t refuse; /* the server answers with errors for a while */
	uint32_t flush;  /* it forgets the scripts */
	uint32_t halt;   /* it stands still */
	uint32_t restart;
	uint32_t long_stall; /* of 100 stalls */
	uint32_t empty;      /* the data is gone */
	uint32_t set_back;   /* it is as it was a while ago */
	uint32_t session;    /* a session ends */
	uint32_t tear;       /* an entry or a value is gone */
};

/* A timer before something befell the data. */
struct remembered {
	bool stored;
	bool unacked; /* it has an entry in the inbox */
	bool unheard; /* its entry in the inbox says something that its owner has not heard */
	dw_head head;
};

struct town {
	struct sim *sim;
	struct town_knobs knobs;
	struct process processes[PROCESSES];
	struct process *at_work;
	struct twin *twin;
	struct packet *packets; /* by time */
	unsigned shard_count;
	bool same_host; /* the processes see each other die */
	dw_usec lease;
	dw_usec wall_offset; /* the server's clock */
	int64_t drift_ppm;
	dw_usec halted_until;
	dw_usec refusing_until;
	unsigned refusal;
	uint64_t lives;
	struct twin *past; /* the data at past_at */
	dw_usec past_at;
	bool set_back[SHARDS_MAX_SIM]; /* and not emptied since */
	struct remembered before[NAMES_MAX];
	/* Of a claim or settle of what is known: which generations were stored, 0: none. */
	uint64_t known[NAMES_MAX];
	size_t known_count;
};

/* fleet.c */
bool town_run(struct sim *);
unsigned town_shard(const struct town *, const char *id);
bool town_has_lease(const struct process *, unsigned shard);
void town_restart(struct town *);

/* data_faults.c */
void hand_act(struct town *);
bool hand_is_in_grace(const struct process *, unsigned shard);
/* hand_all_even: every timer has its entry and its value. */
bool hand_all_even(struct town *);
void hand_forget(struct town *);

/* expected_losses.c: lost_look before something befalls the shard, lost_settle afterwards; keeper NULL: it has
 * no owner. The same of one value that is taken away. */
void lost_look(struct town *, unsigned shard, const struct process *keeper);
void lost_settle(struct town *, unsigned shard, const struct process *keeper);
void lost_tear(struct town *, uint32_t name, const struct process *keeper);
void lost_torn(struct town *, uint32_t name, const struct process *keeper);
/* A timer was written again, or deleted again, or an entry without a value was. */
void lost_pushed(struct sim *, const char *id, const dw_head *, const struct process *caller,
		 bool ousted);
void lost_deleted(struct sim *, const char *id);
void lost_mended(struct sim *, const char *id);
void lost_taken_over(struct town *, unsigned shard);
void lost_renumbered(struct town *, unsigned shard);
void lost_all_pushed(struct process *, dw_store *real);

/* process.c */
void process_open(struct process *);
void process_turn(struct process *);
void process_kill(struct process *);
void process_end(struct process *); /* begins its closing */
dw_usec process_next(const struct process *);
/* process_enter puts it to work, process_leave ends that. */
void process_enter(struct process *);
void process_leave(struct process *);
void process_wake(struct process *);
void process_free(struct process *);

/* observer.c */
void spy_init(struct spy *, struct process *, dw_store *real);

/* network.c */
struct wire *wire_new(struct process *, bool ear);
void wire_cut(struct wire *, bool nothing_left);
void wire_reply(struct wire *, struct packet *);

/* server.c */
void server_init(struct town *);
void server_free(struct town *);
dw_usec server_next(const struct town *);
void server_work(struct town *);
void server_send(struct wire *, int count, const char *const *words, const size_t *sizes);
/* server_cut: of what is on its way over the wire's connection a part comes later, or nothing. */
void server_cut(struct wire *, bool nothing_left);
void server_forget(struct wire *);
void server_halt(struct town *, dw_usec until);
void server_flush(struct town *);
void server_drop_requests(struct town *);
void server_time(struct town *);
void packet_free(struct town *, struct packet *);

/* effects.c: argv is ARGV, from 0. */
struct effect {
	struct town *town;
	const char *script;
	unsigned shard;
	int argc;
	const char *const *argv;
	const size_t *sizes;
	const struct reply *reply;
	const struct process *caller; /* NULL: its connection is lost */
};
void effects_tell(const struct effect *);

#endif
