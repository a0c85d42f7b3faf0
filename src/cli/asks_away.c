/* What is asked while the store is away. */
#include <stdio.h>

#include "cli/asks.h"
#include "cli/session.h"

void asks_fail(struct asks *asks)
{
	for (size_t i = 0; i < ASKS_MAX; i++) {
		struct ask *ask = &asks->asks[i];

		if (ask->state != ASK_WAITING && ask->state != ASK_ASKED)
			continue;
		json_decref(ask->value); /* of a timer whose end is not known yet */
		ask->value = NULL;
		ask->state = ASK_ANSWERED;
		ask->status = DW_ESTORE;
		if (ask->question.kind == ASK_METRICS)
			ask->status = asks_metrics(asks, &ask->value);
		ask->answered = session_steady();
	}
}

/* come_back: what has failed is shared no longer, and the next list need not wait. */
static void come_back(struct asks *asks)
{
	asks->away[0] = '\0';
	asks->list_at = 0;
	for (size_t i = 0; i < ASKS_MAX; i++)
		if (asks->asks[i].state == ASK_ANSWERED && asks->asks[i].status == DW_ESTORE)
			asks->asks[i].answered = 0;
}

void asks_found(struct asks *asks, dw *d, dw *lists)
{
	asks->d = d;
	asks->lists = lists;
	come_back(asks);
}

void asks_note(struct asks *asks, const dw_event *event)
{
	if (event->kind == DW_EVENT_STORE_BACK) {
		come_back(asks);
	} else if (event->kind == DW_EVENT_STORE_FAILED) {
		(void)snprintf(asks->away, sizeof asks->away, "%s", event->message); /* fits */
		asks_fail(asks);
	}
}
