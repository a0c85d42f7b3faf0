/* Redis goes away, and programs with journals go on. Several processes, each with an engine, the
 * real Redis store and a journal in front of it, and one server, which is a keyspace
 * in this process.
 *
 * The history (support/history.h) judges it by what the programs see: calls, answers, starts. So
 * the same promises hold here as in the crash tests, and no seed depends on what the store does
 * inside.
 *
 *	file.c     the disk of a journal: rows survive a kill; a power cut loses the last ones
 *	program.c  what a process asks for and what its handler says
 *	member.c   a process: opened, turned, killed
 *	planted.c  planted bugs
 *	run.c      steps and the end of a seed
 *	outages.c  the faults
 *
 * The world of servers/ has the same processes without journals, and other servers: a scene says
 * what differs. */
#ifndef SIM_OUTAGES_OUTAGES_H
#define SIM_OUTAGES_OUTAGES_H

#include "sim/fleet/fleet.h"
#include "sim/outages/file.h"
#include "sim/outages/planted.h"
#include "support/history.h"

#define NUMBERS_MAX 600u
#define HELD_MAX 64u

/* What a machine must not do with a timer any more. */
struct ban {
	bool settled;   /* a settle is in its journal */
	uint32_t owner; /* then: see outages.owners */
	bool cancelled; /* a cancel is */
};

struct start {
	struct member *by; /* NULL: none */
	uint64_t life;
};

struct outages;

/* What a world has around the processes. */
struct scene {
	bool has_journals;
	/* open makes the store of a process that starts. */
	dw_store *(*open)(struct member *, dw_store_env *);
	dw_usec (*next)(struct outages *); /* steady: the next event of the servers */
	void (*work)(struct outages *);    /* that event */
	void (*disturb)(struct outages *, struct member *any);
	bool (*may_start)(const struct member *, const char *id);
	bool (*is_stored)(struct outages *, const char *id);
	void (*calm)(struct outages *);  /* no fault begins any more; NULL: nothing to do */
	void (*judge)(struct outages *); /* tells the history its faults at the end; or NULL */
	void (*free)(struct outages *);
};

struct member {
	struct outages *outages;
	struct process *process;
	struct file file;
	struct planted planted; /* between the engine and its store */
	dw_token held[HELD_MAX];
	unsigned held_count;
	bool is_closing;
	struct ban bans[NUMBERS_MAX];
	bool moving[NUMBERS_MAX]; /* a move has no answer: the history pairs them in their order */
};

struct outages {
	struct fleet fleet; /* its processes are those of the members */
	struct sim *sim;
	const struct scene *scene;
	struct member members[PROCESSES]; /* the last one never owns */
	struct history *history;
	dw_outage policy;
	dw_usec away_until; /* steady: the server is away */
	uint32_t puts_left;
	uint32_t put_count;
	struct member *owner; /* the last one that became it */
	uint32_t owners;      /* so often another one became it */
	uint32_t open_calls;
	struct start starts[NUMBERS_MAX]; /* the last one of each timer */
	bool moved[NUMBERS_MAX];          /* somebody has asked for that */
	bool move_done[NUMBERS_MAX];      /* a move was answered DW_OK */
	bool stored[NUMBERS_MAX];         /* the put is in Redis, and confirmed */
};

void outages_run(struct sim *);

/* run.c
 * outages_play runs a seed whose scene, clocks and puts are chosen, and frees the history. */
void outages_play(struct outages *);

/* member.c */
void member_open(struct member *);
void member_turn(struct member *);
void member_kill(struct member *);
void member_end(struct member *);
void member_stall(struct member *);
dw_store *member_journal(struct member *, dw_store_env *);
/* member_hide: the server is away from the process until then. */
void member_hide(struct member *, dw_usec until);
dw_usec member_next(const struct member *);
/* outages_fault: until then, and a while after that, timers may start once more. */
void outages_fault(struct outages *, dw_usec length);

/* program.c
 * program_of_member_begin registers the handler. member_act makes a call. member_forget: its
 * process is gone. */
void member_begin(struct member *);
void member_act(struct member *);
void member_forget(struct member *);

#endif
