/* A handle that records its callbacks: the events, the last answer, and the last page of timers or
 * dead letters, or the last check. */
#ifndef DW_TESTS_VIEWER_H
#define DW_TESTS_VIEWER_H

#include "durawheel/durawheel.h"

enum { VIEWER_EVENTS = 32, VIEWER_PAGE = 8 };

#define VIEWER_PATIENCE DW_SECONDS(60) /* much more than a loaded machine needs */

struct viewer {
	dw *d;
	int events[VIEWER_EVENTS];   /* the number of events of each kind */
	int statuses[VIEWER_EVENTS]; /* the status of the last event of each kind */
	char
	    trouble[DW_MESSAGE_SIZE]; /* the message of the last event whose status was not DW_OK */
	int starts;
	int status; /* the status of the last answer */
	size_t count;
	dw_state states[VIEWER_PAGE];
	char ids[VIEWER_PAGE][16];
	char topics[VIEWER_PAGE][DW_TOPIC_MAX + 1];
	int newer; /* the field `newer` of the first dead letter */
	int damaged;
	uint64_t flaws;
	char flaw[128];
	char message[DW_MESSAGE_SIZE]; /* the message of viewer_open() */
};

/* viewer_open opens a handle. It sets the size and on_event of the options. */
int viewer_open(struct viewer *, dw_options *);
void viewer_close(struct viewer *);

/* viewer_await turns until *counter, a field of the viewer, has the wanted value. */
void viewer_await(const struct viewer *, const int *counter, int wanted);

/* viewer_sync checks that `status`, the result of a call, is DW_OK, and waits until the call is
 * answered. viewer_answer does the same, and returns the status of the answer. */
void viewer_sync(const struct viewer *, int status);
int viewer_answer(const struct viewer *, int status);

/* These are callbacks for dw_on() and for the calls. user is the viewer. */
dw_verdict viewer_due(dw *, const dw_firing *, void *user);
void viewer_done(dw *, const dw_result *, void *user);
void viewer_page(dw *, int status, const dw_info *, size_t count, const dw_cursor *, void *user);
void viewer_letters(dw *, int status, const dw_dead *, size_t count, const dw_cursor *, void *user);
void viewer_check(dw *, int status, const dw_check_report *, void *user);

#endif
