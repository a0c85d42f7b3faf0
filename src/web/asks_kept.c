/* Keeps what the page shows beside the present answers: the last answers for an outage, the rates,
 * and the history of the last hour. */
#include "web/asks_inside.h"

#include "cli/session.h"

/* The interval at which the server asks for the status if nobody looks at the page. */
#define LOOK_EVERY DW_SECONDS(15)

void asks_keep(struct ask *ask)
{
	struct kept *kept = &ask->asks->kept;
	enum ask_kind kind = ask->question.kind;
	json_t **place = kind == ASK_STATUS   ? &kept->status
			 : kind == ASK_TOPICS ? &kept->topics
			 : kind == ASK_COMING ? &kept->coming
					      : NULL;

	if (!place || ask->status != DW_OK)
		return;
	json_decref(*place);
	*place = json_incref(ask->value);
	if (kind == ASK_STATUS)
		kept->at = session_now();
}

static void note_rates(struct asks *asks, const json_t *status)
{
	static const char *const keys[RATES] = {[RATE_STARTED] = "fired",
						[RATE_DONE] = "settled",
						[RATE_RETRIED] = "retried",
						[RATE_DEAD] = "dead"};
	const json_t *report = json_object_get(status, "owner_report");
	uint64_t counts[RATES];

	for (int i = 0; i < RATES; i++)
		counts[i] = (uint64_t)json_integer_value(json_object_get(report, keys[i]));
	if (json_is_object(report))
		rates_note(&asks->rates, session_steady(), counts);
	else
		rates_clear(&asks->rates);
}

void asks_note_status(struct asks *asks, const json_t *status)
{
	dw_usec steady = session_steady();

	note_rates(asks, status);
	if (!status)
		return;
	history_note(&asks->history, session_now(), steady,
		     json_object_get(status, "owner_report"));
	asks->look_at = steady + LOOK_EVERY;
}

static void looked(dw *d, int status, const dw_store_status *store, void *user)
{
	struct asks *asks = user;
	json_t *value = status == DW_OK ? object_of_status(store) : NULL;

	(void)d;
	asks->is_looking = false;
	asks_note_status(asks, value);
	json_decref(value);
}

dw_usec asks_look(struct asks *asks, dw_usec steady)
{
	if (asks->is_looking || asks_is_cut_off(asks))
		return DW_NEVER;
	if (steady < asks->look_at)
		return asks->look_at;
	asks->look_at = steady + LOOK_EVERY;
	asks->is_looking = dw_get_status(asks->d, looked, asks) == DW_OK;
	return asks->look_at;
}
