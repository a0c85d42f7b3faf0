/* Asks for one timer, why it waits, and what became of an earlier one of its id. */
#include "web/asks_inside.h"
#include "cli/out/line.h"
#include "cli/out/objects.h"
#include "cli/session.h"
#include "durawheel/ended.h"
#include "durawheel/topic.h"

/* letter_told: no end of the timer is kept, but a dead letter. Or the kept end says that it died:
 * then the letter adds why, if it can be read. */
static void letter_told(dw *d, int status, const dw_dead *letter, size_t count,
			const dw_cursor *next, void *user)
{
	struct ask *ask = user;
	bool shows_data = ask->asks->shows_data;
	json_t *end;

	(void)d;
	(void)count;
	(void)next;
	if (ask->state != ASK_ANSWERED && ask->value) {
		if (status == DW_OK)
			(void)line_add_letter(ask->value, letter, shows_data); /* or less */
		asks_answer(ask, DW_OK, ask->value);
		return;
	}
	end = status == DW_OK ? line_object_of_letter(letter, shows_data) : NULL;
	if (end)
		(void)json_object_set_new(end, "state", json_string("dead"));
	asks_answer(ask, status, end);
}

static int ask_letter(dw *d, struct ask *ask)
{
	const dw_dead_select letter = {.size = sizeof letter, .id = ask->question.name};

	return dw_dead_list(d, &letter, NULL, 1, letter_told, ask);
}

/* end_told: the end of a timer that is gone is the answer, with its end as the state. A timer is
 * shown even if its last end cannot be read. */
static void end_told(dw *d, int status, const dw_ended *ended, void *user)
{
	struct ask *ask = user;
	json_t *timer = ask->value, *end = NULL;

	(void)d;
	if (ask->state == ASK_ANSWERED) {
		asks_answer(ask, status, NULL); /* too late */
		return;
	}
	if (status == DW_OK)
		end = line_object_of_ended(ended, ask->asks->shows_data);
	if (timer) {
		if (end)
			(void)json_object_set_new(timer, "ended", end); /* or it is missing */
		asks_answer(ask, DW_OK, timer);
		return;
	}
	if (end)
		(void)json_object_set_new(end, "state", json_string(end_name(ended->end)));
	if (end && ended->end == DW_END_DEAD) {
		ask->value = end;
		status = ask_letter(d, ask);
		if (status != DW_OK)
			letter_told(d, status, NULL, 0, NULL, ask);
		return;
	}
	if (status == DW_ENOENT)
		status = ask_letter(d, ask);
	else if (status == DW_OK && !end)
		status = DW_ENOMEM;
	if (end || status != DW_OK)
		asks_answer(ask, status, end);
}

static void ask_end(dw *d, struct ask *ask, int status)
{
	if (status == DW_OK || status == DW_ENOENT)
		status = dw_ended_get(d, ask->question.name, end_told, ask);
	if (status != DW_OK)
		end_told(d, status, NULL, ask);
}

/* waits_told adds why a timer that is due does not start. */
static void waits_told(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	const char *const *reason = NULL;
	struct ask *ask = user;

	if (status == DW_OK && ask->state != ASK_ANSWERED)
		reason = waits_reason(&ask->waiting, count > 0 ? topics : NULL);
	if (reason)
		(void)json_object_set_new(ask->value, "waits",
					  json_string(reason[0])); /* or less */
	ask_end(d, ask, DW_OK);
}

/* timer_told asks for the end of the timer, too. In this order, a timer that ends meanwhile is
 * seen as a timer or by its end. */
static void timer_told(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct ask *ask = user;

	(void)next;
	if (status == DW_OK && count == 0)
		status = DW_ENOENT;
	if (ask->state == ASK_ANSWERED) {
		asks_answer(ask, status, NULL); /* too late */
		return;
	}
	if (status == DW_OK) {
		ask->value = line_object_of_info(timers, ask->asks->shows_data);
		status = ask->value ? DW_OK : DW_ENOMEM;
		ask->waiting = waits_note(timers);
	}
	if (status == DW_OK && timers->due <= session_now() &&
	    dw_topic_list(d, timers->topic, waits_told, ask) == DW_OK)
		return;
	ask_end(d, ask, status);
}

int asks_timer(dw *d, struct ask *ask)
{
	return dw_get(d, ask->question.name, timer_told, ask);
}
