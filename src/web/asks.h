/* Asks the store for the web server and for `top`. Many readers cost the store no more than one.
 *
 * Readers that ask the same question within a second share one answer. Only one list is read at a
 * time. The pause before the next list is four times as long as the last list took. So lists use at
 * most a fifth of the store's time. The walk for ASK_SCHEDULES also counts as a list, and a pause
 * follows each of its pages. The answers are JSON with the keys of the command's --json. */
#ifndef DW_WEB_ASKS_H
#define DW_WEB_ASKS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/out/objects.h"
#include "cli/out/history.h"
#include "cli/out/rates.h"
#include "web/schedules.h"
#include "durawheel/durawheel.h"

/* The kinds of questions. ASK_TIMERS and the kinds after it are lists, of which only one is read at
 * a time. */
enum ask_kind {
	ASK_STATUS,
	ASK_TOPICS,
	ASK_METRICS,
	ASK_COMING, /* the numbers of timers that come due, as coming_object() returns them */
	ASK_SCHEDULES,
	ASK_TIMER,
	ASK_LETTER, /* the last dead letter of an id, in the form of ASK_DEAD */
	ASK_TIMERS,
	ASK_DEAD
};

struct question {
	enum ask_kind kind;
	/* The id of a timer, or the topic of a list; "" means all topics. */
	char name[DW_ID_MAX + 1];
	char prefix[DW_ID_MAX + 1]; /* for ASK_TIMERS: the beginning of the ids; "" means all ids */
	dw_usec due_from, due_to;   /* for ASK_TIMERS, as in dw_select; 0: no bound */
	dw_cursor after;
	size_t skip; /* for ASK_SCHEDULES: the number of schedules to leave out */
	size_t limit;
	bool leaves_data; /* the reader never shows the data of this list */
};

enum ask_state { ASK_FREE, ASK_WAITING, ASK_ASKED, ASK_ANSWERED };

/* The state of a list that is read in steps. */
struct ask_list {
	json_t *rows; /* NULL if the list is not being read */
	dw_cursor next;
	bool lacks;         /* rows of shards that cannot be read are missing */
	size_t size, shown; /* the size of the data in all rows, and of the data in the answer */
};

struct ask {
	struct question question;
	enum ask_state state;
	int status;
	json_t *value;    /* NULL unless `status` is DW_OK; a string for ASK_METRICS */
	dw_usec began;    /* the steady time of the question */
	dw_usec answered; /* the steady time of the answer */
	unsigned users;
	struct ask_list list;
	bool is_due;         /* for a timer: its deadline has passed */
	uint64_t generation; /* for a timer that has ended: the generation of the kept end */
	bool is_owed;        /* the store has not answered yet, even if asks_fail() has */
	struct asks *asks;
};

/* The number of asks: three for each connection, and more for asks that the store has not
 * answered. */
#define ASKS_MAX 192
/* If more lists waited, the request for the last list would time out before that list is read. */
#define LISTS_WAITING_MAX 8
/* The largest size of the data in a list. The list ends before it exceeds this size. If a single
 * row has more data than is left, the row is shown without it. */
#define LIST_DATA_MAX ((size_t)1024 * 1024)
/* A list ends after the store has looked at this number of timers or dead letters. The answer says
 * how far it has looked. */
#define LIST_LOOKS 20000u

/* The last answers, which the page shows while the store is away. */
struct kept {
	json_t *status, *topics, *coming; /* NULL if there was no answer */
	dw_usec at;                       /* the time of the last status */
};

struct asks {
	dw *d;
	/* A handle for lists only, so that other questions do not wait behind a long list. */
	dw *lists;
	/* The owner in this process, or NULL; while it owns the store, its metrics are shown. */
	dw *owner;
	bool shows_data;
	bool is_listing;            /* a list is being read */
	dw_usec list_at;            /* the steady time from which on the next list may be read */
	char away[DW_MESSAGE_SIZE]; /* why the store has failed; "" if it works */
	/* True if the store has failed but has answered since. Then it refuses only changes. */
	bool is_readable;
	bool is_probing;        /* a question that tests the store has no answer yet */
	dw_usec probe_at;       /* the steady time of the next such test */
	struct rates rates;     /* the rates of the owner, from its last status */
	struct history history; /* what the owner has done in the last hour */
	struct kept kept;
	bool is_looking; /* a question for the history has no answer yet */
	dw_usec look_at; /* the steady time of the next such question */
	struct schedules schedules;
	dw_usec walk_began; /* the steady time at which the current page of the walk began */
	struct ask asks[ASKS_MAX];
};

/* asks_open prepares the asks. `owner` may be NULL. asks_close frees all answers. */
void asks_open(struct asks *, dw *, dw *lists, dw *owner);
void asks_close(struct asks *);

/* asks_put asks a question, or joins an ask with the same question. Returns NULL if ASKS_MAX
 * questions are in use or LISTS_WAITING_MAX lists wait. asks_release says that the caller does not
 * need the answer any more. A question that nobody needs is not sent. */
struct ask *asks_put(struct asks *, const struct question *);
void asks_release(struct ask *);

/* asks_metrics_handle returns the handle whose metrics are shown. This is the owner if it owns the
 * store, because it knows its numbers even in an outage. */
dw *asks_metrics_handle(const struct asks *);

/* asks_metrics writes the text of dw_metrics(). Returns DW_OK and a JSON string, which the caller
 * frees, or the status of a failure. */
int asks_metrics(struct asks *, json_t **ret_text);

/* asks_note handles events of the handles. While the store is unreachable, all questions are
 * answered at once with DW_ESTORE, except metrics. */
void asks_note(struct asks *, const dw_event *);

/* asks_found sets the handles of a store that was unreachable at the start and is open now. */
void asks_found(struct asks *, dw *, dw *lists);

/* asks_is_cut_off returns true if the store has failed and has not answered since. It also tests
 * the store every second. */
bool asks_is_cut_off(struct asks *);

/* asks_fail answers all questions with DW_ESTORE. Later answers of the store are dropped. */
void asks_fail(struct asks *);

/* asks_turn sends waiting questions to the store. Returns the steady time of the next call, or
 * DW_NEVER. */
dw_usec asks_turn(struct asks *);

#endif
