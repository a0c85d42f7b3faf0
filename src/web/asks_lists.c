/* Reads lists of timers and dead letters. The rows may have much data, so a list is read in steps
 * of about 1 MiB. Between the steps the loop can do other work. */
#include "web/asks_inside.h"

#include "cli/out/line.h"
#include "durawheel/ended.h"
#include "durawheel/select.h"

/* For a page with less than 128 rows, Redis reads no more than that number from each shard at
 * once. */
enum { STEP_FIRST = 16, STEP_MAX = 127 };

/* looks_enough returns true if the list must end because the store has looked at LIST_LOOKS timers
 * or letters. The next step could look at some thousand more. The limit keeps a page cheap that is
 * fetched every 2 s. */
static bool looks_enough(const struct ask *ask)
{
	return ask->list.next.looked + LIST_LOOKS / 4 > LIST_LOOKS;
}

static json_t *cursor_of(const dw_cursor *next)
{
	if (next->ended)
		return json_null();
	return json_sprintf("%lld.%llu", (long long)next->due,
			    (unsigned long long)next->generation);
}

/* step_of returns the number of rows for the next step. It assumes that they are as large as the
 * rows so far. Returns 0 if no more data fits in the answer. */
static size_t step_of(const struct ask *ask)
{
	bool has_data = ask->asks->shows_data && !ask->question.leaves_data;
	size_t count = json_array_size(ask->list.rows);
	size_t left = ask->question.limit - count;
	size_t room = has_data ? LIST_DATA_MAX - ask->list.shown : LIST_DATA_MAX;
	size_t step = ask->list.size ? room / (ask->list.size / count + 1) : STEP_MAX;

	if (count == 0)
		step = STEP_FIRST;
	if (step == 0 && !has_data)
		step = 1;
	step = step < STEP_MAX ? step : STEP_MAX;
	return step < left ? step : left;
}

/* add_row takes ownership of the object. Returns false if out of memory. */
static bool add_row(struct ask *ask, json_t *object, size_t size)
{
	struct ask_list *list = &ask->list;

	if (!object)
		return false;
	list->size += size;
	if (ask->question.leaves_data || size > LIST_DATA_MAX - list->shown) {
		(void)json_object_del(object, "data"); /* it fails if the data is not there */
		(void)json_object_del(object, "data_base64");
	} else if (ask->asks->shows_data) {
		list->shown += size;
	}
	return json_array_append_new(list->rows, object) == 0;
}

/* value_of_rows takes ownership of the rows. Returns the answer, or NULL if out of memory. */
static json_t *value_of_rows(const struct ask *ask, json_t *rows)
{
	const dw_cursor *next = &ask->list.next;
	bool is_timers = ask->question.kind == ASK_TIMERS;
	bool is_cut = !next->ended && looks_enough(ask);
	json_int_t place = is_timers ? next->due : (json_int_t)next->generation;

	return json_pack("{s:o, s:o, s:I, s:o, s:b}", is_timers ? "timers" : "letters", rows,
			 "next", cursor_of(next), "looked", (json_int_t)next->looked, "looked_to",
			 is_cut ? json_integer(place) : json_null(), "lacks", ask->list.lacks);
}

/* answer_rows answers with the rows, or with the failure. */
static void answer_rows(struct ask *ask, int status)
{
	json_t *rows = ask->list.rows;

	ask->list.rows = NULL;
	if (status == DW_OK && ask->state != ASK_ANSWERED) {
		asks_answer(ask, DW_OK, value_of_rows(ask, rows));
		return;
	}
	json_decref(rows);
	asks_answer(ask, status, NULL);
}

/* forget drops a list that nobody needs any more. */
static void forget(struct ask *ask)
{
	json_decref(ask->list.rows);
	ask->list.rows = NULL;
	ask->is_owed = false;
	ask->state = ASK_FREE;
	asks_end_list(ask->asks, ask->began, false);
}

static int send_step(dw *d, struct ask *ask, size_t step);

/* step_told handles the end of a step. It begins the next one, or answers. */
static void step_told(dw *d, struct ask *ask, int status, const dw_cursor *next)
{
	size_t step = 0;

	if (status == DW_OK && ask->state == ASK_ASKED && ask->users == 0) {
		forget(ask);
		return;
	}
	if (status == DW_OK) {
		ask->list.next = *next;
		ask->list.lacks |= next->lacks != 0;
		step = next->ended || looks_enough(ask) || ask->state == ASK_ANSWERED
			   ? 0
			   : step_of(ask);
	}
	if (step > 0)
		status = send_step(d, ask, step);
	if (step == 0 || status != DW_OK)
		answer_rows(ask, status);
}

static void timers_told(dw *d, int status, const dw_info *timers, size_t count,
			const dw_cursor *next, void *user)
{
	struct ask *ask = user;
	bool is_whole = true;

	for (size_t i = 0; i < count && is_whole; i++)
		is_whole = add_row(ask, line_object_of_info(&timers[i], ask->asks->shows_data),
				   timers[i].data_size);
	step_told(d, ask, is_whole ? status : (int)DW_ENOMEM, next);
}

static void letters_told(dw *d, int status, const dw_dead *letters, size_t count,
			 const dw_cursor *next, void *user)
{
	struct ask *ask = user;
	bool is_whole = true;

	for (size_t i = 0; i < count && is_whole; i++)
		is_whole = add_row(ask, line_object_of_dead(&letters[i], ask->asks->shows_data),
				   letters[i].data_size);
	step_told(d, ask, is_whole ? status : (int)DW_ENOMEM, next);
}

static void found_letter_told(dw *d, int status, const dw_dead *letter, size_t count,
			      const dw_cursor *next, void *user)
{
	struct ask *ask = user;
	json_t *value = NULL;

	(void)d;
	(void)count;
	(void)next;
	if (status == DW_OK)
		value = json_pack("{s:[o], s:n}", "letters",
				  line_object_of_dead(letter, ask->asks->shows_data), "next");
	asks_answer(ask, status, value);
}

int asks_letter(dw *d, struct ask *ask)
{
	const dw_dead_select letter = {.size = sizeof letter, .id = ask->question.name};

	return dw_dead_list(d, &letter, NULL, 1, found_letter_told, ask);
}

static int send_step(dw *d, struct ask *ask, size_t step)
{
	const struct question *question = &ask->question;
	const dw_cursor *after = ask->list.next.started ? &ask->list.next : NULL;
	const char *topic = question->name[0] ? question->name : NULL;
	const dw_select select = {.size = sizeof select,
				  .topic = topic,
				  .id_prefix = question->prefix[0] ? question->prefix : NULL,
				  .due_from = question->due_from,
				  .due_to = question->due_to,
				  .partial = 1};
	const dw_dead_select letters = {.size = sizeof letters, .topic = topic, .partial = 1};

	if (question->kind == ASK_TIMERS)
		return dw_list(d, &select, after, step, timers_told, ask);
	return dw_dead_list(d, &letters, after, step, letters_told, ask);
}

int asks_list(dw *d, struct ask *ask)
{
	int status;

	ask->list = (struct ask_list){.rows = json_array(), .next = ask->question.after};
	status = ask->list.rows ? send_step(d, ask, step_of(ask)) : DW_ENOMEM;
	if (status == DW_OK)
		return DW_OK;
	json_decref(ask->list.rows);
	ask->list.rows = NULL;
	return status;
}
