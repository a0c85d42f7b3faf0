/* Answers questions while the store is unreachable, and notices when it answers again. */
#include <stdio.h>

#include "web/asks.h"
#include "web/asks_inside.h"
#include "cli/session.h"

#define PROBE_EVERY DW_SECONDS(1)

void asks_fail(struct asks *asks)
{
	for (size_t i = 0; i < ASKS_MAX; i++) {
		struct ask *ask = &asks->asks[i];

		if (ask->state != ASK_WAITING && ask->state != ASK_ASKED)
			continue;
		json_decref(ask->value); /* for ASK_TIMER: a timer whose end is not read yet */
		ask->value = NULL;
		ask->state = ASK_ANSWERED;
		ask->status = DW_ESTORE;
		if (ask->question.kind == ASK_METRICS)
			ask->status = asks_metrics(asks, &ask->value);
		ask->answered = session_steady();
	}
}

/* share_no_failures makes asks_put() ask failed questions again. It also ends the pause before the
 * next list. */
static void share_no_failures(struct asks *asks)
{
	asks->list_at = 0;
	for (size_t i = 0; i < ASKS_MAX; i++)
		if (asks->asks[i].state == ASK_ANSWERED && asks->asks[i].status == DW_ESTORE)
			asks->asks[i].answered = 0;
}

static void come_back(struct asks *asks)
{
	asks->away[0] = '\0';
	asks->is_readable = false;
	share_no_failures(asks);
}

void asks_found(struct asks *asks, dw *d, dw *lists)
{
	asks->d = d;
	asks->lists = lists;
	come_back(asks);
}

/* share_no_metrics makes asks_put() ask for the metrics again, because they say whether the store
 * answers. */
static void share_no_metrics(struct asks *asks)
{
	for (size_t i = 0; i < ASKS_MAX; i++)
		if (asks->asks[i].question.kind == ASK_METRICS)
			asks->asks[i].answered = 0;
}

static void probed(dw *d, int status, const dw_store_status *store, void *user)
{
	struct asks *asks = user;

	(void)d;
	(void)store;
	asks->is_probing = false;
	if (status == DW_OK && asks->away[0]) {
		asks->is_readable = true;
		share_no_failures(asks);
	}
}

bool asks_is_cut_off(struct asks *asks)
{
	dw_usec steady = session_steady();

	if (!asks->away[0] || asks->is_readable)
		return false;
	if (asks->d && !asks->is_probing && steady >= asks->probe_at) {
		asks->probe_at = steady + PROBE_EVERY;
		asks->is_probing = dw_get_status(asks->d, probed, asks) == DW_OK;
	}
	return true;
}

void asks_doubt(struct asks *asks)
{
	asks->is_readable = false;
}

void asks_note(struct asks *asks, const dw_event *event)
{
	if (event->kind == DW_EVENT_STORE_BACK) {
		come_back(asks);
	} else if (event->kind == DW_EVENT_STORE_FAILED) {
		/* The text always fits. */
		(void)snprintf(asks->away, sizeof asks->away, "%s", event->message);
		asks->is_readable = false;
		share_no_metrics(asks);
		asks_fail(asks);
		/* Tests the store, because it may refuse only changes. */
		(void)asks_is_cut_off(asks);
	}
}
