/* The functions that the files asks*.c share. */
#ifndef DW_WEB_ASKS_INSIDE_H
#define DW_WEB_ASKS_INSIDE_H

#include "web/asks.h"

/* The pause after a list is this many times as long as the list took. */
#define ASKS_LIST_PAUSE 4

static inline bool asks_is_list(const struct question *question)
{
	return question->kind >= ASK_TIMERS;
}

/* asks_answer stores the answer and takes ownership of the value. DW_OK with NULL means out of
 * memory. If asks_fail() has already answered, it drops the value. */
void asks_answer(struct ask *, int status, json_t *value);

/* asks_doubt notes that the store has not answered a question. The store counts as cut off until it
 * answers a question again. */
void asks_doubt(struct asks *);

/* asks_keep stores an answer, so that the page can show it in an outage. asks_note_status adds an
 * answer to ASK_STATUS to the rates and the history. `status` is NULL if the question failed. */
void asks_keep(struct ask *);
void asks_note_status(struct asks *, const json_t *status);

/* asks_look asks for the status if nobody has asked for long, so that the history has no gaps.
 * Returns the steady time of the next call. */
dw_usec asks_look(struct asks *, dw_usec steady);

/* asks_coming asks how many timers come due. Returns a status. */
int asks_coming(dw *, struct ask *);

/* asks_end_list sets the pause before the next list. If the store was unreachable, the pause is
 * short, because the store has not worked for this list. */
void asks_end_list(struct asks *, dw_usec began, bool was_away);

/* asks_letter asks for the last dead letter of an id. The answer is a list with one row. Returns a
 * status. */
int asks_letter(dw *, struct ask *);

/* asks_timer asks for the timer of an id, or how it ended. Returns a status. */
int asks_timer(dw *, struct ask *);

/* asks_list asks for a list of timers or dead letters. Returns a status. */
int asks_list(dw *, struct ask *);

#endif
