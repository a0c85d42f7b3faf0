/* Events, and the words of errors. Events and answers of calls wait in one queue of notices, and
 * notify.c passes them to the program. */
#ifndef DW_ENGINE_EVENTS_H
#define DW_ENGINE_EVENTS_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct engine;

/* A notice: one thing to tell the program. It is the first member of a call, or of an event. */
struct notice {
	struct notice *next;
	bool is_event;
};

/* An event that the program has not got yet. */
struct event_notice {
	struct notice notice; /* first */
	dw_event event;
	char id[DW_ID_MAX + 1];
	char topic[DW_TOPIC_MAX + 1];
	char why[DW_WHY_MAX + 1];
	char message[DW_MESSAGE_SIZE + DW_ID_MAX + DW_WHY_MAX];
};

struct events {
	struct notice *first; /* the queue of notices */
	struct notice *last;
	struct notice *spares; /* memory for events, allocated in advance */
	unsigned spare_count;
	int failure;    /* the first failure since engine_take_failure() */
	int last_error; /* the last failure of the store or in an event, for the report */
	/* The dw_event_kind that carried last_error; 0: an answer of the store did. */
	int last_event;
	dw_usec last_error_at;
	char error[DW_MESSAGE_SIZE]; /* the words of engine_error() */
};

int events_init(struct engine *);
void events_free(struct engine *);

void events_push(struct engine *, struct notice *);

/* events_pop takes the first notice out of the queue. It returns NULL if the queue is empty. */
static inline struct notice *events_pop(struct events *events)
{
	struct notice *notice = events->first;

	if (!notice)
		return NULL;
	events->first = notice->next;
	if (!events->first)
		events->last = NULL;
	return notice;
}

/* event_raise queues a copy of the event. event_raise_now calls on_event at once; call it only
 * inside a callback. */
void event_raise(struct engine *, const dw_event *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void event_raise_now(struct engine *, const dw_event *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* event_free frees an event that was popped. */
void event_free(struct engine *, struct notice *);

/* event_note_error keeps the status that the report names as the last error. */
void event_note_error(struct engine *, int status);

/* event_failed reports at once that a call without a callback has failed. id may be NULL. */
void event_failed(struct engine *, const char *what, const char *id, int status);

#endif
