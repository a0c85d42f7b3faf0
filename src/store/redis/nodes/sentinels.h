/* The Sentinels of a master: asks each of them every second, on a connection of its own, which
 * server the master is. A majority is one of all Sentinels that any of them knows, not only of
 * those in the URL. */
#ifndef DW_STORE_REDIS_SENTINELS_H
#define DW_STORE_REDIS_SENTINELS_H

#include "redis/link.h"
#include "redis/url.h"
#include "store/redis/nodes/named.h"

struct redis_store;

/* The questions to a Sentinel: who it is, whether it mistrusts its clock (TILT), who the master is,
 * and which other Sentinels there are. */
enum sentinel_ask { ASK_ID, ASK_TILT, ASK_MASTER, ASK_OTHERS };

enum { SENTINEL_ASKS = 4, SENTINEL_ID_SIZE = 48, SENTINEL_WATCHED_SIZE = 112 };

struct sentinel {
	struct redis_url url; /* host, port and name are its own; the rest is the store's */
	struct link *link;
	uint64_t connection; /* the link's connection, as last seen */
	/* The questions on their way, in order; asked_at is when the last ones were sent. */
	enum sentinel_ask asks[SENTINEL_ASKS];
	unsigned asked;
	dw_usec asked_at;
	dw_usec ask_at; /* when it is asked next (steady clock) */
	unsigned rounds;
	char id[SENTINEL_ID_SIZE]; /* "" until it has told */
	bool is_double;            /* another entry is the same Sentinel */
	bool is_strange;           /* its last answer was no use; `words` say why */
	bool is_useless;           /* and a person must change something first */
	bool watches_other;        /* because it does not watch the master of the URL */
	bool is_tilted;            /* the times that it tells are no use */
	unsigned knows;            /* how many Sentinels it knows, itself too */
	unsigned quorum;           /* how many must miss the master before it is replaced */
	unsigned replicas;         /* of the master, as it says */
	unsigned down_after_ms;    /* after how long a silent master is missed */
	char watched[SENTINEL_WATCHED_SIZE]; /* the names of its masters; "": it has told none */
	char words[DW_MESSAGE_SIZE];
};

struct sentinels {
	struct sentinel *list[VOTERS_MAX];
	struct vote votes[VOTERS_MAX]; /* votes[i] is of list[i] */
	unsigned count;
};

/* sentinels_open makes links to the Sentinels of the store's URL, if it names some. Returns DW_OK,
 * DW_ENOMEM or DW_ESYS. */
int sentinels_open(struct redis_store *);

/* sentinels_work asks, takes the answers, and lets the store's node follow the majority. */
void sentinels_work(struct redis_store *);
dw_usec sentinels_due(const struct redis_store *);

/* sentinels_why says why the server is not used, in words that may need the room (DW_MESSAGE_SIZE
 * bytes); "": there is no trouble. *ret_fatal: a person must change something first. */
const char *sentinels_why(const struct redis_store *, char *room, bool *ret_fatal);

/* sentinel_note_refusal notes the error that answers the question for the master, and
 * sentinel_note_watched which masters the text of INFO names. */
void sentinel_note_refusal(const struct redis_store *, struct sentinel *, const struct reply *);
void sentinel_note_watched(struct sentinel *, const char *info);

void sentinels_free(struct redis_store *);

#endif
