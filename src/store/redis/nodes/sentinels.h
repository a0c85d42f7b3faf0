/* The Sentinels of a master. This store asks each of them every second, on a connection of its own,
 * which server the master is. A majority is counted among all Sentinels that any of them knows, not
 * only among those in the URL. */
#ifndef DW_STORE_REDIS_SENTINELS_H
#define DW_STORE_REDIS_SENTINELS_H

#include "redis/link.h"
#include "redis/url.h"
#include "store/redis/nodes/named.h"

struct nodes;
struct redis_store;

/* The questions to a Sentinel: who it is, whether it mistrusts its clock (TILT), who the master is,
 * and which other Sentinels it knows. */
enum sentinel_ask { ASK_ID, ASK_TILT, ASK_MASTER, ASK_OTHERS };

enum { SENTINEL_ASKS = 4, SENTINEL_ID_SIZE = 48, SENTINEL_WATCHED_SIZE = 112 };

struct sentinel {
	/* host, port and name are those of this Sentinel; everything else is as in the store's
	 * URL. */
	struct redis_url url;
	struct link *link;
	uint64_t connection; /* the link's connection, as last seen */
	/* The questions without an answer, in order. asked_at is when the last of them were sent
	 * (steady clock). */
	enum sentinel_ask asks[SENTINEL_ASKS];
	unsigned asked;
	dw_usec asked_at;
	dw_usec ask_at; /* when this Sentinel is asked next (steady clock) */
	unsigned rounds;
	char id[SENTINEL_ID_SIZE]; /* "" until the Sentinel has told its id */
	bool is_double;  /* another entry is the same Sentinel, so this entry does not count */
	bool is_strange; /* the last answer could not be used; `words` say why */
	/* The last answer could not be used, and a person must change something first. */
	bool is_useless;
	/* The last answer could not be used, because the Sentinel does not watch the master of the
	 * URL. */
	bool watches_other;
	bool is_tilted; /* the times in its answers cannot be used, because of its clock */
	unsigned knows; /* how many Sentinels it knows, counting itself */
	/* How many Sentinels must find the master unreachable before it is replaced. */
	unsigned quorum;
	unsigned replicas; /* how many replicas the master has, as this Sentinel says */
	/* After this time without an answer, the Sentinel finds the master unreachable. */
	unsigned down_after_ms;
	/* The names of the masters that it watches; "": it has told none. */
	char watched[SENTINEL_WATCHED_SIZE];
	char words[DW_MESSAGE_SIZE];
};

struct sentinels {
	struct sentinel *list[VOTERS_MAX];
	struct vote votes[VOTERS_MAX]; /* votes[i] is the vote of list[i] */
	unsigned count;
};

/* sentinels_open makes links to the Sentinels of the store's URL, if that names Sentinels. Returns
 * DW_OK, DW_ENOMEM or DW_ESYS. */
int sentinels_open(struct redis_store *);

/* sentinels_work asks the Sentinels, takes their answers, and lets the store's node follow the
 * majority. */
void sentinels_work(struct redis_store *);
dw_usec sentinels_due(const struct nodes *);

/* sentinels_why returns why the server is not used; "": there is no trouble. The text may be in
 * `room` (DW_MESSAGE_SIZE bytes). *ret_fatal: a person must change something first. */
const char *sentinels_why(const struct redis_store *, char *room, bool *ret_fatal);

/* sentinel_note_refusal notes the error that the Sentinel sent when it was asked for the master.
 * sentinel_note_watched notes which masters it watches, from the text of its INFO. */
void sentinel_note_refusal(const struct redis_store *, struct sentinel *, const struct reply *);
void sentinel_note_watched(struct sentinel *, const char *info);

void sentinels_free(struct redis_store *);

#endif
