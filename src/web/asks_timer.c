/* Asks for one timer, the reason why it waits, and how an earlier timer with its id ended. */
#include "web/asks_inside.h"
#include "cli/out/line.h"
#include "cli/out/waiting.h"
#include "cli/session.h"
#include "durawheel/ended.h"

/* letter_told gets the last dead letter of an id without a timer. A letter of a later generation
 * than the kept end is the answer. A letter of the same generation adds its reason to the end. */
static void letter_told(dw *d, int status, const dw_dead *letter, size_t count,
			const dw_cursor *next, void *user)
{
	struct ask *ask = user;
	bool shows_data = ask->asks->shows_data;
	json_t *answer = ask->value;

	(void)d;
	(void)count;
	(void)next;
	if (status == DW_OK && (!answer || letter->generation > ask->generation)) {
		json_decref(answer);
		ask->value = NULL;
		answer = line_object_of_letter(letter, shows_data);
		if (answer)
			(void)json_object_set_new(answer, "state", json_string("dead"));
	} else if (status == DW_OK && letter->generation == ask->generation) {
		/* If out of memory, the reason is missing. */
		(void)line_add_letter(answer, letter, shows_data);
	}
	asks_answer(ask, answer ? DW_OK : status, answer);
}

static void ask_letter(dw *d, struct ask *ask)
{
	const dw_dead_select letter = {.size = sizeof letter, .id = ask->question.name};
	int status = dw_dead_list(d, &letter, NULL, 1, letter_told, ask);

	if (status != DW_OK)
		letter_told(d, status, NULL, 0, NULL, ask);
}

/* message_told adds that the timer has become a message which still waits. */
static void message_told(dw *d, int status, const dw_why *found, void *user)
{
	struct ask *ask = user;

	if (status == DW_OK && ask->state != ASK_ANSWERED)
		/* If out of memory, the key is missing. */
		(void)json_object_set_new(ask->value, "waiting", waiting_object(found));
	ask_letter(d, ask);
}

/* end_told gets the last end of the id. If the id has a timer, the end is added to the timer, and a
 * failure to read the end is ignored. Otherwise the end is the answer, unless there is a later
 * letter. */
static void end_told(dw *d, int status, const dw_ended *ended, void *user)
{
	struct ask *ask = user;
	json_t *timer = ask->value, *end = NULL;

	if (ask->state == ASK_ANSWERED) {
		asks_answer(ask, status, NULL); /* asks_fail() has already answered */
		return;
	}
	if (status == DW_OK)
		end = line_object_of_ended(ended, ask->asks->shows_data);
	if (timer) {
		if (end)
			/* If out of memory, the key is missing. */
			(void)json_object_set_new(timer, "ended", end);
		asks_answer(ask, DW_OK, timer);
		return;
	}
	if (!end && status != DW_ENOENT) {
		asks_answer(ask, status, NULL);
		return;
	}
	if (end) {
		(void)json_object_set_new(end, "state", json_string(end_name(ended->end)));
		ask->value = end;
		ask->generation = ended->generation;
	}
	if (!end || ended->end != DW_END_DONE ||
	    dw_why_waiting(d, ask->question.name, message_told, ask) != DW_OK)
		ask_letter(d, ask);
}

static void ask_end(dw *d, struct ask *ask, int status)
{
	if (status == DW_OK || status == DW_ENOENT)
		status = dw_ended_get(d, ask->question.name, end_told, ask);
	if (status != DW_OK)
		end_told(d, status, NULL, ask);
}

/* waits_told adds what the timer waits for. What its handler has said is shown only with the data
 * of timers. */
static void waits_told(dw *d, int status, const dw_why *found, void *user)
{
	struct ask *ask = user;

	if (status == DW_OK && ask->state != ASK_ANSWERED) {
		json_t *waiting = waiting_object(found);

		if (waiting && !ask->asks->shows_data && found->waits == DW_WAITS_RETRY)
			(void)json_object_del(waiting, "detail");
		/* If out of memory, a key is missing. */
		(void)json_object_set_new(ask->value, "waiting", waiting);
		if (ask->is_due)
			(void)json_object_set_new(
			    ask->value, "waits",
			    json_string(dw_describe_waits(found->waits)->name));
	}
	ask_end(d, ask, DW_OK);
}

/* timer_told asks for the end after the timer. In this order a timer that ends meanwhile cannot be
 * missed. */
static void timer_told(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct ask *ask = user;

	(void)next;
	if (status == DW_OK && count == 0)
		status = DW_ENOENT;
	if (ask->state == ASK_ANSWERED) {
		asks_answer(ask, status, NULL); /* asks_fail() has already answered */
		return;
	}
	if (status == DW_OK) {
		ask->value = line_object_of_info(timers, ask->asks->shows_data);
		status = ask->value ? DW_OK : DW_ENOMEM;
		ask->is_due = timers->due <= session_now();
	}
	if (status == DW_OK && dw_why_waiting(d, ask->question.name, waits_told, ask) == DW_OK)
		return;
	ask_end(d, ask, status);
}

int asks_timer(dw *d, struct ask *ask)
{
	return dw_get(d, ask->question.name, timer_told, ask);
}
