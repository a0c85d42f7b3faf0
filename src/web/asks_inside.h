/* What the files of asks need of each other. */
#ifndef DW_WEB_ASKS_INSIDE_H
#define DW_WEB_ASKS_INSIDE_H

#include "web/asks.h"

#define ASKS_LIST_PAUSE 4 /* times what the last list took */

static inline bool asks_is_list(const struct question *question)
{
	return question->kind >= ASK_TIMERS;
}

/* asks_answer takes the value; NULL with DW_OK: no memory. What asks_fail() has answered stays
 * so. */
void asks_answer(struct ask *, int status, json_t *value);

/* asks_doubt: the store has failed to answer, so it is cut off until it answers again. */
void asks_doubt(struct asks *);

/* asks_end_list: the next list waits, so that lists take a part of the time only. A store that was
 * away has not worked on this one. */
void asks_end_list(struct asks *, dw_usec began, bool was_away);

/* asks_letter asks for the dead letter of an id, as a list of one. */
int asks_letter(dw *, struct ask *);

/* asks_timer asks for a timer of an id, or its end. */
int asks_timer(dw *, struct ask *);

/* asks_list asks for timers or letters, and answers the ask. */
int asks_list(dw *, struct ask *);

#endif
