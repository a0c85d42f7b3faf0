/* The Sentinels of one master. Each knows by itself which server is named, and hears of a newer
 * epoch from the others a while later. A majority that does not reach the master lets a replica
 * take its place. */
#ifndef SIM_SERVERS_TELLERS_H
#define SIM_SERVERS_TELLERS_H

#include "sim/fleet/network.h"
#include "sim/servers/site.h"

#define TELLERS 3u

struct reply;

struct teller {
	struct network network;
	unsigned named; /* the number of a site */
	uint64_t epoch;
	dw_usec since;              /* steady: it names that one */
	dw_usec apart_until;        /* steady: it reaches nobody */
	dw_usec missed[SITES_MAX];  /* steady: it has not reached the site since then; 0: it does */
	dw_usec strange[SITES_MAX]; /* steady: the site says it is a master, and is not named; 0 */
};

/* What happens among them. */
struct town {
	dw_usec patience; /* so long a master may be away */
	dw_usec again_at; /* steady: no failover begins before */
	dw_usec lead_at;  /* steady: the chosen one takes the place; DW_NEVER: none is chosen */
	struct site *chosen;
	unsigned leader;
	uint64_t epoch;
};

void tellers_init(struct servers *);
void tellers_free(struct servers *);
void tellers_tick(struct servers *);

/* tellers_fail_over: somebody asks for a failover, though the master is up. */
void tellers_fail_over(struct servers *);

/* teller_answer: the reply to a question. */
struct reply *teller_answer(struct servers *, const struct teller *, const struct packet *);

/* tellers_master: the site that a majority names, or that was named last. */
struct site *tellers_master(struct servers *);

#endif
