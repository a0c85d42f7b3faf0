/* Stores the answer to a question, and sets the pause after a list. */
#include "web/asks_inside.h"
#include "cli/session.h"

#define LIST_PAUSE_MIN DW_MILLISECONDS(20)

void asks_end_list(struct asks *asks, dw_usec began, bool was_away)
{
	dw_usec steady = session_steady();
	dw_usec pause = was_away ? 0 : ASKS_LIST_PAUSE * (steady - began);

	asks->is_listing = false;
	asks->list_at = steady + (pause > LIST_PAUSE_MIN ? pause : LIST_PAUSE_MIN);
}

void asks_answer(struct ask *ask, int status, json_t *value)
{
	ask->is_owed = false;
	if (status == DW_ESTORE)
		asks_doubt(ask->asks);
	if (asks_is_list(&ask->question))
		asks_end_list(ask->asks, ask->began,
			      ask->state == ASK_ANSWERED || status == DW_ESTORE);
	if (ask->state == ASK_ANSWERED) {
		json_decref(value);
		return;
	}
	ask->state = ASK_ANSWERED;
	ask->status = status == DW_OK && !value ? (int)DW_ENOMEM : status;
	ask->value = value;
	ask->answered = session_steady();
	asks_keep(ask);
}
