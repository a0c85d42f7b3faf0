/* What a web server or `top` asks of the store, so that many who look cost the store what one
 * does.
 *
 * An answer is shared by all who ask the same within a second. Lists are asked one at a time, and
 * the next one waits for four times as long as the last one took: so they take a fifth of the time
 * at most. The walk for ASK_SCHEDULES is such a list, page by page. The answers are JSON, with the
 * keys of the command's --json. */
#ifndef DW_WEB_ASKS_H
#define DW_WEB_ASKS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/out/objects.h"
#include "cli/out/rates.h"
#include "web/schedules.h"
#include "durawheel/durawheel.h"

/* Those from ASK_TIMERS on are lists, of which one is asked at a time. */
enum ask_kind {
	ASK_STATUS,
	ASK_TOPICS,
	ASK_METRICS,
	ASK_COMING, /* how many timers come due in the next minute, hour and day */
	ASK_SCHEDULES,
	ASK_TIMER,
	ASK_LETTER, /* the last dead letter of an id, as ASK_DEAD */
	ASK_TIMERS,
	ASK_DEAD
};

struct question {
	enum ask_kind kind;
	char name[DW_ID_MAX + 1];   /* the id of a timer, or the topic of a list; "": all topics */
	char prefix[DW_ID_MAX + 1]; /* of the ids of ASK_TIMERS; "": any id */
	dw_cursor after;
	size_t skip; /* of ASK_SCHEDULES */
	size_t limit;
	bool leaves_data; /* of a list that shows no data in any case */
};

enum ask_state { ASK_FREE, ASK_WAITING, ASK_ASKED, ASK_ANSWERED };

/* A list that is read in steps. */
struct ask_list {
	json_t *rows; /* NULL: none is under way */
	dw_cursor next;
	size_t size, shown; /* bytes of data: of the rows, and in the answer */
};

struct ask {
	struct question question;
	enum ask_state state;
	int status;
	json_t *value;    /* of DW_OK; of ASK_METRICS it is a string */
	dw_usec began;    /* steady */
	dw_usec answered; /* steady */
	unsigned users;
	struct ask_list list;
	struct due_timer waiting; /* of a timer that is due */
	bool is_owed;             /* the store has not answered, even if asks_fail() has */
	struct asks *asks;
};

/* Three for each connection of the web server, and those that are owed. */
#define ASKS_MAX 192
/* Those who wait for more would wait for longer than they have time. */
#define LISTS_WAITING_MAX 8
/* A list ends before it has more data than that. Of a row with more than is left, it has none. */
#define LIST_DATA_MAX ((size_t)1024 * 1024)
/* A list of timers ends before the store has looked at more of them. The answer says how far. */
#define LIST_LOOKS 20000u

struct asks {
	dw *d;
	dw *lists; /* of a handle of its own, so that nothing else waits behind a long list */
	dw *owner; /* of this process, or NULL: while it owns, the metrics are its own */
	bool shows_data;
	bool is_listing;            /* a list is under way */
	dw_usec list_at;            /* steady; no list is asked before */
	char away[DW_MESSAGE_SIZE]; /* why the store fails; "": it does not */
	bool is_readable;           /* it fails, and has answered since: it refuses changes */
	bool is_probing;            /* whether it answers is asked */
	dw_usec probe_at;           /* steady; it is not asked before */
	struct rates rates;         /* of the owner, as its status was told */
	struct schedules schedules;
	dw_usec walk_began; /* steady; the page of a walk that is under way */
	struct ask asks[ASKS_MAX];
};

/* asks_open: owner may be NULL. */
void asks_open(struct asks *, dw *, dw *lists, dw *owner);
void asks_close(struct asks *);

/* asks_put asks, or joins who asks the same. NULL: ASKS_MAX questions are in use, or
 * LISTS_WAITING_MAX lists wait. asks_release: its
 * answer is not looked at any more, and one that nobody waits for is not asked. */
struct ask *asks_put(struct asks *, const struct question *);
void asks_release(struct ask *);

/* asks_metrics_handle: the owner knows its own numbers best, also while the store is away. */
dw *asks_metrics_handle(const struct asks *);

/* asks_metrics writes the text of dw_metrics() anew. A status, or DW_OK and a string of JSON. */
int asks_metrics(struct asks *, json_t **ret_text);

/* asks_note takes the events of the handles: while the store is away, all is answered DW_ESTORE at
 * once, but for metrics, and nobody waits for it. */
void asks_note(struct asks *, const dw_event *);

/* asks_found: a store that was away at the start was opened. */
void asks_found(struct asks *, dw *, dw *lists);

/* asks_is_cut_off: the store fails, and has not answered since. It is asked again every second. */
bool asks_is_cut_off(struct asks *);

/* asks_fail answers all that waits with DW_ESTORE. What the store says later is not looked at. */
void asks_fail(struct asks *);

/* asks_turn asks the store what waits. Returns the steady time when to call it again, or
 * DW_NEVER. */
dw_usec asks_turn(struct asks *);

#endif
